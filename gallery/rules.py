import torch

a = torch.tensor([6.0, -8.0], requires_grad=True)  # ~ -9..9
b = torch.tensor([2.0, 4.0], requires_grad=True)  # ~ 1..9

difference = a - b
product = a * b
quotient = a / b  # ? quotient
size = a.abs()
passed = (a + 2 * b - 5).relu()
results = [difference, product, quotient, size, passed]

for name, result in zip(["a - b", "a * b", "a / b", "|a|", "relu"], results):
    used = (a, b) if name != "|a|" else (a,)
    grads = torch.autograd.grad(result.sum(), used, retain_graph=True)
    print(f"{name:5} =", result.tolist(), "gradients", [grad.tolist() for grad in grads])

zero = torch.zeros(1, requires_grad=True)
(zero.relu() + zero.abs()).backward()  # ? zero.grad
print("slope of relu + abs at 0:", zero.grad.item())

torch.stack(results).sum().backward()
print("all five together:", a.grad, b.grad)
