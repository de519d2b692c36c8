import copy
import threading
import time

import torch
from torch import nn


def timed(name, work, runs=1):
    spent = []
    for _ in range(runs):
        start = time.perf_counter()
        result = work()
        spent.append(time.perf_counter() - start)
    print(f"{name}: {min(spent) * 1000:.1f} ms")
    return result


def count():
    return sum(number * number for number in range(100_000))


def in_threads():
    threads = [threading.Thread(target=count) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


timed("two loops, one after the other", lambda: [count(), count()], runs=8)
timed("two loops in two threads", in_threads, runs=8)

net = nn.Sequential(nn.Linear(8, 4), nn.Tanh(), nn.Linear(4, 1))
batch = torch.randn(4, 8)
net(batch)
timed("forward of the whole batch", lambda: net(batch))
halves = timed("scatter", lambda: batch.chunk(2))
replicas = timed("replicate", lambda: [copy.deepcopy(net) for _ in halves])
outputs = timed("two forwards", lambda: [replica(half) for replica, half in zip(replicas, halves)])
joined = timed("gather", lambda: torch.cat(outputs))  # ? joined.shape
