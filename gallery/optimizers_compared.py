import torch


def valley(point):
    return point[0] ** 2 + 20 * point[1] ** 2


def descend(optimizer_class, **settings):
    point = torch.tensor([-2.0, 1.0], requires_grad=True)
    optimizer = optimizer_class([point], **settings)
    for _ in range(8):
        optimizer.zero_grad()
        valley(point).backward()  # ? point.grad
        optimizer.step()
    print(f"{optimizer_class.__name__:8}", point.data, f"height {valley(point):.4f}")
    return optimizer


plain = descend(torch.optim.SGD, lr=0.045)
momentum = descend(torch.optim.SGD, lr=0.02, momentum=0.8)
rmsprop = descend(torch.optim.RMSprop, lr=0.05)
adam = descend(torch.optim.Adam, lr=0.3)
