import torch

w = torch.tensor([2.0], requires_grad=True)
for i in range(300):
    loss = ((w - 0.5) ** 2).sum()
    loss.backward()
    w.data -= 0.01 * w.grad.data
    w.grad.zero_()
print(w)
