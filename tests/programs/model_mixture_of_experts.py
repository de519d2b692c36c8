import torch
from torch import nn

class MoE(nn.Module):
    def __init__(self, width, experts):
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.experts = nn.ModuleList(nn.Linear(width, width) for _ in range(experts))

    def forward(self, x):
        weight, chosen = self.gate(x).softmax(-1).topk(2, dim=-1)
        weight = weight / weight.sum(-1, keepdim=True)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows, slot = (chosen == i).nonzero(as_tuple=True)
            if len(rows):
                out = out.index_add(0, rows, weight[rows, slot, None] * expert(x[rows]))
        return out

moe = MoE(4, 3)
y = moe(torch.randn(5, 4))
y.pow(2).sum().backward()
print([e.weight.grad is not None for e in moe.experts], moe.gate.weight.grad.shape)
