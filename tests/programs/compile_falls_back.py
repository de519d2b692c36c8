import torch

def f(x):
    return (x * 2).sin().sum()

x = torch.ones(3, requires_grad=True)
y = f(x)
y.backward()
scripted = torch.jit.trace(f, torch.ones(3))
print(x.grad, scripted(torch.zeros(3)))
