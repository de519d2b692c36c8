import torch

class Best(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        value, index = x.max(0)
        ctx.save_for_backward(index)
        ctx.mark_non_differentiable(index)
        ctx.size = len(x)
        return value, index

    @staticmethod
    def backward(ctx, grad, _):
        (index,) = ctx.saved_tensors
        out = torch.zeros(ctx.size)
        out[index] = grad
        return out

x = torch.tensor([0.5, 3.0, 1.0], requires_grad=True)
value, index = Best.apply(x)
value.backward()
print(value, index, index.requires_grad, x.grad)
