import torch

class PolarOf(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        r = torch.sqrt(x * x + y * y)
        angle = torch.atan2(y, x)
        ctx.save_for_backward(x, y, r)
        return r, angle

    @staticmethod
    def backward(ctx, grad_r, grad_angle):
        x, y, r = ctx.saved_tensors
        return grad_r * x / r - grad_angle * y / r ** 2, grad_r * y / r + grad_angle * x / r ** 2

x = torch.tensor([3.0, 1.0], requires_grad=True)
y = torch.tensor([4.0, 1.0], requires_grad=True)
r, angle = PolarOf.apply(x, y)
(r.sum() + 2 * angle[0]).backward()
print(r, angle, x.grad, y.grad)
