import torch

scalar = torch.tensor(4)
vector = torch.tensor([1, 2])
matrix = torch.tensor([[1, 2], [3, 4]])
picture = torch.zeros(3, 4, 4)
batch = picture.unsqueeze(0).repeat(2, 1, 1, 1)
for t in (scalar, vector, matrix, picture, batch):
    print(t.dim(), tuple(t.shape), t.numel())
