import torch
from torch.autograd.graph import get_gradient_edge, register_multi_grad_hook, save_on_cpu

a = torch.ones(2, requires_grad=True)
b = torch.ones(2, requires_grad=True)
seen = []
handle = register_multi_grad_hook((a, b), lambda grads: seen.append([g.tolist() for g in grads]))
with save_on_cpu():
    y = (a * b * 3).sum()
y.backward()
handle.remove()
edge = get_gradient_edge(y)
print(seen, type(edge.node).__name__, edge.output_nr)
z = a ** 2
print(torch.autograd.grad(z.sum(), inputs=[get_gradient_edge(z), a]))
