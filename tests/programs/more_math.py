import torch

a = torch.tensor([[1.0, 2.0, 3.0], [0.0, 1.0, 0.5]], requires_grad=True)
b = torch.tensor([[0.5, 0.1, 0.2], [1.0, 1.0, 2.0]], requires_grad=True)
parts = [torch.cdist(a, b), torch.kron(a, b), torch.tensordot(a, b, dims=([1], [1])), torch.cross(a, b, dim=1),
         torch.lerp(a, b, 0.3), torch.addcmul(a, a, b, value=0.5), torch.atan2(a, b), torch.hypot(a, b + 1),
         torch.maximum(a, b), torch.remainder(a, b), torch.diff(a), torch.trapezoid(a), torch.logaddexp(a, b),
         torch.block_diag(a, b), torch.heaviside(a.detach(), b.detach()), torch.special.expit(a)]
sum(p.sum() for p in parts).backward()
print(a.grad, b.grad)
print(torch.unique(torch.tensor([3, 1, 3])), torch.bucketize(torch.tensor([0.5]), torch.tensor([0.0, 1.0])), torch.histc(a.detach(), 3))
rows, columns = torch.meshgrid(torch.arange(2), torch.arange(2), indexing="ij")
print(rows, columns)
