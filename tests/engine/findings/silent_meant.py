"""Masks, axes, copies and samples that are not what was meant; and right programs that look like them."""

from tests.engine.findings.silent import Case

LINEAR = """model = nn.Linear(4, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(6, 4), torch.randint(0, 2, (6,))
"""
"""Lines 4 to 6."""
STEP = "F.cross_entropy(model(x), y).backward(); opt.step(); opt.zero_grad()\n"
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
POOLED = """score, fc = nn.Linear(4, 1), nn.Linear(4, 2)
x = torch.randn(3, 5, 4)
w = torch.softmax(score(x), dim=DIM)
fc((w * x).sum(1)).sum().backward()
"""
SIMILAR = """enc = nn.Linear(4, 3)
z = F.normalize(enc(torch.randn(6, 4)), dim=DIM)
F.cross_entropy(z @ z.t(), torch.arange(6)).backward()
"""
TAGGED = """rnn, fc = nn.LSTM(3, 4), nn.Linear(4, 2)
x, tags = torch.randn(3, 5, 3), torch.randint(0, 2, (3, 5))
scores = fc(rnn(x.transpose(0, 1))[0])
F.cross_entropy(SCORES.reshape(-1, 2), tags.view(-1)).backward()
"""
CELL = """cell, out = nn.GRUCell(2, 3), nn.Linear(3, 1)
h, loss = torch.zeros(4, 3), 0
for x in torch.randn(6, 4, 2):
    h = cell(x, STATE)
    loss = loss + out(h).pow(2).mean()
loss.backward()
"""
REGRESSION = """net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1), nn.Sigmoid())
x, price = torch.randn(6, 3), torch.rand(6, 1) SCALE
F.mse_loss(net(x), price).backward()
"""
DRAWN = """enc, dec = nn.Linear(4, 2), nn.Linear(2, 4)
x = torch.randn(6, 4)
mean = enc(x)
q = torch.distributions.Normal(mean, 1.0)
z = q.SAMPLE()
loss = F.mse_loss(dec(z), x) + mean.pow(2).mean()
loss.backward()
"""
CUBE = """class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3
    @staticmethod
    def backward(ctx, coming):
        x, = ctx.saved_tensors
        return SLOPE
x = torch.randn(4, requires_grad=True)
(Cube.apply(x) * 2).sum().backward()
"""
OVERLAP = """net = nn.Linear(3, 1)
x, y = torch.randn(8, 3), torch.randint(0, 2, (8, 1)).float()
def overlap(p):
    hit = PREDICTED
    return 1 - (hit * y).sum() / (hit + y).sum()
scores = net(x)
loss = F.binary_cross_entropy_with_logits(scores, y) + overlap(scores.sigmoid())
loss.backward()
"""
CLOSURE = """w = torch.randn(3, requires_grad=True)
opt = torch.optim.LBFGS([w], max_iter=4)
def closure():
    ZERO
    loss = ((w - 2) ** 2).sum()
    loss.backward()
    return loss
opt.step(closure)
"""
TWO_OPTIMIZERS = """G, D = nn.Linear(2, 3), nn.Linear(3, 1)
of_g = torch.optim.SGD(OF_G.parameters(), lr=0.1)
of_d = torch.optim.SGD(D.parameters(), lr=0.1)
for i in range(3):
    fake = G(torch.randn(4, 2))
    of_d.zero_grad(); D(fake.detach()).mean().backward(); of_d.step()
    of_g.zero_grad(); (-D(fake).mean()).backward(); of_g.step()
"""
BOOTSTRAP = """net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
s, s2, r = torch.randn(6, 3), torch.randn(6, 3), torch.randn(6)
q = net(s)[:, 0]
aim = r + 0.9 * FUTURE
F.smooth_l1_loss(q, aim).backward()
"""
ACTOR_CRITIC = """pi, v = nn.Linear(3, 2), nn.Linear(3, 1)
s, ret = torch.randn(6, 3), torch.randn(6)
d = torch.distributions.Categorical(logits=pi(s))
adv = ret - v(s).squeeze(1)
(-(d.log_prob(d.sample()) * ADV).mean() + adv.pow(2).mean()).backward()
"""
SAMPLED = """from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler
x, labels = torch.randn(40, 2), torch.cat([torch.zeros(36), torch.ones(4)]).long()
weights = 1 / torch.bincount(labels).float()
sampler = WeightedRandomSampler(WEIGHTS, 40)
for xb, yb in DataLoader(TensorDataset(x, labels), batch_size=10, sampler=sampler): print(yb.sum())
"""

