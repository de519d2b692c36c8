import torch

w = torch.tensor(3.0, requires_grad=True)
x = torch.tensor(2.0)
y = torch.tensor(-5.0, requires_grad=True)
seen = []
w.register_hook(lambda g: seen.append(("w", g.item())))
y.register_hook(lambda g: seen.append(("y", g.item())))
out = (w * x - y) * w
out.backward()
print(out, w.grad, y.grad, seen)
