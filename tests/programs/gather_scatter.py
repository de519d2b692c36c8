import torch

t = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
picked = torch.gather(t, 1, torch.tensor([[0, 0], [1, 0]]))
board = torch.zeros(2, 3).scatter(1, torch.tensor([[2, 0], [1, 1]]), picked)
summed = torch.zeros(3).scatter_add(0, torch.tensor([0, 0, 2, 1]), picked.flatten())
(board.sum() + (summed ** 2).sum()).backward()
print(picked, board, summed, t.grad)
