import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = (x ** 2).sum()
y.backward()
assert torch.equal(x.grad, x), f"gradient is {x.grad.tolist()}, not {x.tolist()}"
