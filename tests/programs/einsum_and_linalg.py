import torch

A = torch.tensor([[4.0, 1.0], [1.0, 3.0]], requires_grad=True)
b = torch.tensor([1.0, 2.0], requires_grad=True)
x = torch.linalg.solve(A, b)
energy = torch.einsum("i,ij,j->", x, A, x) + torch.logdet(A) + torch.linalg.inv(A).trace()
energy = energy + torch.linalg.eigvalsh(A).max() + torch.linalg.svdvals(A).sum() + torch.linalg.cholesky(A).sum()
energy.backward()
print(energy, A.grad, b.grad)
