import torch

w = torch.tensor([2.0, -1.0], requires_grad=True)  # ~ -3..3
x = torch.tensor([3.0, 4.0])

score = (w * x).sum()

with torch.no_grad():
    preview = (w * x).sum()  # ? preview.requires_grad

print("score requires grad:  ", score.requires_grad)
print("preview requires grad:", preview.requires_grad)
print("w still requires grad:", w.requires_grad)

score.backward()  # ? grad.flow
# ? w.grad
print("w.grad", w.grad)
