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
    Mistake("state_detached_each_step", 7, CELL.replace("STATE", "h.detach()"), says={"count": "6"}),
    Mistake("state_detached_each_step", 7, """cell, out = nn.RNNCell(2, 3), nn.Linear(3, 1)
h, made = torch.zeros(4, 3), []
for x in torch.randn(5, 4, 2):
    h = h.detach()
    h = cell(x, h)
    made.append(out(h))
torch.stack(made).pow(2).sum().backward()
""", says={"count": "5"}),
    Mistake("state_detached_each_step", 7, """cell, head = nn.GRUCell(3, 4), nn.Linear(4, 1)
x, state = torch.randn(6, 2, 3), torch.zeros(2, 4)
for step in x:
    state = state.detach()
    state = cell(step, state)
head(state).pow(2).mean().backward()
""", cure=(("    state = state.detach()\n", ""),)),
    Mistake("state_detached_each_step", 9, """to_h, to_y = nn.Linear(5, 3), nn.Linear(3, 2)
opt = torch.optim.Adam([*to_h.parameters(), *to_y.parameters()], lr=0.01)
for i in range(2):
    x, h = torch.randn(4, 6, 2), torch.zeros(4, 3)
    for t in range(6):
        h = h.detach()
        h = torch.tanh(to_h(torch.cat((x[:, t], h), 1)))
    loss = F.cross_entropy(to_y(h), (x[:, 0, 0] > 0).long())
    opt.zero_grad(); loss.backward(); opt.step()
""", says={"count": "6"}, cure=(("        h = h.detach()\n", ""),)),
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
    Mistake("backward_read_at_end", 10, """class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.read, self.say = nn.GRU(3, 4, bidirectional=True), nn.Linear(8, 2)
    def forward(self, x):
        steps, ends = self.read(x)
        return self.say(steps[-1])
net = Tagger()
opt = torch.optim.Adam(net.parameters())
for _ in range(3):
    loss = F.cross_entropy(net(torch.randn(9, 5, 3)), torch.randint(0, 2, (5,)))
    opt.zero_grad(); loss.backward(); opt.step()
""", cure=(
        ("self.say(steps[-1])", "self.say(torch.cat((ends[0], ends[1]), 1))"),
    )),
    Mistake("backward_read_at_end", 7, """rnn, head = nn.LSTM(2, 6, num_layers=2, batch_first=True, bidirectional=True), nn.Linear(12, 1)
waves = torch.randn(4, 7, 2)
for _ in range(3):
    value = head(rnn(waves)[0][:, 6])
    F.mse_loss(value.squeeze(1), waves.sum((1, 2))).backward()
""", cure=(
        ("head(rnn(waves)[0][:, 6])", "head(rnn(waves)[0].mean(1))"),
    )),
    Mistake("backward_read_at_end", 13, """from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
rnn, head = nn.GRU(2, 6, bidirectional=True, batch_first=True), nn.Linear(12, 1)
lengths, waves = torch.tensor([3, 7, 5, 4]), torch.randn(4, 7, 2)
opt = torch.optim.Adam([*rnn.parameters(), *head.parameters()])
for _ in range(3):
    packed = pack_padded_sequence(waves, lengths, batch_first=True, enforce_sorted=False)
    steps, ends = rnn(packed)
    steps, sizes = pad_packed_sequence(steps, batch_first=True)
    at = lengths.view(-1, 1, 1).expand(4, 1, 12) - 1
    last = steps.gather(1, at).squeeze(1)
    loss = (head(last).squeeze(1) - waves.sum((1, 2))).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", cure=(
        ("steps.gather(1, at).squeeze(1)", "torch.cat((ends[0], ends[1]), 1)"),
    )),
    Mistake("backward_read_at_end", 10, """from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
rnn, head = nn.LSTM(2, 6, bidirectional=True), nn.Linear(12, 1)
waves = torch.randn(7, 4, 2)
for _ in range(3):
    packed = pack_padded_sequence(waves, [7, 5, 4, 3])
    steps, sizes = pad_packed_sequence(rnn(packed)[0])
    last = steps[sizes - 1, torch.arange(4)]
    F.mse_loss(head(last).squeeze(1), waves.sum((0, 2))).backward()
""", cure=(
        ("steps[sizes - 1, torch.arange(4)]", "steps.amax(0)"),
    )),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    # every item begins at what all have in common
    ("state_dropped", LSTM.replace("NEXT", "a, b").replace("out(h)", "out(a + b)")),
    ("state_dropped", LSTM.replace("NEXT", "h, new").replace("    loss =", "    c = new.clamp(-1, 1)\n    loss =")),
    ("state_detached_each_step", CELL.replace("STATE", "h")),
    ("state_detached_each_step", """f, x = nn.Linear(3, 3), torch.randn(4, 3)
opt = torch.optim.SGD(f.parameters(), lr=0.1)
for i in range(3):
    z = torch.zeros(4, 3)
    for k in range(9):
        z = torch.tanh(f(z) + x).detach()
    opt.zero_grad(); (torch.tanh(f(z) + x) - 0.5).pow(2).mean().backward(); opt.step()
"""),
    ("state_detached_each_step", """f = nn.Linear(4, 3)
opt = torch.optim.SGD(f.parameters(), lr=0.1)
for i in range(2):
    x, z, loss = torch.randn(4, 6, 1), torch.zeros(4, 3), 0
    for t in range(6):
        z = torch.tanh(f(torch.cat((x[:, t], z.detach()), 1)))
        loss = loss + z.pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""),
    ("state_detached_each_step", CELL.replace("STATE", "h.detach()") .replace("    loss = loss + out(h).pow(2).mean()\nloss.backward()", "    out(h).pow(2).mean().backward()")),
    ("backward_read_at_end", """rnn = nn.LSTM(2, 6, batch_first=True, bidirectional=True)
waves = torch.randn(4, 7, 2)
out = rnn(waves)[0]
both = torch.cat((out[:, -1, :6], out[:, 0, 6:]), 1)
last = rnn(waves)[0][:, -1]
one = rnn(waves[:, :1])[0][:, -1]
way = nn.LSTM(2, 6, batch_first=True)(waves)[0][:, -1]
(both.sum() + last[:, :6].sum() + one.sum() + way.sum()).backward()
"""),
    ("backward_read_at_end", """from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
rnn, sizes = nn.LSTM(2, 6, batch_first=True, bidirectional=True), torch.tensor([7, 5, 4])
def read(waves):
    packed = pack_padded_sequence(waves, sizes, batch_first=True)
    steps, (ends, _) = rnn(packed)
    return pad_packed_sequence(steps, batch_first=True)[0], ends
at = (sizes - 1).view(-1, 1, 1).expand(3, 1, 12)
halves = read(torch.randn(3, 7, 2))[0].gather(1, at).view(3, 2, 6)[:, 0]
half = read(torch.randn(3, 7, 2))[0].gather(1, at[..., :6])
masked = read(torch.randn(3, 7, 2))[0][torch.arange(3), torch.tensor([2, 4, 1])]
steps, ends = read(torch.randn(3, 7, 2))
beside = torch.cat((steps[torch.arange(3), sizes - 1], ends[-1]), 1)
(halves.sum() + half.sum() + masked.sum() + beside.sum()).backward()
"""),
)  # fmt: skip
