import torch

x = torch.randn(3, requires_grad=True)
print(x.requires_grad, (x ** 2).requires_grad)
with torch.no_grad():
    y = x ** 2
    print(x.requires_grad, y.requires_grad)
    with torch.enable_grad():
        z = x * 2
print(z.requires_grad)

@torch.no_grad()
def predict(v):
    return v * 3

print(predict(x).requires_grad)
