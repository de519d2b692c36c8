import torch


def scaled(x, y):
    w = x * y
    return w


def penalty(w):
    x = w.abs()
    return x.sum()


w = torch.tensor([1.0, -3.0], requires_grad=True)
x = torch.tensor([2.0, 5.0])
y = torch.tensor([0.5, 0.1], requires_grad=True)
kept = w
loss = penalty(scaled(w, x))
loss.backward()
x = scaled(y, x)
loss = penalty(x * 2) + penalty(w)
loss.backward()
w, y = y, w
loss = (w * 3).sum()
loss.backward()
w.grad.mul_(10)
y = scaled(y, w)
last = penalty(y)
last.backward()
