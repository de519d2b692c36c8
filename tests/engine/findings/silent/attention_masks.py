"""What `engine/findings/attention_masks.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import STEP, Mistake

CAUSAL = """qkv = nn.Linear(4, 12)
T = 5
q, k, v = qkv(torch.randn(2, T, 4)).chunk(3, dim=-1)
seen = torch.tril(torch.ones(T, T))
scores = (q @ k.transpose(1, 2)).masked_fill(seen == SIGN, -1e9)
(scores.softmax(-1) @ v).sum().backward()
"""

PADDED = """layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
words = nn.Embedding(9, 4)
tokens = torch.randint(1, 9, (3, 5))
tokens[:, 3:] = 0
hidden = tokens SIGN 0
layer(words(tokens), src_key_padding_mask=hidden).sum().backward()
"""


MISTAKES: tuple[Mistake, ...] = (
    Mistake("mask_added", 9, PADDED.replace("tokens SIGN 0", "(tokens == 0).float()"), says={"mask": "hidden", "shape": "3×5", "is_shown": "0"}, cure=((".float()", ""),)),
    Mistake("mask_added", 6, """q = nn.Linear(4, 4)(torch.randn(2, 1, 6, 4))
seen = torch.ones(6, 6).tril()
F.scaled_dot_product_attention(q, q, q, attn_mask=seen).sum().backward()
""", says={"mask": "seen", "is_shown": "1"}, cure=((".tril()", ".tril().bool()"),)),
    Mistake("mask_added", 6, """att, x = nn.MultiheadAttention(4, 2), torch.randn(20, 2, 4)
hidden = (torch.arange(20)[:, None] < torch.arange(20)).float()
att(x, x, x, attn_mask=hidden)[0].sum().backward()
""", says={"mask": "hidden"}, cure=((".float()", ""),)),
    Mistake("past_hidden", 8, CAUSAL.replace("SIGN", "1"), says={"shape": "5×5"}),
    Mistake("past_hidden", 11, """class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k = nn.Linear(3, 3), nn.Linear(3, 3)
    def forward(self, x):
        scores = self.q(x) @ self.k(x).mT
        hidden = torch.ones(4, 4).tril().bool()
        return F.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1) @ x
Head()(torch.randn(2, 4, 3))[:, :3].sum().backward()
""", says={"shape": "4×4"}),
    Mistake("past_hidden", 6, """att, x = nn.MultiheadAttention(4, 2), torch.randn(5, 2, 4)
seen = torch.tril(torch.ones(5, 5)).bool()
out, _ = att(x, x, x, attn_mask=seen)
out[:4].sum().backward()
""", says={"shape": "5×5"}),
    Mistake("past_hidden", 6, """proj, T = nn.Linear(4, 4), 6
q, future = proj(torch.randn(2, T, 4)), torch.ones(T, T).triu(1).bool()
out = F.scaled_dot_product_attention(q, q, q, attn_mask=future)
out[:, :-1].sum().backward()
"""),
    # a mask to be added, asked where it is 0, and scores that are divided only after it
    Mistake("past_hidden", 8, """proj, T = nn.Linear(4, 4), 5
q = proj(torch.randn(2, T, 4))
later = torch.triu(torch.full((T, T), float("-inf")), diagonal=1)
scores = q @ q.mT
scores = scores.masked_fill(later == 0, -1e20)
(F.softmax(scores / 2, dim=-1) @ q).sum().backward()
""", cure=(("later == 0", "later != 0"),)),
    Mistake("past_hidden", 8, CAUSAL.replace("SIGN", "1").replace("T = 5", "T = 20"), says={"shape": "20×20"}),
    Mistake("past_hidden", 8, """proj, T = nn.Linear(4, 4), 20
