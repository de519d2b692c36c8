import torch

w = torch.tensor([0.5, 1.5], requires_grad=True)
steps = []
while (loss := ((w - 1) ** 2).sum()) > 0.1:
    (g,) = torch.autograd.grad(loss, w)
    w = (w - 0.2 * g).detach().requires_grad_()
    steps.append(round(loss.item(), 4))
powers = {k: (w ** k).sum() for k in range(1, 4)}
pick = max(powers, key=lambda k: powers[k].item())
powers[pick].backward()
print(steps, pick, w.grad)
