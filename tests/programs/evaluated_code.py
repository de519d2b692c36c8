import torch

x = torch.tensor(2.0, requires_grad=True)
y = eval("x ** 2 + 1")
exec("z = y * 3\nz.backward()")
make = compile("w = x.detach() + 1", "<inner>", "exec")
exec(make)
print(y, z, x.grad, w)
