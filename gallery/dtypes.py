import torch

halves = torch.tensor([0.5, 1.5, 2.5])
counts = torch.tensor([1, 2, 3])

total = halves + counts  # ? total.dtype
ratio = counts / 2  # ? ratio.dtype
print("float32 + int64 =", total.dtype, "- int64 / 2 =", ratio.dtype)

price = torch.tensor([2.9, -2.9, 127.0])  # ~ -128..127
short = price.to(torch.int8)  # ? short
exact = price.double()
print("as int8", short)
for tensor in (short, price, exact):
    print(tensor.dtype, tensor.element_size(), "bytes an element,", tensor.nbytes, "in all")

weight = torch.ones(3, requires_grad=True)
(weight.double() * exact).sum().backward()
print("weight.grad", weight.grad, weight.grad.dtype)

matrix = torch.ones(3, 3, dtype=torch.float64)
try:
    matrix @ halves
except RuntimeError as error:
    print("refused:", error)
