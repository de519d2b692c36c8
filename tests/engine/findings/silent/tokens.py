"""What `engine/findings/tokens.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import STEP, Mistake

MODEL = """class GPT(nn.Module):
    def __init__(self, vocab=9, d=8):
        super().__init__()
        self.tok, self.place = nn.Embedding(vocab, d), nn.Parameter(torch.randn(6, d))
        layer = nn.TransformerEncoderLayer(d, 2, 8, dropout=0.0, batch_first=True)
        self.body, self.head = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False), nn.Linear(d, vocab)
    def forward(self, ids, mask=None):
        return self.head(self.body(self.tok(ids) + self.place[:ids.size(1)], mask=mask))
gpt = GPT()
opt = torch.optim.AdamW(gpt.parameters(), lr=1e-3)
future = nn.Transformer.generate_square_subsequent_mask(6)
"""
"""Lines 4 to 14."""

HEAD_OF_OWN = """class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(9, 8)
        self.q, self.k, self.v, self.out = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 9)
    def forward(self, ids):
        x = self.tok(ids)
        scores = self.q(x) @ self.k(x).transpose(1, 2) / 8 ** 0.5
        return self.out(scores.softmax(-1) @ self.v(x))
def batch(data, i):
    x = torch.stack([data[j:j + 6] for j in i])
    y = torch.stack([data[j + 1:j + 7] for j in i])
    return x, y
net, data = Head(), torch.randint(9, (40,))
x, y = batch(data, [0, 9, 20, 30])
F.cross_entropy(net(x).view(-1, 9), y.view(-1)).backward()
"""


CAUSAL = """tok, qkv, out = nn.Embedding(9, 8), nn.Linear(8, 24), nn.Linear(8, 9)
ids, mask = torch.randint(0, 9, (4, 7)), torch.ones(6, 6).tril()
x = tok(ids[:, :-1])
q, k, v = qkv(x).chunk(3, dim=-1)
ATTEND
F.cross_entropy(out(x + seen).flatten(0, 1), ids[:, 1:].flatten()).backward()
"""

MISTAKES: tuple[Mistake, ...] = (
    Mistake("input_as_target", 9, """table, rnn, head = nn.Embedding(9, 4), nn.GRU(4, 6, batch_first=True), nn.Linear(6, 9)
opt = torch.optim.Adam([*table.parameters(), *rnn.parameters(), *head.parameters()])
tokens = torch.randint(0, 9, (3, 7))
for _ in range(2):
    scores = head(rnn(table(tokens))[0])
    loss = F.cross_entropy(scores.flatten(0, 1), tokens.flatten())
""" + STEP, cure=(("(scores.flatten(0, 1), tokens", "(scores[:, :-1].flatten(0, 1), tokens[:, 1:]"),)),
    Mistake("input_as_target", 12, """class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.att, self.out = nn.Embedding(9, 4), nn.MultiheadAttention(4, 2, batch_first=True), nn.Linear(4, 9)
    def forward(self, ids):
        h = self.tok(ids)
        return self.out(h + self.att(h, h, h, need_weights=False)[0])
lm, ids, hidden = LM(), torch.randint(0, 9, (3, 7)), torch.rand(3, 7) < 0.3
F.cross_entropy(lm(ids).view(-1, 9), ids.view(-1)).backward()
""", cure=(("lm(ids)", "lm(ids.masked_fill(hidden, 0))"),)),
    Mistake("input_as_target", 12, """notes = torch.arange(90) * 7 % 11
table, rnn, head = nn.Embedding(11, 4), nn.LSTM(4, 6, batch_first=True), nn.Linear(6, 11)
opt = torch.optim.Adam([*table.parameters(), *rnn.parameters(), *head.parameters()])
for _ in range(2):
    begins = torch.randint(0, 60, (20,))
    heard = torch.stack([notes[b : b + 16] for b in begins])
    next_ones = torch.stack([notes[b : b + 16] for b in begins])
    scores = head(rnn(table(heard))[0])
    F.cross_entropy(scores.transpose(1, 2), next_ones).backward()
    opt.step(); opt.zero_grad()
