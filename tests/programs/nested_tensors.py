import torch

n = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(1, 3)], layout=torch.jagged)
print(n.is_nested, [t.shape for t in n.unbind()])
del n
x = torch.ones(3, requires_grad=True)
(x * 2).sum().backward()
print(x.grad)
