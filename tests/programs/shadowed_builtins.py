import torch

list = [1, 2, 3]
id = 7
x = torch.ones(3, requires_grad=True)
sum = x.sum()
max = x.max()
type = "word"
len = 3
sum.backward()
print(x.grad, id, len, type, list)
