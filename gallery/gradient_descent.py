import torch

torch.manual_seed(0)
x = torch.linspace(-1, 1, 12)
y = 2 * x + 1 + 0.1 * torch.randn(12)


def descend(batch_size, epochs=1, lr=0.2):  # ~ epochs 1..5, lr 0.05..0.6 by 0.05
    w = torch.zeros(2, requires_grad=True)
    updates = 0
    for epoch in range(epochs):
        order = torch.randperm(12)
        for rows in order.split(batch_size):
            missed = w[0] * x[rows] + w[1] - y[rows]  # ? missed.shape @ 2
            loss = (missed**2).mean()
            loss.backward()
            with torch.no_grad():
                w -= lr * w.grad
            w.grad = None
            updates += 1
    return w, updates


for batch_size in (12, 4, 1):
    w, updates = descend(batch_size)
    whole = ((w[0] * x + w[1] - y) ** 2).mean()
    print(f"batches of {batch_size:2}: {updates:2} updates, slope {w[0]:.2f}, height {w[1]:.2f}, loss {whole:.4f}")
