import torch
from torch.utils.data import DataLoader, Dataset


class Squares(Dataset):
    def __init__(self, count):
        self.numbers = torch.arange(float(count))

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, index):
        return self.numbers[index], self.numbers[index] ** 2


samples = Squares(7)
print("one sample", samples[3])
for drop_last in (False, True):
    loader = DataLoader(samples, batch_size=3, drop_last=drop_last)  # ~ batch_size 2..6
    sizes = torch.tensor([len(numbers) for numbers, _ in loader])  # ? sizes
    # ? sizes @ 2
    print("drop_last", drop_last, "->", sizes.tolist())

torch.manual_seed(0)
w = torch.tensor(0.0, requires_grad=True)
for numbers, squares in DataLoader(samples, batch_size=3, shuffle=True):  # ~ batch_size 1..7
    loss = ((w * numbers - squares) ** 2).mean()
    loss.backward()
    print("batch", numbers.tolist(), "loss", round(loss.item(), 2))
print("w.grad, added up over the batches:", round(w.grad.item(), 3))
