import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
log = []
net[0].register_forward_hook(lambda m, i, o: o * 2)
net[1].register_full_backward_pre_hook(lambda m, g: log.append(("pre", len(g))))
net[2].register_full_backward_hook(lambda m, gi, go: (gi[0] * 10,))
handle = nn.modules.module.register_module_forward_hook(lambda m, i, o: log.append(type(m).__name__))
x = torch.ones(1, 2, requires_grad=True)
net(x).sum().backward()
handle.remove()
print(log, x.grad)
