import torch

a = torch.tensor([2.0, 3.0], requires_grad=True)  # ~ -3..3
b = torch.tensor([6.0, 4.0], requires_grad=True)
noise = torch.tensor([0.5, 0.5])

cube = 3 * a**3
cube.retain_grad()
q = cube - b**2 + noise  # ? q.is_leaf
for name, tensor in {"a": a, "noise": noise, "cube": cube, "q": q}.items():
    print(f"{name:5} leaf {tensor.is_leaf}, requires_grad {tensor.requires_grad}, grad_fn {type(tensor.grad_fn).__name__}")
print("one step below q:", [type(node).__name__ for node, _ in q.grad_fn.next_functions if node])

q.sum().backward()  # ? noise.grad is None
print("a.grad", a.grad)
print("b.grad", b.grad)
print("cube.grad", cube.grad)
print("noise.grad", noise.grad)

late = torch.tensor([0.25, 0.5]) * 4
late.requires_grad_()
(late * late).sum().backward()
print("late is a leaf:", late.is_leaf, "- late.grad", late.grad)
