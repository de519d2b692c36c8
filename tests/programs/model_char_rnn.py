import torch
from torch import nn

text = "hello hello hello"
chars = sorted(set(text))
index = {c: i for i, c in enumerate(chars)}
data = torch.tensor([index[c] for c in text])

embed = nn.Embedding(len(chars), 8)
rnn = nn.RNN(8, 16, batch_first=True)
out = nn.Linear(16, len(chars))
params = [*embed.parameters(), *rnn.parameters(), *out.parameters()]
optimizer = torch.optim.Adam(params, lr=0.02)
for epoch in range(3):
    states, _ = rnn(embed(data[:-1])[None])
    loss = nn.functional.cross_entropy(out(states)[0], data[1:])
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(params, 1.0)
    optimizer.step()
    print(epoch, round(loss.item(), 4))
with torch.no_grad():
    states, _ = rnn(embed(data[:3])[None])
    print(chars[out(states)[0, -1].argmax()])
