import torch

w = torch.tensor([1.0], requires_grad=True)
optimizer = torch.optim.SGD([w], lr=1.0)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
scheduler.step()
(w * 2).sum().backward()
optimizer.step()
