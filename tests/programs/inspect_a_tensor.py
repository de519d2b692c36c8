import torch

a = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(3.0, requires_grad=True)
Q = 3 * a ** 2 - 8 * b
for field in ("data", "device", "dtype", "grad_fn", "is_cuda", "is_leaf", "is_sparse", "layout", "ndim",
              "output_nr", "requires_grad", "shape"):
    value = getattr(Q, field)
    print(field, "=", type(value).__name__ if field == "grad_fn" else value)
Q.backward()
print(a.grad, b.grad)
