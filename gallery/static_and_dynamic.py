import torch
from torch import fx


def program(x):
    if x > 0:
        return x**2
    return 3 * x


def formula(x):
    return torch.where(x > 0, x**2, 3 * x)


fixed = fx.symbolic_trace(formula)
print(fixed.code.strip())
try:
    fx.symbolic_trace(program)
except fx.proxy.TraceError as error:
    print("program:", error)

x = torch.tensor(-2.0, requires_grad=True)  # ~ -3..3
y = program(x)  # ? y
z = fixed(x)
(y + z).backward()  # ? x.grad
print("y", y.item(), "z", z.item(), "x.grad", x.grad.item())
