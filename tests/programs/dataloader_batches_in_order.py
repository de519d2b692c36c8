import torch
from torch.utils.data import DataLoader, IterableDataset, Subset, TensorDataset, WeightedRandomSampler

data = TensorDataset(torch.arange(6.0), torch.arange(6))
print([b[1].tolist() for b in DataLoader(Subset(data, [5, 3, 1]), batch_size=2)])
sampler = WeightedRandomSampler([0.1, 0.9, 0.5, 0.5, 0.1, 0.9], 4)
print([b[0].tolist() for b in DataLoader(data, sampler=sampler, batch_size=2)])

class Stream(IterableDataset):
    def __iter__(self):
        yield from ({"x": torch.tensor([float(i)]), "name": str(i)} for i in range(3))

for batch in DataLoader(Stream(), batch_size=2, collate_fn=None):
    print(batch)
print([t.shape for t in DataLoader([torch.ones(2), torch.zeros(2)], batch_size=None)])
