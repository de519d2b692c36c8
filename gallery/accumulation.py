import torch

w = torch.tensor([1.0, -2.0], requires_grad=True)  # ~ -3..3

first = (w ** 2).sum()
first.backward()
print("after one backward: ", w.grad)

second = (3 * w).sum()
second.backward()  # ? w.grad
print("after two:          ", w.grad)

w.grad.zero_()  # ? w.grad
third = (3 * w).sum()
third.backward()  # ? w.grad
print("zeroed, then three: ", w.grad)
