import torch

class Dual:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Dual(self.value + other.value)

    def __matmul__(self, other):
        return (self.value * other.value).sum()

    @property
    def grad(self):
        return self.value.grad

a = Dual(torch.tensor([1.0, 2.0], requires_grad=True))
b = Dual(torch.tensor([3.0, 4.0], requires_grad=True))
((a + b) @ b).backward()
print(a.grad, b.grad)
