import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x ** 3
print(y.grad_fn._saved_exponent, y.grad_fn._saved_self, y.grad_fn._saved_self is x)
y.sum().backward()
try:
    y.grad_fn._saved_self
except RuntimeError as error:
    print(str(error)[:50])
