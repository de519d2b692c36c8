import torch

w = torch.tensor(1.0, requires_grad=True)
total = torch.zeros(())
for x in (1.0, 2.0, 3.0):
    total += (w * x - 1) ** 2
total /= 3
total.backward()
print(total, w.grad, total._version)
