import torch

w = torch.ones(3, requires_grad=True)
with torch.inference_mode():
    y = w * 2
    print(y.requires_grad, y.is_inference())
try:
    (w * y).sum().backward()
except RuntimeError as error:
    print(error)
