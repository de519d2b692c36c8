import torch
from torch import nn

edges = torch.tensor([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]])
A = torch.eye(4)
A[edges[:, 0], edges[:, 1]] = 1
A[edges[:, 1], edges[:, 0]] = 1
degree = A.sum(1)
A_hat = A / torch.sqrt(degree[:, None] * degree[None, :])

class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(3, 4) * 0.5)
        self.w2 = nn.Parameter(torch.randn(4, 2) * 0.5)

    def forward(self, x):
        return A_hat @ torch.relu(A_hat @ x @ self.w1) @ self.w2

model = GCN()
loss = nn.functional.cross_entropy(model(torch.eye(4)[:, :3]), torch.tensor([0, 0, 1, 1]))
loss.backward()
print(loss, model.w2.grad)
