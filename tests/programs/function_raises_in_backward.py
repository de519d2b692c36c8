import torch

class Picky(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        if grad.abs().max() > 1:
            raise ArithmeticError("gradient too large")
        return grad

x = torch.ones(2, requires_grad=True)
(Picky.apply(x) * 5).sum().backward()
