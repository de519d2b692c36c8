import torch


def fit(target, rate):
    w = torch.tensor([1.0, -2.0], requires_grad=True)
    opt = torch.optim.SGD([w], lr=rate, momentum=0.9)
    for _ in range(3):
        opt.zero_grad()
        loss = ((w - target) ** 2).sum()
        loss.backward()
        opt.step()
    return w


def search(target):
    w = torch.tensor([0.5, 0.25], requires_grad=True)
    opt = torch.optim.Adam([w], lr=0.1)
    for _ in range(2):
        opt.zero_grad(set_to_none=False)
        loss = (w * target).sum().exp()
        loss.backward()
        opt.step()
    return w


first = fit(torch.tensor([3.0, 3.0]), 0.1)
second = search(torch.tensor([0.3, -0.7]))
w = (first * second).sum()
w.backward()
print(first.grad, second.grad)
