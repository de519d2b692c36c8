import torch


class ClippedStep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x > 0).float()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        inside = (x.abs() <= 1).float()
        return grad_output * inside


x = torch.tensor([-2.0, -0.5, 0.5, 2.0], requires_grad=True)  # ~ -3..3
weights = torch.tensor([1.0, 2.0, 3.0, 4.0])

fired = ClippedStep.apply(x)  # ? fired
loss = (fired * weights).sum()
loss.backward()  # ? x.grad

print("fired", fired)
print("x.grad", x.grad)
