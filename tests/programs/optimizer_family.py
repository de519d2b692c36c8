import torch
from torch import nn

for make in (lambda p: torch.optim.SGD(p, lr=0.1, foreach=True), lambda p: torch.optim.Adam(p, lr=0.1, fused=True),
             lambda p: torch.optim.Adamax(p), lambda p: torch.optim.NAdam(p), lambda p: torch.optim.RAdam(p),
             lambda p: torch.optim.ASGD(p), lambda p: torch.optim.Rprop(p), lambda p: torch.optim.AdamW(p, amsgrad=True)):
    w = torch.tensor([1.0, -2.0], requires_grad=True)
    optimizer = make([w])
    for _ in range(2):
        optimizer.zero_grad()
        (w ** 2).sum().backward()
        optimizer.step()
    print(type(optimizer).__name__, w.data)
