import torch

X = torch.linspace(-1, 1, 12).unsqueeze(1)
Y = 3 * X + 0.5
for size in (12, 4, 1):
    w = torch.zeros(1, requires_grad=True)
    b = torch.zeros(1, requires_grad=True)
    updates = 0
    for epoch in range(2):
        for xb, yb in zip(X.split(size), Y.split(size)):
            loss = ((xb * w + b - yb) ** 2).mean()
            gw, gb = torch.autograd.grad(loss, (w, b))
            with torch.no_grad():
                w -= 0.1 * gw
                b -= 0.1 * gb
            updates += 1
    print(size, updates, w.item(), b.item())
