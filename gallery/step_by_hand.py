import torch

x = torch.tensor([1.0, 2.0, 3.0])
y = 3 * x
lr = 0.05  # ~ 0.01..0.2

then = torch.tensor(0.0, requires_grad=True)
now = torch.tensor(0.0, requires_grad=True)
given = torch.tensor(0.0, requires_grad=True)
optimizer = torch.optim.SGD([given], lr=lr)

for step in range(3):
    ((then * x - y) ** 2).mean().backward()  # ? then.grad
    then.data -= lr * then.grad.data
    then.grad.data.zero_()

    ((now * x - y) ** 2).mean().backward()
    with torch.no_grad():
        now -= lr * now.grad
    now.grad = None

    optimizer.zero_grad()
    ((given * x - y) ** 2).mean().backward()
    optimizer.step()  # ? given
    print(f"step {step}: {then.item():.4f} {now.item():.4f} {given.item():.4f}")

print("versions:", then._version, now._version, given._version, "- still leaves:", now.is_leaf)
