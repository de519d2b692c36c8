import torch

w = torch.ones(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
optimizer.zero_grad()
(w * 2).sum().backward()
optimizer.step()
optimizer.zero_grad(set_to_none=False)
print(w.grad)
optimizer.zero_grad()
print(w.grad)
w.grad.data.zero_()
