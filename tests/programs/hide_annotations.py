from __future__ import annotations
from typing import NamedTuple
import torch
from torch import Tensor

class Batch(NamedTuple):
    x: Tensor
    y: Tensor

def loss(w: Tensor, batch: Batch) -> Tensor:
    match batch:
        case Batch(x, y):
            return ((x * w) - y).abs().sum()

w: Tensor = torch.tensor(0.5, requires_grad=True)
loss(w, Batch(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))).backward()
print(w.grad)
