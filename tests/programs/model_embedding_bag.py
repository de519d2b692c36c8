import torch
from torch import nn

bag = nn.EmbeddingBag(10, 3, mode="mean")
head = nn.Linear(3, 2)
words, offsets = torch.tensor([1, 2, 4, 5, 4, 3]), torch.tensor([0, 4])
loss = nn.functional.cross_entropy(head(bag(words, offsets)), torch.tensor([0, 1]))
loss.backward()
print(loss, bag.weight.grad[4])
sparse = nn.Embedding(5, 2, sparse=True)
sparse(torch.tensor([1, 1, 3])).sum().backward()
print(sparse.weight.grad.is_sparse, sparse.weight.grad.to_dense())
