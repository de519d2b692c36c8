import torch
from torch import nn

class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(1, 8, 4, 4)
        self.cls = nn.Parameter(torch.zeros(1, 1, 8))
        self.pos = nn.Parameter(torch.randn(1, 5, 8) * 0.02)
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, activation="gelu", batch_first=True, norm_first=True), 2,
            enable_nested_tensor=False)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        tokens = self.patch(x).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.cls.expand(len(x), -1, -1), tokens], 1) + self.pos
        return self.head(self.encoder(tokens)[:, 0])

model = ViT()
loss = nn.functional.cross_entropy(model(torch.randn(2, 1, 8, 8)), torch.tensor([0, 2]))
loss.backward()
print(loss, model.cls.grad)
