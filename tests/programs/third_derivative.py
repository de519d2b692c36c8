import torch

x = torch.tensor(2.0, requires_grad=True)
y = x ** 3
orders = [y]
for _ in range(3):
    (d,) = torch.autograd.grad(orders[-1], x, create_graph=True)
    orders.append(d)
print([round(o.item(), 4) for o in orders])
t = torch.tensor(0.3, requires_grad=True)
s = torch.tanh(t)
(first,) = torch.autograd.grad(s, t, create_graph=True)
first.backward()
print(t.grad)
