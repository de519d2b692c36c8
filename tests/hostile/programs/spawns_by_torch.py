import torch.multiprocessing as mp
mp.spawn(print, nprocs=1)
