import torch

shaped = torch.FloatTensor(2, 3).fill_(1.5)
listed = torch.IntTensor([1, 2, 3, 4])
old = torch.Tensor([5.5, 3.0])
longs = torch.LongTensor([[0, 0], [1, 0]])
print(shaped, listed, old, longs.dtype)
