import torch

def tree(x, depth):
    if depth == 0:
        return x.sin()
    return tree(x * 0.5, depth - 1) + tree(x + 1, depth - 1)

x = torch.tensor(0.3, requires_grad=True)
y = tree(x, 3)
y.backward()
print(y, x.grad)
