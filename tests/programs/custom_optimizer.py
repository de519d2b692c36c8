import torch

class SignDescent(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    self.state[p]["steps"] = self.state[p].get("steps", 0) + 1
                    p -= group["lr"] * p.grad.sign()

w = torch.tensor([1.0, -3.0], requires_grad=True)
optimizer = SignDescent([w], lr=0.5)
for _ in range(3):
    optimizer.zero_grad()
    (w ** 2).sum().backward()
    optimizer.step()
print(w, optimizer.state[w])
