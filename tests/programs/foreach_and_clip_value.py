import torch
from torch import nn

ws = [torch.full((2,), float(i), requires_grad=True) for i in range(1, 4)]
total = torch.stack([t.sum() for t in torch._foreach_mul(ws, 2.0)]).prod()
total.backward()
nn.utils.clip_grad_value_(ws, 40.0)
print([w.grad for w in ws])
flat = nn.utils.parameters_to_vector(ws)
print(flat)
