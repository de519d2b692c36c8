import torch
from torch import nn
from torch.func import functional_call

model = nn.Linear(2, 1)
x, y = torch.randn(4, 2), torch.randn(4, 1)
weights = dict(model.named_parameters())
inner = nn.functional.mse_loss(functional_call(model, weights, (x,)), y)
grads = torch.autograd.grad(inner, list(weights.values()), create_graph=True)
fast = {n: w - 0.1 * g for (n, w), g in zip(weights.items(), grads)}
outer = nn.functional.mse_loss(functional_call(model, fast, (x,)), y)
outer.backward()
print(inner, outer, model.weight.grad)