TRIGGERS: tuple[Case, ...] = (
    Case("copied_onto_itself", 7, {"first": "target", "second": "model", "is_model": "1"}, LINEAR + f"""target = model
for i in range(3):
    {STEP}    target.load_state_dict(model.state_dict())
"""),
    Case("copied_onto_itself", 11, {"first": "a", "second": "p"}, LINEAR + f"""average = list(model.parameters())
for i in range(3):
    {STEP}    with torch.no_grad():
        for a, p in zip(average, model.parameters()): a.mul_(0.9).add_(p, alpha=0.1)
"""),
    Case("past_hidden", 8, {"shape": "5×5"}, CAUSAL.replace("SIGN", "1")),
    Case("words_hidden", 8, {"hidden": "True", "pad": "0"}, PADDED.replace("SIGN", "!=")),
    Case("weights_along_the_wrong_axis", 6, {"dim": "0", "other": "1"}, POOLED.replace("DIM", "0")),
    Case("state_detached_each_step", 7, {"count": "6"}, CELL.replace("STATE", "h.detach()")),
    Case("targets_out_of_reach", 6, {"op": "sigmoid"}, REGRESSION.replace("SCALE", "+ 200")),
    Case("sample_without_gradient", 8, {"leaves": "enc.weight, enc.bias"}, DRAWN.replace("SAMPLE", "sample")),
    Case("backward_ignores_gradient", 12, {"function": "Cube", "given": "coming"}, CUBE.replace("SLOPE", "3 * x ** 2")),
    Case("term_of_choices", 7, {"op": ">"}, OVERLAP.replace("PREDICTED", "(p > 0.5).float()")),
    Case("closure_adds_up", 9, {"names": "w"}, CLOSURE.replace("ZERO", "pass")),
    Case("past_hidden", 11, {"shape": "4×4"}, """class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k = nn.Linear(3, 3), nn.Linear(3, 3)
    def forward(self, x):
        scores = self.q(x) @ self.k(x).mT
        hidden = torch.ones(4, 4).tril().bool()
        return F.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1) @ x
Head()(torch.randn(2, 4, 3))[:, :3].sum().backward()
"""),
    Case("past_hidden", 6, {"shape": "5×5"}, """att, x = nn.MultiheadAttention(4, 2), torch.randn(5, 2, 4)
seen = torch.tril(torch.ones(5, 5)).bool()
out, _ = att(x, x, x, attn_mask=seen)
out[:4].sum().backward()
"""),
    Case("past_hidden", 6, {}, """proj, T = nn.Linear(4, 4), 6
q, future = proj(torch.randn(2, T, 4)), torch.ones(T, T).triu(1).bool()
out = F.scaled_dot_product_attention(q, q, q, attn_mask=future)
out[:, :-1].sum().backward()
"""),
    Case("words_hidden", 7, {"right": "tokens == PAD", "pad": "PAD"}, """PAD = 0
tokens, words = torch.tensor([[3, 4, 0, 0], [5, 1, 2, 0]]), nn.Embedding(6, 4)
h, att = words(tokens), nn.MultiheadAttention(4, 2, batch_first=True)
att(h, h, h, key_padding_mask=tokens != PAD)[0].sum().backward()
"""),
    Case("weights_along_the_wrong_axis", 8, {"dim": "1", "other": "0"}, """class Pool(nn.Module):
    def __init__(self): super().__init__(); self.score = nn.Linear(4, 1)
    def forward(self, x):  # (time, batch, features)
        scores = self.score(x)
        w = F.softmax(scores, 1)
        return torch.sum(w * x, 0)
Pool()(torch.randn(5, 3, 4)).pow(2).sum().backward()
"""),
    Case("state_detached_each_step", 7, {"count": "5"}, """cell, out = nn.RNNCell(2, 3), nn.Linear(3, 1)
h, made = torch.zeros(4, 3), []
for x in torch.randn(5, 4, 2):
    h = h.detach()
    h = cell(x, h)
    made.append(out(h))
torch.stack(made).pow(2).sum().backward()
"""),
    Case("targets_out_of_reach", 6, {"op": "relu"}, """net = nn.Linear(3, 1)
def predict(x):
    return F.relu(net(x)).squeeze(1)
x, depth = torch.randn(5, 3), -torch.rand(5) - 1
loss = ((predict(x) - depth) ** 2).mean()
loss.backward()
"""),
    Case("sample_without_gradient", 10, {}, """class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.dec = nn.Linear(4, 4), nn.Linear(2, 4)
    def forward(self, x):
        mean, spread = self.enc(x).chunk(2, 1)
        z = torch.distributions.Normal(mean, spread.exp()).sample()
        return F.mse_loss(self.dec(z), x) + (mean ** 2).mean() - spread.mean()
VAE()(torch.randn(5, 4)).backward()
"""),
    Case("backward_ignores_gradient", 11, {"function": "Scale"}, """class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        return x * k
    @staticmethod
    def backward(ctx, grad):
        return torch.full((3,), ctx.k), None
x = torch.randn(3, requires_grad=True)
Scale.apply(x, 2.0).pow(2).sum().backward()
"""),
    Case("term_of_choices", 6, {"op": "argmax"}, """net = nn.Linear(3, 2)
x, y = torch.randn(8, 3), torch.randint(0, 2, (8,))
wrong = lambda out: (out.argmax(1) != y).float().mean()
out = net(x)
loss = F.cross_entropy(out, y) + wrong(out)
loss.backward()
"""),
    Case("closure_adds_up", 10, {"names": "fit.weight, fit.bias"}, """fit = nn.Linear(2, 1)
x, y = torch.randn(9, 2), torch.randn(9, 1)
solver = torch.optim.LBFGS(fit.parameters())
def evaluate():
    loss = F.mse_loss(fit(x), y)
    print(loss.item())
    loss.backward()
    return loss
for i in range(2): solver.step(evaluate)
"""),
    Case("optimizer_of_another_model", 8, {"optimizer": "actor_opt", "model": "actor"}, """actor, critic = nn.Linear(2, 1), nn.Linear(3, 1)
s = torch.randn(4, 2)
opts = dict(lr=0.01)
critic_opt = torch.optim.Adam(critic.parameters(), **opts)
actor_opt = torch.optim.Adam(critic.parameters(), **opts)
for i in range(3):
    a = actor(s)
    critic_opt.zero_grad(); F.mse_loss(critic(torch.cat([s, a.detach()], 1)), s[:, :1]).backward(); critic_opt.step()
    actor_opt.zero_grad(); (-critic(torch.cat([s, a], 1)).mean()).backward(); actor_opt.step()
"""),
    Case("target_learns", 8, {"model": "net", "target": "aim"}, BOOTSTRAP.replace("FUTURE", "net(s2).amax(1)")),
    Case("target_learns", 9, {"model": "value"}, """value = nn.Linear(3, 1)
def loss_of(s, r, s2, done, gamma=0.99):
    now = value(s).squeeze(1)
    later = value(s2).squeeze(1)
    goal = r + gamma * later * (1 - done)
    return (goal - now).pow(2).mean()
loss_of(torch.randn(4, 3), torch.ones(4), torch.randn(4, 3), torch.zeros(4)).backward()
"""),
    Case("advantage_learns", 8, {"advantage": "adv", "leaves": "v.weight, v.bias"}, ACTOR_CRITIC.replace("ADV", "adv")),
    Case("advantage_learns", 10, {}, """pi, baseline = nn.Linear(3, 2), nn.Linear(3, 1)
s, returns = torch.randn(5, 3), torch.randn(5)
dist = torch.distributions.Normal(pi(s)[:, 0], 1.0)
action = dist.sample()
lp = dist.log_prob(action)
b = baseline(s)[:, 0]
loss = -(lp * (returns - b)).sum()
loss.backward()
"""),
    Case("advantage_learns", 15, {"advantage": "adv", "leaves": "critic.weight, critic.bias"}, """def gae(rewards, values):
    adv, last = torch.zeros_like(rewards), 0.0
    for t in reversed(range(len(rewards) - 1)):
        last = rewards[t] + 0.99 * values[t + 1] - values[t] + 0.9 * last
        adv[t] = last
    return adv
actor, critic = nn.Linear(3, 2), nn.Linear(3, 1)
s, rewards = torch.randn(4, 3), torch.randn(4)
dist = torch.distributions.Categorical(logits=actor(s))
action, values = dist.sample(), critic(s)[:, 0]
adv = gae(rewards, values)
loss = -(dist.log_prob(action) * adv).mean() + (rewards - values).pow(2).mean()
loss.backward()
"""),
    Case("optimizer_of_another_model", 5, {"optimizer": "of_g", "model": "G"}, TWO_OPTIMIZERS.replace("OF_G", "D")),
)  # fmt: skip

