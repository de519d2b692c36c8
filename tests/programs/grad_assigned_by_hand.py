import torch

w = torch.ones(2, requires_grad=True)
w.grad = torch.tensor([10.0, 20.0])
(w * 3).sum().backward()
w.grad.clamp_(max=15)
optimizer = torch.optim.SGD([w], lr=0.1)
optimizer.step()
w.grad = None
print(w, w.grad)