""", cure=(
        ("next_ones = torch.stack([notes[b : b", "next_ones = torch.stack([notes[b + 1 : b + 1"),
    )),
    Mistake("input_as_target", 19, HEAD_OF_OWN.replace("data[j + 1:j + 7]", "data[j:j + 6]"), cures=(
        ("data[j:j + 6] for j in i])\n    return", "data[j + 1:j + 7] for j in i])\n    return"),
        ("scores.softmax(-1) @ self.v(x)", "self.v(x)"),
    )),
    Mistake("answer_seen", 11, MODEL + """ids = torch.randint(0, 9, (4, 7))
loss = F.cross_entropy(gpt(ids[:, :-1]).reshape(-1, 9), ids[:, 1:].reshape(-1))
loss.backward(); opt.step()
""", cures=(("gpt(ids[:, :-1])", "gpt(ids[:, :-1], future)"), ("ids[:, 1:].reshape", "torch.randint(0, 9, (4, 6)).reshape"))),
    Mistake("answer_seen", 12, HEAD_OF_OWN, cures=(
        ("scores.softmax", "scores.masked_fill(torch.ones(6, 6).triu(1).bool(), float('-inf')).softmax"),
        ("data[j + 1:j + 7] for j in i])", "data[j + 1:j + 7] for j in i]) % 8 // 2"),
    )),
    Mistake("answer_seen", 10, """tok, qkv, out = nn.Embedding(9, 8), nn.Linear(8, 24), nn.Linear(8, 9)