q = proj(torch.randn(2, T, 4))
later = torch.triu(torch.ones(T, T) * float("-inf"), diagonal=1)
scores = q @ q.mT
scores = scores.masked_fill(later == 0, -1e20)
(F.softmax(scores / 2, dim=-1) @ q).sum().backward()
""", cure=(("later == 0", "later != 0"),)),
    Mistake("padding_mask_turned_round", 16, f"""class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(9, 8, padding_idx=0)
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.head = nn.Linear(8, 2)
    def mask(self, lengths, n):
        return torch.arange(n)[None] < lengths[:, None]
    def forward(self, ids, lengths):
        x = self.emb(ids)
        mask = self.mask(lengths, ids.shape[1])
        x = self.enc(x, src_key_padding_mask=mask)
        return self.head(x[:, 0])
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    lengths, ids = torch.randint(3, 9, (30,)), torch.randint(1, 9, (30, 10))
    ids[torch.arange(10)[None] >= lengths[:, None]] = 0
    loss = F.cross_entropy(net(ids, lengths), torch.randint(0, 2, (30,)))
{STEP}""", cure=(("mask=mask", "mask=~mask"),)),
    Mistake("padding_mask_turned_round", 9, f"""emb, attn, head = nn.Embedding(9, 8), nn.MultiheadAttention(8, 2, batch_first=True), nn.Linear(8, 2)
ids = torch.tensor([[3, 4, 5, 1], [6, 2, 1, 1]])
opt = torch.optim.SGD([*emb.parameters(), *attn.parameters(), *head.parameters()], lr=0.1)
for _ in range(3):
    x = emb(ids)
    h, _ = attn(x, x, x, key_padding_mask=(ids != 1))
    loss = F.cross_entropy(head(h.mean(1)), torch.tensor([0, 1]))
{STEP}""", cure=(("!= 1", "== 1"),)),
    Mistake("padding_mask_turned_round", 10, f"""emb, attn, head = nn.Embedding(9, 8), nn.MultiheadAttention(8, 2, batch_first=True), nn.Linear(8, 2)
ids, first = torch.tensor([[3, 4, 5, 1], [6, 2, 1, 1]]), torch.zeros(2, 1, 8)
opt = torch.optim.SGD([*emb.parameters(), *attn.parameters(), *head.parameters()], lr=0.1)
for _ in range(3):
    x = torch.cat([first, emb(ids)], 1)
    mask = torch.cat([torch.ones(2, 1, dtype=torch.bool), ids != 1], 1)
    h, _ = attn(x, x, x, key_padding_mask=mask)
    loss = F.cross_entropy(head(h[:, 0]), torch.tensor([0, 1]))
{STEP}""", cure=(("torch.ones", "torch.zeros"), ("!= 1", "== 1"))),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("mask_added", PADDED.replace("tokens SIGN 0", "(tokens == 0).float() * -1e9")),
    ("mask_added", """q = nn.Linear(4, 4)(torch.randn(2, 1, 6, 4))
seen = torch.ones(6, 6).tril().bool()
F.scaled_dot_product_attention(q, q, q, attn_mask=seen).sum().backward(retain_graph=True)
near = (torch.arange(6)[:, None] - torch.arange(6)).abs() / -5
F.scaled_dot_product_attention(q, q, q, attn_mask=near).sum().backward()
"""),
    ("past_hidden", CAUSAL.replace("SIGN", "0")),
    ("past_hidden", CAUSAL.replace("SIGN", "0").replace("T = 5", "T = 20")),
    ("past_hidden", CAUSAL.replace("SIGN", "1").replace("T = 5", "T = 20").replace("torch.tril(torch.ones(T, T))", "torch.triu(torch.ones(T, T), 1)")),
    ("past_hidden", """proj, T = nn.Linear(4, 4), 6
q, seen = proj(torch.randn(2, T, 4)), torch.ones(T, T).tril().bool()
F.scaled_dot_product_attention(q, q, q, attn_mask=seen).sum().backward()
"""),
)  # fmt: skip
