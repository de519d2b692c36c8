import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)  # ~ -3..3
hidden = x ** 2
hidden.retain_grad()
hidden.register_hook(lambda grad: grad.clamp(max=2.5))  # ~ max 0.5..5

loss = (hidden * torch.tensor([1.0, 2.0, 4.0])).sum()
loss.backward()  # ? hidden.grad
# ? x.grad

print("hidden.grad", hidden.grad)
print("x.grad     ", x.grad)
