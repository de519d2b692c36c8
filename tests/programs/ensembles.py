import copy
import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

models = [nn.Linear(2, 1) for _ in range(3)]
params, buffers = stack_module_state(models)
base = copy.deepcopy(models[0]).to("meta")
x = torch.ones(4, 2)
out = vmap(lambda p, b: functional_call(base, (p, b), (x,)))(params, buffers)
out.sum().backward()
print(out.shape, params["weight"].grad)
per_sample = vmap(torch.func.grad(lambda w, row: (row @ w).pow(2)), in_dims=(None, 0))(torch.ones(2), torch.eye(2))
print(per_sample, torch.func.hessian(lambda v: (v ** 3).sum())(torch.tensor([1.0, 2.0])))
