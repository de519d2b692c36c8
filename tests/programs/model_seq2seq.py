import torch
from torch import nn

class Seq2Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(9, 4)
        self.encoder = nn.GRU(4, 5, batch_first=True)
        self.decoder = nn.GRUCell(4 + 5, 5)
        self.out = nn.Linear(5, 9)

    def forward(self, source, target):
        memory, h = self.encoder(self.embed(source))
        h, logits = h[0], []
        for t in range(target.shape[1]):
            weights = torch.einsum("bh,bth->bt", h, memory).softmax(-1)
            context = torch.einsum("bt,bth->bh", weights, memory)
            h = self.decoder(torch.cat([self.embed(target[:, t]), context], dim=-1), h)
            logits.append(self.out(h))
        return torch.stack(logits, dim=1)

model = Seq2Seq()
source, target = torch.randint(0, 9, (2, 4)), torch.randint(0, 9, (2, 3))
loss = nn.functional.cross_entropy(model(source, target).transpose(1, 2), target)
loss.backward()
print(loss)
