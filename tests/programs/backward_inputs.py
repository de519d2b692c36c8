import torch

a = torch.ones(2, requires_grad=True)
b = torch.ones(2, requires_grad=True)
m = a * b
m.retain_grad()
loss = (m ** 2 + b).sum()
loss.backward(inputs=[b], retain_graph=True)
print(a.grad, b.grad, m.grad)
loss.backward(inputs=[m])
print(m.grad)
