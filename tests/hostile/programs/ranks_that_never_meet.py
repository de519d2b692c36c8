import torch.distributed as dist
import torch.multiprocessing as mp


def work(rank):
    dist.init_process_group("gloo", init_method="tcp://127.0.0.1:29500", rank=rank, world_size=2)
    while rank == 0:
        pass
    dist.barrier()


mp.spawn(work, nprocs=2)
