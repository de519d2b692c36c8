"""What `engine/findings/recurrent.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import STEP, Mistake

LSTM = """cell, out = nn.LSTMCell(2, 3), nn.Linear(3, 1)
xs = torch.randn(6, 4, 2)
h, c = torch.zeros(4, 3), torch.ones(4, 3)
loss = 0
for x in xs:
    NEXT = cell(x, (h, c))
    loss = loss + out(h).pow(2).mean()
loss.backward()
"""
"""Lines 4 to 11."""

CELL = """cell, out = nn.GRUCell(2, 3), nn.Linear(3, 1)
h, loss = torch.zeros(4, 3), 0
for x in torch.randn(6, 4, 2):
    h = cell(x, STATE)
    loss = loss + out(h).pow(2).mean()
loss.backward()
"""

MISTAKES: tuple[Mistake, ...] = (
    Mistake("state_dropped", 9, LSTM.replace("NEXT", "h, new"), says={"given": "c", "is_cell": "1", "count": "5"}, cures=(("h, new", "h, c"),), mends=True),
    Mistake("state_dropped", 8, """lstm, out = nn.LSTM(2, 3, batch_first=True), nn.Linear(3, 1)
x, state = torch.randn(4, 5, 2), (torch.ones(1, 4, 3), torch.zeros(1, 4, 3))
begin, c = state
for i in range(5):
    made, (_, c) = lstm(x[:, i : i + 1], (begin, c))
out(made).pow(2).mean().backward()
""", says={"given": "begin", "is_cell": "0"}, cures=(("(_, c) =", "(begin, c) ="),), mends=True),
    Mistake("padding_read_last", 11, """from torch.nn.utils.rnn import pad_sequence
words = [torch.tensor(ids) for ids in ([3, 1, 4], [1, 5], [2, 6, 5, 3])]
x, y = pad_sequence(words, batch_first=True), torch.tensor([0, 1, 1])
emb, rnn, out = nn.Embedding(9, 4), nn.LSTM(4, 5, batch_first=True), nn.Linear(5, 2)
opt = torch.optim.Adam([*emb.parameters(), *rnn.parameters(), *out.parameters()])
for _ in range(2):
    h, _ = rnn(F.dropout(emb(x), 0.1))
    last = h[:, -1]
    loss = F.cross_entropy(out(last), y)
""" + STEP, cure=(("h[:, -1]", "h[torch.arange(3), torch.tensor([2, 1, 3])]"),)),
    Mistake("padding_read_last", 9, """x, y = torch.tensor([[3, 1], [1, 5], [2, 0], [7, 0]]), torch.tensor([0, 1])
emb, rnn, out = nn.Embedding(9, 4, padding_idx=0), nn.GRU(4, 5), nn.Linear(5, 2)
opt = torch.optim.Adam([*emb.parameters(), *rnn.parameters(), *out.parameters()])
for _ in range(2):
    h, _ = rnn(emb(x))
    loss = F.cross_entropy(out(h[-1]), y)
""" + STEP, cure=(("[2, 0], [7, 0]", "[2, 8], [7, 8]"),)),
    Mistake("padding_read_last", 16, """from torch.nn.utils.rnn import pad_sequence
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.rnn, self.fc = nn.Embedding(90, 4), nn.GRU(4, 5, batch_first=True), nn.Linear(5, 1)
    def forward(self, ids, lengths):
        steps, _ = self.rnn(self.words(ids))
        kept = steps[torch.arange(len(ids)), lengths - 1]
        return self.fc(self.last(steps, kept))
    def last(self, steps, kept):
        if kept is None:
            return steps[:, 0]
        return steps[:, -1]
rows = [torch.randint(1, 90, (4 + at % 30,)) for at in range(120)]
lengths, ids, y = torch.tensor([len(row) for row in rows]), pad_sequence(rows, batch_first=True), torch.randn(120, 1)
net = Reader()
for at in torch.randperm(120).split(60):
    F.mse_loss(net(ids[at], lengths[at]), y[at]).backward()
""", cures=(("return steps[:, -1]", "return kept"), ("4 + at % 30", "4 + 0 * at"), ("(rows, batch_first=True)", "(rows, batch_first=True, padding_side='left')"))),
    Mistake("padding_read_last", 10, """from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, TensorDataset
rows = [torch.randint(1, 90, (4 + at % 30,)) for at in range(120)]
data = TensorDataset(pad_sequence(rows, batch_first=True), torch.randn(120, 1))
words, rnn, fc = nn.Embedding(90, 4), nn.LSTM(4, 5, batch_first=True), nn.Linear(5, 1)
for ids, y in DataLoader(data, batch_size=60, shuffle=True):
    out = rnn(words(ids))[0][:, -1, :]
    F.mse_loss(fc(out), y).backward()
""", cures=(("[:, -1, :]", "[:, 0, :]"), ("4 + at % 30", "4 + 0 * at"))),
    Mistake("padding_read_last", 8, """from torch.nn.utils.rnn import pad_sequence
