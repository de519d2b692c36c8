import torch

makers = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.02),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9),
    "nesterov": lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9, nesterov=True),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.5),
    "adadelta": lambda p: torch.optim.Adadelta(p, lr=5.0),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.1),
    "adam": lambda p: torch.optim.Adam(p, lr=0.3),
}
ends = {}
for name, make in makers.items():
    p = torch.tensor([-7.0, 2.0], requires_grad=True)
    optimizer = make([p])
    for _ in range(4):
        optimizer.zero_grad()
        (0.1 * p[0] ** 2 + 2 * p[1] ** 2).backward()
        optimizer.step()
    ends[name] = [round(v, 4) for v in p.tolist()]
    print(name, ends[name], sorted(optimizer.state[p]))
