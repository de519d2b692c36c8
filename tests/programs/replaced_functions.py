import torch
import torch.nn.functional as F

calls = []
plain_repr, plain_sum, plain_backward, plain_relu = torch.Tensor.__repr__, torch.Tensor.sum, torch.Tensor.backward, F.relu


def counted_sum(self, *args, **kwargs):
    calls.append("sum")
    return plain_sum(self, *args, **kwargs) * 2


def counted_backward(self, *args, **kwargs):
    calls.append("backward")
    return plain_backward(self, *args, **kwargs)


def scaled_relu(x, inplace=False):
    calls.append("relu")
    return plain_relu(x, inplace) * 3


torch.Tensor.__repr__ = lambda self, **kwargs: f"{tuple(self.shape)} {plain_repr(self)}"
torch.Tensor.sum = counted_sum
torch.Tensor.backward = counted_backward
F.relu = scaled_relu

x = torch.tensor([1.0, -2.0], requires_grad=True)
for _ in range(3):
    torch.nn.ReLU()(x).sum().backward()
text = repr(x)
print(text, [x], calls)
torch.Tensor.__repr__, torch.Tensor.sum, torch.Tensor.backward, F.relu = (
    plain_repr, plain_sum, plain_backward, plain_relu,
)  # fmt: skip
x.sum().backward()
print(x.grad, len(calls))
