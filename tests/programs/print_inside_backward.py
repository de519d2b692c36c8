import torch

class Loud(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        print("forward", x.tolist())
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        print("backward", grad.tolist())
        return grad * 2

x = torch.tensor([1.0, 2.0], requires_grad=True)
x.register_hook(lambda g: print("leaf", g.tolist()))
Loud.apply(Loud.apply(x)).sum().backward()
