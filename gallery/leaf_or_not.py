import torch

a = torch.tensor([2.0, 3.0], requires_grad=True)  # ~ -3..3
b = torch.tensor([6.0, 4.0], requires_grad=True)
noise = torch.tensor([0.5, 0.5])

cube = 3 * a**3
cube.retain_grad()
q = cube - b**2 + noise  # ? q.is_leaf
late = torch.tensor([0.25, 0.5]) * 4
for name, tensor in {"a": a, "noise": noise, "cube": cube, "q": q, "late": late}.items():
    print(f"{name:5} leaf {tensor.is_leaf}, requires_grad {tensor.requires_grad}, grad_fn {type(tensor.grad_fn).__name__}")
print("one step below q:", [type(node).__name__ for node, _ in q.grad_fn.next_functions if node])

late.requires_grad_()
(q + late * late).sum().backward()  # ? noise.grad is None
print("a.grad", a.grad)
print("b.grad", b.grad)
print("cube.grad", cube.grad)
print("noise.grad", noise.grad)
print("late.grad", late.grad)