rows = [torch.randint(1, 90, (4 + at % 30,)) for at in range(120)]
ids, y = pad_sequence(rows, batch_first=True), torch.randn(120, 1)
words, rnn, fc = nn.Embedding(90, 4), nn.GRU(4, 5, batch_first=True), nn.Linear(5, 1)
F.mse_loss(fc(rnn(words(ids[:60]))[0][:, -1]), y[:60]).backward()
""", cures=(("ids[:60]", "ids[29::30].repeat(15, 1)"), ("[0][:, -1]", "[0].amax(1)"))),
    # packed and unpacked: the last place holds zeros
    Mistake("padding_read_last", 13, """from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.gru, self.fc = nn.Embedding(9, 4, padding_idx=0), nn.GRU(4, 5, batch_first=True), nn.Linear(5, 2)
    def forward(self, ids, lengths):
        packed = pack_padded_sequence(self.emb(ids), lengths, batch_first=True, enforce_sorted=False)
        packed, h = self.gru(packed)
        out, _ = pad_packed_sequence(packed, batch_first=True)
        return self.fc(out[:, -1, :])
ids, lengths = torch.tensor([[3, 1, 0, 0], [1, 5, 6, 2], [7, 2, 4, 0]]), torch.tensor([2, 4, 3])
net = Reader()
F.cross_entropy(net(ids, lengths), torch.tensor([0, 1, 1])).backward()
""", cures=(("out[:, -1, :]", "out[torch.arange(3), lengths - 1]"), ("out[:, -1, :]", "h[-1]"), ("out[:, -1, :]", "out[:, 0, :]"), ("out[:, -1, :]", "out.amax(1)"), ("([2, 4, 3])", "([4, 4, 4])")), says={"ended": "2", "rows": "3", "name": "out"}),
    Mistake("padding_read_last", 8, """from torch.nn.utils import rnn
seqs, y = [torch.randn(3, 4), torch.randn(2, 4), torch.randn(2, 4)], torch.randn(3, 1)
lstm, fc = nn.LSTM(4, 5), nn.Linear(5, 1)
out = rnn.pad_packed_sequence(lstm(rnn.pack_sequence(seqs))[0])[0]
F.mse_loss(fc(out[-1]), y).backward()
""", cures=(("out[-1]", "out[[2, 1, 1], [0, 1, 2]]"), ("out[-1]", "out.sum(0)"))),
    Mistake("padding_averaged", 12, """from torch.nn.utils.rnn import pad_sequence
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.mix, self.out = nn.Embedding(9, 4, padding_idx=0), nn.Linear(4, 5), nn.Linear(5, 2)
    def forward(self, ids):
        h = torch.tanh(self.mix(self.emb(ids)))
        kept = (ids != 0).unsqueeze(-1).float()
        return self.out(h.mean(dim=1))
words, y = [torch.randint(1, 9, (count,)) for count in (3, 2, 4, 6, 5, 2)], torch.tensor([0, 1, 1])
net = Encoder(); opt = torch.optim.Adam(net.parameters())
for at in (0, 3):
    loss = F.cross_entropy(net(pad_sequence(words[at : at + 3], batch_first=True)), y)
""" + STEP, cures=(("h.mean(dim=1)", "(h * kept).sum(dim=1) / kept.sum(dim=1)"), ("h.mean(dim=1)", "(h * kept).mean(dim=1)"), ("h.mean(dim=1)", "h.mean(dim=1) * ids.shape[1] / kept.sum(1)"), ("(3, 2, 4, 6, 5, 2)", "(3, 2, 4, 4, 3, 2)"), ("(3, 2, 4, 6, 5, 2)", "(4, 4, 4, 6, 6, 6)"), ("torch.tanh(self.mix(self.emb(ids)))", "self.emb(ids) @ torch.eye(4, 5)"))),
    Mistake("padding_averaged", 9, """batches = [torch.tensor([[3, 1, 4], [1, 5, 0]]), torch.tensor([[3, 1, 4, 1, 5], [2, 6, 0, 0, 0]])]
emb, rnn, out = nn.Embedding(9, 4, padding_idx=0), nn.GRU(4, 5, batch_first=True), nn.Linear(5, 2)
opt = torch.optim.Adam([*emb.parameters(), *rnn.parameters(), *out.parameters()])
for x in batches:
    h, _ = rnn(emb(x))
    average = torch.mean(h, 1)
    loss = F.cross_entropy(out(average), torch.tensor([0, 1]))
""" + STEP, cures=(("torch.mean(h, 1)", "torch.amax(h, 1)"), ("[1, 5, 0]", "[1, 5, 2]"), ("torch.mean(h, 1)", "torch.where((x > 0)[..., None], h, 0.0).sum(1)"))),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    # every item begins at what all have in common
    ("state_dropped", LSTM.replace("NEXT", "a, b").replace("out(h)", "out(a + b)")),
    ("state_dropped", LSTM.replace("NEXT", "h, new").replace("    loss =", "    c = new.clamp(-1, 1)\n    loss =")),
)  # fmt: skip
