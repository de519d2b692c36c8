import torch

S = torch.sparse_coo_tensor(torch.tensor([[0, 1, 1], [2, 0, 2]]), torch.tensor([3.0, 4.0, 5.0]), (2, 3))
w = torch.ones(3, 2, requires_grad=True)
y = torch.sparse.mm(S, w)
y.sum().backward()
print(y, w.grad)
d = torch.tensor([[0.0, 1.0], [2.0, 0.0]], requires_grad=True)
d.to_sparse().to_dense().sum().backward()
print(d.grad, S.to_dense(), torch.eye(2).to_sparse_csr())
