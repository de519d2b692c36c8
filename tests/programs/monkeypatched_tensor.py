import torch

torch.Tensor.twice = lambda self: self * 2
original = torch.relu
calls = []

def relu(x):
    calls.append(tuple(x.shape))
    return original(x)

torch.relu = relu
x = torch.tensor([-1.0, 1.0], requires_grad=True)
torch.relu(x.twice()).sum().backward()
print(calls, x.grad)
