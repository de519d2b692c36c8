import torch
from torch import nn

class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(12, 5)
        self.lstm = nn.LSTM(5, 6, num_layers=2, batch_first=True, bidirectional=True)
        self.out = nn.Linear(12, 3)

    def forward(self, words):
        states, (h, c) = self.lstm(self.embed(words))
        return self.out(states), h

model = Tagger()
words = torch.randint(0, 12, (2, 4))
scores, h = model(words)
loss = nn.functional.cross_entropy(scores.flatten(0, 1), torch.randint(0, 3, (8,)))
loss.backward()
print(loss, h.shape, model.embed.weight.grad.abs().sum(1) > 0)
