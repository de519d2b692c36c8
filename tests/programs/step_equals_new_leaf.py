import torch

w = torch.tensor(0.64, requires_grad=True)
(w ** 2).backward()
by_hand = torch.tensor((w - 0.1 * w.grad).item(), requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
optimizer.step()
print(w, by_hand)
