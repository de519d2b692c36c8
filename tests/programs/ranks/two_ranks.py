"""What two ranks can do with each other, a line for each: the same in threads as in processes with sockets."""

import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

BATCH = torch.arange(12.0).reshape(6, 2) / 10
CLASSES = torch.tensor([[0.0], [1.0], [1.0], [0.0], [1.0], [0.0]])


def tell(*facts):
    sys.stdout.write(" ".join(str(fact).replace("\n", "") for fact in facts) + "\n")
    sys.stdout.flush()


def made(**options):
    torch.manual_seed(7)
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    return net, DistributedDataParallel(net, **options)


def grads(net):
    return [None if p.grad is None else p.grad.tolist() for p in net.parameters()]


def half(rank):
    return BATCH[rank * 3 : rank * 3 + 3], CLASSES[rank * 3 : rank * 3 + 3]


def loss_of(model, x, y):
    return nn.functional.mse_loss(model(x), y)


def the_whole_batch(rank, **options):
    net, model = made(**options)
    loss_of(model, *half(rank)).backward()
    torch.manual_seed(7)
    alone = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    loss_of(alone, BATCH, CLASSES).backward()
    same = all(torch.allclose(a.grad, b.grad, atol=1e-7) for a, b in zip(net.parameters(), alone.parameters()))
    tell("whole", rank, options, grads(net), same)


def accumulation(rank):
    net, model = made()
    x, y = half(rank)
    with model.no_sync():
        loss_of(model, x[:1], y[:1]).backward()
    tell("not synced", rank, grads(net))
    loss_of(model, x[1:], y[1:]).backward()
    tell("synced", rank, grads(net))


class Forked(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(2, 1), nn.Linear(2, 1)

    def forward(self, x, second):
        return self.second(x) if second else self.first(x)


def unused(rank):
    torch.manual_seed(3)
    net = Forked()
    model = DistributedDataParallel(net, find_unused_parameters=True)
    model(BATCH[:2], second=False).sum().backward()
    tell("never used", rank, grads(net))
    model(BATCH[:2], second=rank == 1).sum().backward()
    tell("used by one", rank, grads(net))


def training(rank):
    net, model = made(bucket_cap_mb=0.00001)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    data = TensorDataset(BATCH, CLASSES)
    sampler = DistributedSampler(data, shuffle=True, seed=1)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for x, y in DataLoader(data, batch_size=2, sampler=sampler):
            optimizer.zero_grad()
            loss_of(model, x, y).backward()
            optimizer.step()
        tell("epoch", epoch, rank, list(sampler), [p.tolist() for p in net.parameters()])


def seeds(rank):
    torch.manual_seed(rank)
    first = torch.rand(1).item()
    dist.barrier()
    dist.monitored_barrier()
    tell("random", rank, first, torch.rand(1).item(), os.environ["OWN"])


def ignored_parameters(rank):
    torch.manual_seed(rank)
    model = DistributedDataParallel(nn.BatchNorm1d(2))
    model(half(rank)[0]).sum().backward()
    tell("buffers", rank, model.module.running_mean.tolist(), grads(model.module))


def collectives(rank):
    own = torch.tensor([rank + 1.0, 2.0])
    for op in ("SUM", "MIN", "MAX", "PRODUCT"):
        tensor = own.clone()
        dist.all_reduce(tensor, op=getattr(dist.ReduceOp, op))
        tell("all_reduce", op, rank, tensor)
    reduced = own.clone()
    dist.reduce(reduced, dst=1)
    tell("reduce", rank, reduced if rank == 1 else "")
    sent = own.clone()
    dist.broadcast(sent, src=1)
    tell("broadcast", rank, sent)
    gathered = [torch.zeros(2) for _ in range(2)]
    dist.all_gather(gathered, own)
    tell("all_gather", rank, gathered)
    into = torch.zeros(4)
    dist.all_gather_into_tensor(into, own)
    tell("all_gather_into_tensor", rank, into)
    gathered = [torch.zeros(2) for _ in range(2)] if rank == 0 else None
    dist.gather(own, gathered, dst=0)
    tell("gather", rank, gathered)
    got = torch.zeros(2)
    dist.scatter(got, [own, own * 10] if rank == 0 else None, src=0)
    tell("scatter", rank, got)
    work = dist.all_reduce(own, async_op=True)
    work.wait()
    tell("async", rank, own)
    objects = [None, None]
    dist.all_gather_object(objects, {"rank": rank})
    tell("objects", rank, objects)
    objects = [{"from": rank}]
    dist.broadcast_object_list(objects, src=1)
    tell("object", rank, objects)
    group = dist.new_group([1])
    if rank == 1:
        alone = torch.ones(1)
        dist.all_reduce(alone, group=group)
        tell("group", rank, alone, dist.get_world_size(group), dist.get_backend(group))


def messages(rank):
    other = 1 - rank
    got = torch.zeros(1)
    receiving = dist.irecv(got, src=other)
    sending = dist.isend(torch.tensor([rank + 5.0]), dst=other)
    receiving.wait()
    sending.wait()
    tell("swapped", rank, got)
    if rank == 0:
        dist.send(torch.tensor([3.0]), dst=1, tag=2)
    else:
        source = dist.recv(got, tag=2)
        tell("received", rank, got, source)


def work(rank, world_size, notes):
    notes["rank"] = rank
    os.environ["OWN"] = str(rank)
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", os.environ.get("FREE_PORT", "29500")
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    tell("here", rank, dist.get_rank(), dist.get_world_size(), dist.get_backend(), notes["rank"])
    the_whole_batch(rank)
    the_whole_batch(rank, bucket_cap_mb=0.00001)
    the_whole_batch(rank, gradient_as_bucket_view=True)
    the_whole_batch(rank, static_graph=True)
    accumulation(rank)
    unused(rank)
    training(rank)
    seeds(rank)
    ignored_parameters(rank)
    collectives(rank)
    messages(rank)
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(work, args=(2, {}), nprocs=2, join=True)
