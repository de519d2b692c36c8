import torch
from torch.overrides import TorchFunctionMode

class Count(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.names.append(func.__name__)
        return func(*args, **(kwargs or {}))

x = torch.ones(2, requires_grad=True)
with Count() as count:
    y = (x * 2).sum()
y.backward()
print(count.names, x.grad)
