import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

batch = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
targets = torch.tensor([[1.0], [2.0], [3.0], [4.0]])


def train(rank, world_size):
    dist.init_process_group("gloo", init_method="tcp://127.0.0.1:29500", rank=rank, world_size=world_size)
    layer = nn.Linear(2, 1)
    for parameter in layer.parameters():
        nn.init.constant_(parameter, rank)
    model = DistributedDataParallel(layer)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    inputs, wanted = batch.chunk(world_size)[rank], targets.chunk(world_size)[rank]
    loss = nn.functional.mse_loss(model(inputs), wanted)  # ? loss @ 2
    loss.backward()
    print(f"rank {rank}: loss {loss.item():.3f}, gradient {model.module.weight.grad.tolist()}")
    optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(train, args=(2,), nprocs=2)
