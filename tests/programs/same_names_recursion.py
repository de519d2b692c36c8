import torch


def descend(depth):
    w = torch.tensor(float(depth), requires_grad=True)
    loss = w**2 * depth
    loss.backward()
    if depth > 1:
        inner = descend(depth - 1)
        loss = (w * inner.detach()) ** 3
        loss.backward()
    w.grad *= 0.5
    return w


w = descend(3)
loss = w * 7
loss.backward()
w.grad = None
loss = w * 2
loss.backward()
