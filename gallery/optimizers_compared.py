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
    kept = list(optimizer.state[point])
    print(f"{optimizer_class.__name__:8} height {valley(point):7.4f} keeps", kept)
    return optimizer


plain = descend(torch.optim.SGD, lr=0.045)  # ~ lr 0.005..0.06 by 0.005
momentum = descend(torch.optim.SGD, lr=0.02, momentum=0.8)  # ~ lr 0.01..0.05, momentum 0..0.9
nesterov = descend(torch.optim.SGD, lr=0.02, momentum=0.8, nesterov=True)
adagrad = descend(torch.optim.Adagrad, lr=0.5)
adadelta = descend(torch.optim.Adadelta, lr=1.0)
rmsprop = descend(torch.optim.RMSprop, lr=0.05)
adam = descend(torch.optim.Adam, lr=0.3)  # ~ lr 0.1..1
