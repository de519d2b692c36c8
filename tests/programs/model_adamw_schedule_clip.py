import torch
from torch import nn

model = nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.Linear(4, 1))
decay = [p for n, p in model.named_parameters() if n.endswith("weight")]
plain = [p for n, p in model.named_parameters() if n.endswith("bias")]
optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}], lr=0.05)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=3)
x, y = torch.randn(6, 3), torch.randn(6, 1)
for epoch in range(3):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.5)
    optimizer.step()
    scheduler.step()
    print(epoch, round(loss.item(), 5), round(norm.item(), 5), scheduler.get_last_lr())
