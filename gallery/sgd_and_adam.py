import torch


def ravine(point):
    return point[0] ** 2 + 25 * point[1] ** 2


def descend(optimizer_class, lr):
    point = torch.tensor([2.0, 1.0], requires_grad=True)
    optimizer = optimizer_class([point], lr=lr)
    for _ in range(3):
        optimizer.zero_grad()
        ravine(point).backward()  # ? point.grad
        optimizer.step()  # ? point @ 4
    return point, optimizer


by_sgd, sgd = descend(torch.optim.SGD, lr=0.03)  # ~ lr 0.01..0.04
by_adam, adam = descend(torch.optim.Adam, lr=0.3)  # ~ lr 0.1..1

print("SGD: ", by_sgd.data, "remembers", list(sgd.state[by_sgd]))
print("Adam:", by_adam.data, "remembers", list(adam.state[by_adam]))
