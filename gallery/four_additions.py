import torch

x = torch.tensor([1.0, 2.0])  # ~ -5..5
y = torch.tensor([10.0, 20.0])
room = torch.empty(2)

first = x + y
second = torch.add(x, y)
torch.add(x, y, out=room)
print(first, second, room)
print("y before:", y, "version", y._version)

y.add_(x)  # ? y._version
print("add_ wrote into y:", y, "version", y._version)
y.copy_(torch.tensor([7.0, 8.0]))
print("copy_ too:", y, "version", y._version)

square = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
square.t_()  # ? square
print("t_ turned it in place:", square, "version", square._version)

w = torch.tensor([1.0, 2.0], requires_grad=True)
out = w * 3
out += 1
out.sum().backward()  # ? w.grad
print("w.grad", w.grad, "- grad_fn of out:", type(out.grad_fn).__name__)
