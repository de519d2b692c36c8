import torch

p = torch.tensor([-1.0, 1.5], requires_grad=True)
optimizer = torch.optim.LBFGS([p], lr=0.5, max_iter=4)
calls = 0

def closure():
    global calls
    calls += 1
    optimizer.zero_grad()
    loss = (1 - p[0]) ** 2 + 10 * (p[1] - p[0] ** 2) ** 2
    loss.backward()
    return loss

for _ in range(2):
    loss = optimizer.step(closure)
print(calls, loss, p)
