import torch

a = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(6.0, requires_grad=True)
q = 3 * a ** 3 - b ** 2
node = q.grad_fn
print(type(node).__name__, [(type(n).__name__, i) for n, i in node.next_functions])
q.backward()
print(q.data, a.grad, b.grad, q.is_leaf, q.output_nr, q.ndim, q.layout, q.dtype)