NEAR_MISSES: tuple[tuple[str, str], ...] = (
    ("copied_onto_itself", "import copy\n" + LINEAR + "import copy\n" f"target = copy.deepcopy(model)\n{STEP}target.load_state_dict(model.state_dict())\n"),
    ("copied_onto_itself", LINEAR + STEP + "with torch.no_grad():\n    for p in model.parameters(): p.add_(p, alpha=-0.01)\n"),
    ("past_hidden", CAUSAL.replace("SIGN", "0")),
    ("past_hidden", """proj, T = nn.Linear(4, 4), 6
q, seen = proj(torch.randn(2, T, 4)), torch.ones(T, T).tril().bool()
F.scaled_dot_product_attention(q, q, q, attn_mask=seen).sum().backward()
"""),
    ("words_hidden", PADDED.replace("SIGN", "==")),
    ("words_hidden", PADDED.replace("tokens SIGN 0", "(tokens != 0).long() != 1")),
    ("words_hidden", PADDED.replace("tokens SIGN 0", "tokens != 0").replace("=hidden", "=~hidden")),
    ("weights_along_the_wrong_axis", POOLED.replace("DIM", "1")),
    ("state_detached_each_step", CELL.replace("STATE", "h")),
    ("state_detached_each_step", CELL.replace("STATE", "h.detach()") .replace("    loss = loss + out(h).pow(2).mean()\nloss.backward()", "    out(h).pow(2).mean().backward()")),
    ("targets_out_of_reach", REGRESSION.replace("SCALE", "* 0.9")),
    ("targets_out_of_reach", REGRESSION.replace("SCALE", "+ 200").replace("net(x)", "net(x) * 300")),
    ("sample_without_gradient", DRAWN.replace("SAMPLE", "rsample")),
    ("sample_without_gradient", DRAWN.replace("SAMPLE", "sample").replace("F.mse_loss(dec(z), x)", "-q.log_prob(z).mean()")),
    ("backward_ignores_gradient", CUBE.replace("SLOPE", "coming * 3 * x ** 2")),
    ("backward_ignores_gradient", CUBE.replace("SLOPE", "3 * x ** 2").replace("x ** 3", "(x ** 3).sum()").replace("(Cube.apply(x) * 2).sum()", "Cube.apply(x)")),
    ("term_of_choices", OVERLAP.replace("PREDICTED", "p")),
    ("closure_adds_up", CLOSURE.replace("ZERO", "opt.zero_grad()")),
    ("target_learns", BOOTSTRAP.replace("FUTURE", "net(s2).amax(1).detach()")),
    ("target_learns", BOOTSTRAP.replace("FUTURE", "q")),
    ("target_learns", BOOTSTRAP.replace("r + 0.9 * FUTURE", "net(s2)[:, 0]")),
    ("advantage_learns", ACTOR_CRITIC.replace("ADV", "adv.detach()")),
    ("advantage_learns", """mean, gate = nn.Linear(3, 2), nn.Linear(3, 2)
x, y = torch.randn(5, 3), torch.randn(5, 1)
scores = gate(x)
share = (scores - scores.max(1, keepdim=True).values).exp()
fit = torch.distributions.Normal(mean(x), 1.0).log_prob(y)
(-(share / share.sum(1, keepdim=True) * fit).sum(1).mean()).backward()
"""),
    ("optimizer_of_another_model", TWO_OPTIMIZERS.replace("OF_G", "G")),
    ("evaluated_in_train", """G, D = nn.Sequential(nn.Linear(2, 8), nn.Dropout(0.5), nn.Linear(8, 2)), nn.Linear(2, 1)
opt = torch.optim.SGD(G.parameters(), lr=0.1)
x = torch.randn(8, 2)
for i in range(3):
    fake = G(x)
    (F.l1_loss(fake, -x) - D(fake).mean()).backward()
    opt.step(); opt.zero_grad()
    with torch.no_grad():
        print(G(x[:2]))
"""),
    ("dead_relu", """net = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 2))
for p in net.parameters(): nn.init.zeros_(p)
net(torch.randn(8, 4)).pow(2).sum().backward()
"""),
)  # fmt: skip
