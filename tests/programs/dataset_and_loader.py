import torch
from torch.utils.data import DataLoader, Dataset

class Squares(Dataset):
    def __init__(self, transform=None, target_transform=None):
        self.transform = transform
        self.target_transform = target_transform
        self.reads = []

    def __len__(self):
        return 5

    def __getitem__(self, index):
        self.reads.append(index)
        x, y = torch.tensor([float(index)]), index ** 2
        if self.transform:
            x = self.transform(x)
        if self.target_transform:
            y = self.target_transform(y)
        return x, y

data = Squares(transform=lambda x: x / 10, target_transform=lambda y: y + 100)
for x, y in DataLoader(data, batch_size=2, shuffle=True):
    print(x.flatten(), y)
print(data.reads)
print(len(list(DataLoader(data, batch_size=2, drop_last=True))))
