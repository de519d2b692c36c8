import torch

torch.use_deterministic_algorithms(True)
torch.set_num_threads(2)
x = torch.ones(4, requires_grad=True)
y = torch.zeros(2).index_add(0, torch.tensor([0, 0, 1, 1]), x)
y.sum().backward()
print(y, x.grad, torch.get_num_threads(), torch.are_deterministic_algorithms_enabled())
