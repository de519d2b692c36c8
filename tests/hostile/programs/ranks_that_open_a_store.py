import torch.distributed as dist

dist.TCPStore("127.0.0.1", 29500, 1, True)