ids = torch.randint(0, 9, (4, 7))
x = tok(ids)
q, k, v = qkv(x).chunk(3, dim=-1)
def attend(q, k, v):
    q, k, v = (t.view(4, 7, 2, 4).transpose(1, 2) for t in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(4, 7, 8)
scores = out(x + attend(q, k, v))
F.cross_entropy(scores[:, :-1].reshape(-1, 9), ids[:, 1:].reshape(-1)).backward()
""", cure=(("attention(q, k, v)", "attention(q, k, v, is_causal=True)"),), mends=True),
    Mistake("answer_seen", 8, CAUSAL.replace("ATTEND", "seen = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)"), cures=(("attn_mask=mask", "attn_mask=mask.bool()"), ("attn_mask=mask", "is_causal=True"))),
    Mistake("answer_seen", 8, CAUSAL.replace("ATTEND", "seen = (q @ k.transpose(1, 2) + mask).softmax(-1) @ v"), cure=(("+ mask)", "+ mask.log())"),)),
    # the mask went to the encoder
    Mistake("answer_seen", 8, """ids = torch.randint(2, 9, (4, 7))
table, head = nn.Embedding(9, 4), nn.Linear(4, 9)
body = nn.Transformer(4, 2, 1, 1, 8, batch_first=True)
later = body.generate_square_subsequent_mask(6)
scores = head(body(table(ids.flip(1)[:, :6]), table(ids[:, :-1]), later))
F.cross_entropy(scores.transpose(1, 2), ids[:, 1:]).backward()
""", cure=((", later)", ", tgt_mask=later)"),), says={"is_beside": "1", "other": "body.encoder.layers.0.self_attn"}),
    # it went to what looks at the encoder's places
    Mistake("answer_seen", 8, """ids = torch.randint(2, 9, (4, 7))
table, head = nn.Embedding(9, 4), nn.Linear(4, 9)
layer = nn.TransformerDecoderLayer(4, 2, 8, batch_first=True)
later = torch.triu(torch.ones(6, 6), 1).bool()
scores = head(layer(table(ids[:, :-1]), table(ids.flip(1)[:, :6]), memory_mask=later))
F.cross_entropy(scores.transpose(1, 2), ids[:, 1:]).backward()
""", cure=(("memory_mask", "tgt_mask"),), says={"is_beside": "1", "other": "layer.multihead_attn"}),
    Mistake("padding_of_lookup_scored", 9, """from torch.nn.utils.rnn import pad_sequence
lines = pad_sequence([torch.arange(2, 6 + i % 9) for i in range(30)], batch_first=True, padding_value=0)
table, rnn, head = nn.Embedding(16, 4, padding_idx=0), nn.GRU(4, 6, batch_first=True), nn.Linear(6, 16)
begin = torch.ones(30, 1, dtype=torch.long)
told = torch.cat([begin, lines[:, :-1]], dim=1)
F.cross_entropy(head(rnn(table(told))[0]).transpose(1, 2), lines).backward()
""", cure=(
        ("transpose(1, 2), lines)", "transpose(1, 2), lines, ignore_index=0)"),
    ), mends=True),
    Mistake("padding_of_lookup_scored", 9, """ids = torch.tensor([[3, 4, 5, 6, 7, 8], [2, 9, 0, 0, 0, 0]])
emb, rnn, out = nn.Embedding(10, 4, padding_idx=0), nn.GRU(4, 8, batch_first=True), nn.Linear(8, 10)
for i in range(2):
    h, _ = rnn(emb(ids[:, :-1]))
    scores = out(h).reshape(-1, 10)
    loss = F.cross_entropy(scores, ids[:, 1:].reshape(-1))
    loss.backward()
""", says={"padding": "0", "filled": "4", "count": "10"}, mends=True),
    Mistake("padding_of_lookup_scored", 9, """ids = torch.randint(1, 10, (40, 20)) * (torch.arange(20) < torch.arange(40)[:, None] % 15 + 4)
emb, rnn, out = nn.Embedding(10, 4, padding_idx=0), nn.GRU(4, 8, batch_first=True), nn.Linear(8, 10)
for i in range(2):
    h, _ = rnn(emb(ids[:, :-1]))
    scores = out(h).reshape(-1, 10)
    loss = F.cross_entropy(scores, ids[:, 1:].reshape(-1))
    loss.backward()
""", says={"padding": "0", "count": "760"}, mends=True),
    Mistake("padding_of_lookup_scored", 12, """rows = torch.tensor([[3, 4, 5, 6, 7], [2, 8, 9, 9, 9]])
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.rnn, self.out = nn.Embedding(10, 4, padding_idx=9), nn.LSTM(4, 8, batch_first=True), nn.Linear(8, 10)
    def forward(self, ids):
        return self.out(self.rnn(self.emb(ids))[0])
net = Tagger()
F.cross_entropy(net(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten()).backward()
""", says={"padding": "9", "filled": "3", "count": "8"}, mends=True),
    Mistake("answer_read_backward", 8, """series = torch.sin(torch.arange(60.0))
x = torch.stack([series[i : i + 8] for i in range(40)]).unsqueeze(-1)
y = torch.stack([series[i + 1 : i + 9] for i in range(40)]).unsqueeze(-1)
rnn, fc = nn.GRU(1, 4, batch_first=True, bidirectional=True), nn.Linear(8, 1)
h, _ = rnn(x)
F.mse_loss(fc(h), y).backward()
""", cures=(("i + 1 : i + 9", "i : i + 8"), ("bidirectional=True), nn.Linear(8, 1)", "bidirectional=False), nn.Linear(4, 1)"))),
    Mistake("answer_read_backward", 6, """ids = torch.randint(2, 30, (6, 9))
emb, rnn, out = nn.Embedding(30, 4), nn.LSTM(4, 8, batch_first=True, bidirectional=True), nn.Linear(16, 30)
scores = out(rnn(emb(ids[:, :-1]))[0])
F.cross_entropy(scores.reshape(-1, 30), ids[:, 1:].reshape(-1)).backward()
"""),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    # a mask says which places count
    ("padding_of_lookup_scored", """ids = torch.tensor([[3, 4, 5, 6, 7, 8], [2, 9, 0, 0, 0, 0]])
emb, rnn, out = nn.Embedding(10, 4, padding_idx=0), nn.GRU(4, 8, batch_first=True), nn.Linear(8, 10)
scores, wanted = out(rnn(emb(ids[:, :-1]))[0]), ids[:, 1:]
mask = wanted != 0
each = F.cross_entropy(scores.transpose(1, 2), wanted, reduction="none")
((each * mask).sum() / mask.sum()).backward()
"""),
    ("padding_of_lookup_scored", """ids = torch.tensor([[3, 4, 5, 6, 7, 8], [2, 9, 0, 0, 0, 0]])
emb, rnn, out = nn.Embedding(10, 4, padding_idx=0), nn.GRU(4, 8, batch_first=True), nn.Linear(8, 10)
scores, wanted = out(rnn(emb(ids[:, :-1]))[0]).reshape(-1, 10), ids[:, 1:].reshape(-1)
each = F.cross_entropy(scores, wanted, reduction="none").view(2, 5)
each[ids[:, 1:] != 0].mean().backward()
"""),
    ("answer_seen", """ids = torch.randint(2, 9, (20, 16))
table, head = nn.Embedding(9, 4), nn.Linear(4, 9)
layer = nn.TransformerDecoderLayer(4, 2, 8, batch_first=True)
told = torch.cat((torch.ones(20, 1, dtype=torch.long), ids[:, :-1]), 1)
later = torch.triu(torch.ones(16, 16), 1).bool()
scores = head(layer(table(told), table(ids), tgt_mask=later))
F.cross_entropy(scores.transpose(1, 2), ids).backward()
table, enc, dec = nn.Embedding(9, 4), nn.GRU(4, 8, batch_first=True), nn.GRU(4, 8, batch_first=True)
out = nn.Linear(8, 9)(dec(table(told), enc(table(ids))[1])[0])
F.cross_entropy(out.transpose(1, 2), ids).backward()
"""),
    ("input_as_target", """ids = torch.randint(2, 9, (20, 16))
table, enc, dec = nn.Embedding(9, 4), nn.GRU(4, 8, batch_first=True), nn.GRU(4, 8, batch_first=True)
told = torch.cat((torch.ones(20, 1, dtype=torch.long), ids[:, :-1]), 1)
out = nn.Linear(8, 9)(dec(table(told), enc(table(ids))[1])[0])
F.cross_entropy(out.transpose(1, 2), ids).backward()
begins = torch.randint(0, 200, (20,))
text = ids.flatten()
rows = torch.stack([text[b : b + 16] for b in begins])
blank = torch.stack([torch.where(torch.rand(16) < 0.2, 0, text[b : b + 16]) for b in begins])
out = nn.Linear(8, 9)(enc(table(blank))[0])
F.cross_entropy(out.transpose(1, 2), rows).backward()
"""),
    ("padding_of_lookup_scored", """ids = torch.tensor([[3, 4, 5, 6, 7, 8], [2, 9, 0, 0, 0, 0]])
emb, rnn, out = nn.Embedding(10, 4, padding_idx=0), nn.GRU(4, 8, batch_first=True), nn.Linear(8, 10)
h, _ = rnn(emb(ids[:, :-1]))
F.cross_entropy(out(h).reshape(-1, 10), ids[:, 1:].reshape(-1), ignore_index=0).backward()
"""),
    # what is read both ways is not what is predicted
    ("answer_read_backward", """ids, words = torch.randint(2, 30, (6, 8)), torch.randint(2, 30, (6, 9))
emb, rnn, out = nn.Embedding(30, 4), nn.LSTM(4, 8, batch_first=True, bidirectional=True), nn.Linear(16, 30)
scores = out(rnn(emb(ids))[0])
F.cross_entropy(scores.reshape(-1, 30), words[:, 1:].reshape(-1)).backward()
"""),
)  # fmt: skip
