"""Typical programs that are right; beside each name the notes that are true of it all the same."""

HEAD = "import torch, copy, math\nfrom torch import nn\nfrom torch.nn import functional as F\n"

HEALTHY: dict[str, tuple[str, frozenset[str]]] = {
    "mlp": ("""
x, y = torch.randn(32, 4), torch.randint(3, (32,))
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    opt.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    opt.step()
with torch.no_grad():
    accuracy = (model(x).argmax(1) == y).float().mean()
print(accuracy.item())
""", frozenset()),
    "cnn": ("""
model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.1), nn.Linear(36, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(2):
    model.train()
    for _ in range(2):
        x, y = torch.randn(4, 1, 8, 8), torch.randint(2, (4,))
        opt.zero_grad()
        F.cross_entropy(model(x), y).backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        correct = (model(torch.randn(4, 1, 8, 8)).argmax(1) == 0).sum().item()
""", frozenset()),
    "rnn by hand": ("""
emb, cell, out = nn.Embedding(10, 6), nn.RNNCell(6, 8), nn.Linear(8, 10)
params = [*emb.parameters(), *cell.parameters(), *out.parameters()]
opt = torch.optim.Adam(params)
tokens = torch.randint(10, (3, 12))
for step in range(2):
    h, loss = torch.zeros(3, 8), 0.0
    for t in range(11):
        h = cell(emb(tokens[:, t]), h)
        loss = loss + F.cross_entropy(out(h), tokens[:, t + 1])
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(params, 1.0)
    opt.step()
""", frozenset()),
    "lstm": ("""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 5, batch_first=True)
        self.head = nn.Linear(5, 1)
    def forward(self, x):
        out, _ = self.lstm(x)
        return self.head(out[:, -1]).squeeze(1)
model = Model()
opt = torch.optim.RMSprop(model.parameters())
for _ in range(3):
    opt.zero_grad()
    F.mse_loss(model(torch.randn(4, 7, 3)), torch.randn(4)).backward()
    opt.step()
""", frozenset()),
    "gan": ("""
G, D = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2)), nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
bce = nn.BCEWithLogitsLoss()
for _ in range(3):
    real, z = torch.randn(4, 2), torch.randn(4, 2)
    fake = G(z)
    opt_d.zero_grad()
    loss_d = bce(D(real), torch.ones(4, 1)) + bce(D(fake.detach()), torch.zeros(4, 1))
    loss_d.backward()
    opt_d.step()
    opt_g.zero_grad()
    loss_g = bce(D(fake), torch.ones(4, 1))
    loss_g.backward()
    opt_g.step()
""", frozenset()),
    "wgan with penalty": ("""
D = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.Adam(D.parameters())
for _ in range(2):
    real, fake = torch.randn(4, 2), torch.randn(4, 2)
    eps = torch.rand(4, 1)
    mixed = (eps * real + (1 - eps) * fake).requires_grad_()
    (grad,) = torch.autograd.grad(D(mixed).sum(), mixed, create_graph=True)
    loss = D(fake).mean() - D(real).mean() + 10 * ((grad.norm(dim=1) - 1) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""", frozenset()),
    "reinforce": ("""
policy = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
for episode in range(2):
    log_probs, rewards = [], []
    state = torch.randn(4)
    for t in range(6):
        dist = torch.distributions.Categorical(logits=policy(state))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        rewards.append(float(action))
        state = torch.randn(4)
    returns, g = [], 0.0
    for r in reversed(rewards):
        g = r + 0.99 * g
        returns.insert(0, g)
    returns = torch.tensor(returns)
    loss = -(torch.stack(log_probs) * returns).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
""", frozenset()),
    "dqn with target network": ("""
q = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
target = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters())
for step in range(4):
    s, a, r, s2 = torch.randn(6, 4), torch.randint(2, (6, 1)), torch.randn(6), torch.randn(6, 4)
    value = q(s).gather(1, a).squeeze(1)
    with torch.no_grad():
        goal = r + 0.9 * target(s2).max(1).values
    loss = F.smooth_l1_loss(value, goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 2:
        target.load_state_dict(q.state_dict())
""", frozenset()),
    "actor critic": ("""
body, pi, v = nn.Linear(4, 8), nn.Linear(8, 2), nn.Linear(8, 1)
opt = torch.optim.Adam([*body.parameters(), *pi.parameters(), *v.parameters()])
for _ in range(2):
    h = torch.tanh(body(torch.randn(5, 4)))
    dist = torch.distributions.Categorical(logits=pi(h))
    a = dist.sample()
    advantage = torch.randn(5) - v(h).squeeze(-1)
    loss = (-dist.log_prob(a) * advantage.detach() + advantage.pow(2) - 0.01 * dist.entropy()).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""", frozenset()),
    "ppo clipping": ("""
pi = nn.Linear(3, 2)
opt = torch.optim.Adam(pi.parameters())
s, a, adv = torch.randn(6, 3), torch.randint(2, (6,)), torch.randn(6)
with torch.no_grad():
    old = F.log_softmax(pi(s), dim=1).gather(1, a[:, None]).squeeze(1)
for _ in range(3):
    new = F.log_softmax(pi(s), dim=1).gather(1, a[:, None]).squeeze(1)
    ratio = (new - old).exp()
    loss = -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""", frozenset()),
    "maml": ("""
w = torch.randn(3, 1, requires_grad=True)
meta = torch.optim.SGD([w], lr=0.1)
for _ in range(2):
    meta.zero_grad()
    total = 0.0
    for task in range(2):
        x, y = torch.randn(5, 3), torch.randn(5, 1)
        (g,) = torch.autograd.grad(((x @ w - y) ** 2).mean(), w, create_graph=True)
        fast = w - 0.1 * g
        total = total + ((x @ fast - y) ** 2).mean()
    total.backward()
    meta.step()
""", frozenset()),
    "ema": ("""
model = nn.Linear(3, 1)
ema = copy.deepcopy(model).requires_grad_(False)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad()
    F.mse_loss(model(torch.randn(4, 3)), torch.randn(4, 1)).backward()
    opt.step()
    with torch.no_grad():
        for a, b in zip(ema.parameters(), model.parameters()):
            a.mul_(0.9).add_(b, alpha=0.1)
""", frozenset()),
    "mean teacher": ("""
student = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.2), nn.Linear(4, 2))
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.requires_grad_(False)
opt = torch.optim.SGD(student.parameters(), lr=0.1)
for _ in range(3):
    x = torch.randn(4, 3)
    with torch.no_grad():
        goal = teacher(x).softmax(1)
    loss = F.kl_div(F.log_softmax(student(x), 1), goal, reduction="batchmean")
    opt.zero_grad()
    loss.backward()
    opt.step()
    for a, b in zip(teacher.parameters(), student.parameters()):
        a.data.mul_(0.99).add_(b.data, alpha=0.01)
""", frozenset()),
    "micro-batches": ("""
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 3), torch.randn(16, 1)
opt.zero_grad()
for i, (a, b) in enumerate(zip(x.split(4), y.split(4))):
    (F.mse_loss(model(a), b) / 2).backward()
    if (i + 1) % 2 == 0:
        opt.step()
        opt.zero_grad()
""", frozenset()),
    "lbfgs": ("""
w = torch.tensor([3.0, -2.0], requires_grad=True)
opt = torch.optim.LBFGS([w], max_iter=4)
def closure():
    opt.zero_grad()
    loss = ((w - 1) ** 2).sum()
    loss.backward()
    return loss
for _ in range(2):
    opt.step(closure)
""", frozenset()),
    "mixed loss": ("""
enc, dec, cls = nn.Linear(4, 3), nn.Linear(3, 4), nn.Linear(3, 2)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters(), *cls.parameters()])
for _ in range(2):
    x, y = torch.randn(6, 4), torch.randint(2, (6,))
    h = torch.relu(enc(x))
    loss = F.mse_loss(dec(h), x) + 0.5 * F.cross_entropy(cls(h), y) + 1e-3 * h.abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""", frozenset()),
    "two backward calls on purpose": ("""
enc, a, b = nn.Linear(4, 3), nn.Linear(3, 1), nn.Linear(3, 1)
opt = torch.optim.SGD([*enc.parameters(), *a.parameters(), *b.parameters()], lr=0.1)
for _ in range(2):
    opt.zero_grad()
    h = enc(torch.randn(5, 4))
    a(h).mean().backward(retain_graph=True)
    b(h).mean().backward()
    opt.step()
""", frozenset({"gradient_added_up"})),
    "frozen backbone": ("""
backbone = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU())
for p in backbone.parameters():
    p.requires_grad = False
backbone.eval()
head = nn.Linear(8, 2)
opt = torch.optim.SGD(head.parameters(), lr=0.1)
for _ in range(3):
    with torch.no_grad():
        h = backbone(torch.randn(6, 4))
    opt.zero_grad()
    F.cross_entropy(head(h), torch.randint(2, (6,))).backward()
    opt.step()
""", frozenset()),
    "frozen batch norm": ("""
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
model[1].eval()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad()
    F.cross_entropy(model(torch.randn(6, 4)), torch.randint(2, (6,))).backward()
    opt.step()
""", frozenset()),
    "head replaced, then the optimizer": ("""
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 10))
model[2] = nn.Linear(8, 2)
opt = torch.optim.AdamW([{"params": model[0].parameters(), "lr": 1e-4}, {"params": model[2].parameters()}], lr=1e-2)
for _ in range(2):
    opt.zero_grad()
    F.cross_entropy(model(torch.randn(6, 4)), torch.randint(2, (6,))).backward()
    opt.step()
""", frozenset()),
    "weight tying": ("""
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(9, 5)
        self.out = nn.Linear(5, 9, bias=False)
        self.out.weight = self.emb.weight
    def forward(self, t):
        return self.out(torch.tanh(self.emb(t)))
model = Tied()
opt = torch.optim.Adam(model.parameters())
for _ in range(2):
    t = torch.randint(9, (7,))
    opt.zero_grad()
    F.cross_entropy(model(t), t.roll(1)).backward()
    opt.step()
""", frozenset()),
    "straight-through": ("""
w = torch.randn(4, 3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(2):
    binary = w + (w.sign() - w).detach()
    opt.zero_grad()
    (torch.randn(5, 4) @ binary).pow(2).mean().backward()
    opt.step()
""", frozenset()),
    "vector quantisation": ("""
codebook = nn.Parameter(torch.randn(6, 3))
enc = nn.Linear(4, 3)
opt = torch.optim.Adam([codebook, *enc.parameters()])
for _ in range(2):
    z = enc(torch.randn(5, 4))
    index = torch.cdist(z, codebook).argmin(1)
    e = codebook[index]
    q = z + (e - z).detach()
    loss = q.pow(2).mean() + F.mse_loss(e, z.detach()) + 0.25 * F.mse_loss(z, e.detach())
    opt.zero_grad()
    loss.backward()
    opt.step()
""", frozenset()),
    "value clipping": ("""
w = torch.randn(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.5)
for _ in range(3):
    opt.zero_grad()
    (w ** 2).sum().backward()
    nn.utils.clip_grad_value_([w], 0.1)
    opt.step()
    with torch.no_grad():
        w.clamp_(-1, 1)
""", frozenset()),
    "transformer": ("""
class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.n1, self.att = nn.LayerNorm(d), nn.MultiheadAttention(d, 2, batch_first=True)
        self.n2, self.ff = nn.LayerNorm(d), nn.Sequential(nn.Linear(d, 16), nn.GELU(), nn.Linear(16, d))
    def forward(self, x):
        n = x.size(1)
        mask = torch.triu(torch.full((n, n), float("-inf")), 1)
        h = self.n1(x)
        x = x + self.att(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.ff(self.n2(x))
emb, blocks, out = nn.Embedding(11, 8), nn.Sequential(*[Block(8) for _ in range(4)]), nn.Linear(8, 11)
opt = torch.optim.AdamW([*emb.parameters(), *blocks.parameters(), *out.parameters()])
for _ in range(2):
    t = torch.randint(11, (2, 6))
    loss = F.cross_entropy(out(blocks(emb(t[:, :-1]))).flatten(0, 1), t[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
""", frozenset()),
    "masked attention": ("""
q = torch.randn(2, 4, 3, requires_grad=True)
keep = torch.tril(torch.ones(4, 4)).bool()
s = (q @ q.transpose(1, 2) / math.sqrt(3)).masked_fill(~keep, float("-inf"))
(s.softmax(-1) @ q).pow(2).mean().backward()
""", frozenset()),
    "vae": ("""
enc, dec = nn.Linear(6, 4), nn.Linear(2, 6)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()])
for _ in range(2):
    x = torch.rand(5, 6)
    mu, logvar = enc(x).chunk(2, dim=1)
    z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
    loss = F.binary_cross_entropy_with_logits(dec(z), x, reduction="sum") - 0.5 * (1 + logvar - mu ** 2 - logvar.exp()).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
""", frozenset()),
    "binary classifier": ("""
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1), nn.Sigmoid())
opt = torch.optim.Adam(model.parameters())
criterion = nn.BCELoss()
losses = []
for _ in range(3):
    opt.zero_grad()
    loss = criterion(model(torch.randn(8, 3)), torch.randint(2, (8, 1)).float())
    loss.backward()
    opt.step()
    losses.append(loss.item())
print(sum(losses) / len(losses))
""", frozenset()),
    "nll with log softmax": ("""
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 5), nn.LogSoftmax(dim=1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
sched = torch.optim.lr_scheduler.StepLR(opt, 1)
for _ in range(2):
    opt.zero_grad()
    nn.NLLLoss()(model(torch.randn(8, 3)), torch.randint(5, (8,))).backward()
    opt.step()
    sched.step()
""", frozenset()),
    "distillation": ("""
teacher, student = nn.Linear(4, 3), nn.Linear(4, 3)
opt = torch.optim.SGD(student.parameters(), lr=0.1)
for _ in range(2):
    x, y = torch.randn(6, 4), torch.randint(3, (6,))
    with torch.no_grad():
        soft = F.softmax(teacher(x) / 2, dim=1)
    out = student(x)
    loss = F.cross_entropy(out, y) + F.kl_div(F.log_softmax(out / 2, dim=1), soft, reduction="batchmean")
    opt.zero_grad()
    loss.backward()
    opt.step()
""", frozenset()),
    "linear regression by hand": ("""
x = torch.linspace(0, 1, 20).unsqueeze(1)
y = 3 * x + 1
w, b = torch.zeros(1, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
for _ in range(5):
    loss = ((x @ w + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in (w, b):
            p -= 0.1 * p.grad
            p.grad.zero_()
""", frozenset()),
    "softmax regression by hand": ("""
W = torch.zeros(4, 3, requires_grad=True)
x, y = torch.randn(10, 4), torch.randint(3, (10,))
for _ in range(3):
    z = x @ W
    loss = -(z - z.logsumexp(1, keepdim=True))[torch.arange(10), y].mean()
    loss.backward()
    W.data -= 0.5 * W.grad
    W.grad = None
""", frozenset()),
    "adversarial example": ("""
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).eval()
x = torch.randn(3, 4, requires_grad=True)
F.cross_entropy(model(x), torch.tensor([0, 1, 0])).backward()
bad = (x + 0.1 * x.grad.sign()).detach()
with torch.no_grad():
    print(model(bad).argmax(1))
""", frozenset()),
    "style by optimising the input": ("""
net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Conv2d(2, 2, 3)).eval()
for p in net.parameters():
    p.requires_grad_(False)
image = torch.rand(1, 1, 8, 8, requires_grad=True)
opt = torch.optim.Adam([image], lr=0.1)
goal = net(torch.rand(1, 1, 8, 8))
for _ in range(3):
    opt.zero_grad()
    F.mse_loss(net(image), goal).backward()
    opt.step()
    image.data.clamp_(0, 1)
""", frozenset()),
    "contrastive": ("""
enc = nn.Linear(6, 4)
opt = torch.optim.Adam(enc.parameters())
for _ in range(2):
    x = torch.randn(5, 6)
    a, b = F.normalize(enc(x), dim=1), F.normalize(enc(x + 0.1 * torch.randn_like(x)), dim=1)
    loss = F.cross_entropy(a @ b.t() / 0.1, torch.arange(5))
    opt.zero_grad()
    loss.backward()
    opt.step()
""", frozenset()),
    "siamese triplet": ("""
enc = nn.Linear(3, 4)
a, p, n = (enc(torch.randn(5, 3)) for _ in range(3))
loss = F.relu((a - p).pow(2).sum(1) - (a - n).pow(2).sum(1) + 1).mean()
loss.backward()
""", frozenset()),
    "pairwise ranking": ("""
score = nn.Linear(3, 1)
x, rank = torch.randn(6, 3), torch.arange(6.0)
s = score(x).squeeze(1)
wanted = (rank[:, None] > rank[None, :]).float()
loss = (wanted * F.softplus(-(s[:, None] - s[None, :]))).mean()
loss.backward()
""", frozenset()),
    "neural ode by euler": ("""
f = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
z = torch.randn(3, 2)
for _ in range(40):
    z = z + 0.05 * f(z)
z.pow(2).mean().backward()
""", frozenset()),
    "physics informed": ("""
u = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(u.parameters())
for _ in range(2):
    t = torch.rand(6, 1, requires_grad=True)
    y = u(t)
    (dy,) = torch.autograd.grad(y.sum(), t, create_graph=True)
    loss = (dy + y).pow(2).mean() + (u(torch.zeros(1, 1)) - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""", frozenset()),
    "dropout as uncertainty": ("""
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 1))
opt = torch.optim.Adam(model.parameters())
F.mse_loss(model(torch.randn(9, 3)), torch.randn(9, 1)).backward()
opt.step()
model.eval()
for layer in model.modules():
    if isinstance(layer, nn.Dropout):
        layer.train()
with torch.no_grad():
    draws = torch.stack([model(torch.ones(2, 3)) for _ in range(5)])
print(draws.std(0))
""", frozenset()),
    "lora": ("""
base = nn.Linear(6, 6)
base.requires_grad_(False)
A, B = nn.Parameter(torch.randn(2, 6)), nn.Parameter(torch.zeros(6, 2))
opt = torch.optim.AdamW([A, B], lr=1e-2)
for _ in range(3):
    x = torch.randn(4, 6)
    out = base(x) + x @ A.t() @ B.t()
    opt.zero_grad()
    F.mse_loss(out, torch.randn(4, 6)).backward()
    opt.step()
""", frozenset()),
    "resnet": ("""
class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c1, self.c2, self.b1, self.b2 = nn.Conv2d(c, c, 3, padding=1), nn.Conv2d(c, c, 3, padding=1), nn.BatchNorm2d(c), nn.BatchNorm2d(c)
        nn.init.zeros_(self.b2.weight)
    def forward(self, x):
        return F.relu(x + self.b2(self.c2(F.relu(self.b1(self.c1(x))))))
model = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), *[Block(4) for _ in range(4)], nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    F.cross_entropy(model(torch.randn(4, 3, 6, 6)), torch.randint(2, (4,))).backward()
    opt.step()
""", frozenset()),
    "sharpness-aware": ("""
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(6, 3), torch.randn(6, 1)
for _ in range(2):
    F.mse_loss(model(x), y).backward()
    with torch.no_grad():
        moves = [0.05 * p.grad / (p.grad.norm() + 1e-12) for p in model.parameters()]
        for p, e in zip(model.parameters(), moves):
            p.add_(e)
    opt.zero_grad()
    F.mse_loss(model(x), y).backward()
    with torch.no_grad():
        for p, e in zip(model.parameters(), moves):
            p.sub_(e)
    opt.step()
    opt.zero_grad()
""", frozenset()),
    "truncated backpropagation": ("""
cell, head = nn.GRUCell(2, 4), nn.Linear(4, 1)
opt = torch.optim.Adam([*cell.parameters(), *head.parameters()])
h = torch.zeros(3, 4)
for chunk in range(3):
    h = h.detach()
    loss = 0.0
    for t in range(4):
        h = cell(torch.randn(3, 2), h)
        loss = loss + head(h).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""", frozenset()),
    "early stopping": ("""
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
opt = torch.optim.Adam(model.parameters(), lr=0.1)
x, y = torch.randn(16, 3), torch.randn(16, 1)
best, patience = math.inf, 0
for epoch in range(6):
    model.train()
    opt.zero_grad()
    loss = F.mse_loss(model(x[:12]), y[:12])
    loss.backward()
    opt.step()
    model.eval()
    with torch.no_grad():
        valid = F.mse_loss(model(x[12:]), y[12:]).item()
    best, patience = (valid, 0) if valid < best else (best, patience + 1)
    if patience > 2:
        break
""", frozenset()),
    "expectation of a mixture": ("""
logits, mu = torch.zeros(3, requires_grad=True), torch.randn(3, requires_grad=True)
opt = torch.optim.Adam([logits, mu], lr=0.1)
data = torch.randn(20)
for _ in range(4):
    parts = torch.log_softmax(logits, 0) - 0.5 * (data[:, None] - mu) ** 2
    loss = -torch.logsumexp(parts, 1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""", frozenset()),
    "matrix factorisation": ("""
U, V = torch.randn(5, 2, requires_grad=True), torch.randn(4, 2, requires_grad=True)
R, seen = torch.randn(5, 4), torch.rand(5, 4) > 0.3
opt = torch.optim.SGD([U, V], lr=0.05)
for _ in range(4):
    loss = ((U @ V.T - R)[seen] ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""", frozenset()),
    "inside a function": ("""
def main():
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    opt = torch.optim.Adam(model.parameters())
    for _ in range(3):
        x, y = torch.randn(8, 4), torch.randn(8, 1)
        opt.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        opt.step()
    return loss.item()
print(main())
""", frozenset()),
    "steps by a helper": ("""
G, D = nn.Linear(2, 2), nn.Linear(2, 1)
def step(opt, loss):
    opt.zero_grad()
    loss.backward()
    opt.step()
og, od = torch.optim.SGD(G.parameters(), lr=.1), torch.optim.SGD(D.parameters(), lr=.1)
for i in range(3):
    step(od, D(G(torch.randn(3, 2)).detach()).mean() - D(torch.randn(3, 2)).mean())
    step(og, -D(G(torch.randn(3, 2))).mean())
""", frozenset()),
    "two optimizers in turn": ("""
class Trainer:
    def __init__(self):
        self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 1)
        self.oa = torch.optim.Adam(self.a.parameters())
        self.ob = torch.optim.Adam(self.b.parameters())
    def fit(self):
        for i in range(4):
            loss = self.b(torch.tanh(self.a(torch.randn(5, 3)))).pow(2).mean()
            self.oa.zero_grad(); self.ob.zero_grad()
            loss.backward()
            if i % 2 == 0:
                self.oa.step()
            else:
                self.ob.step()
Trainer().fit()
""", frozenset()),
    "gradients set by hand": ("""
w = torch.randn(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for i in range(3):
    loss = (w ** 2).sum()
    (g,) = torch.autograd.grad(loss, w)
    opt.zero_grad()
    w.grad = g
    opt.step()
""", frozenset()),
    "a sum over elements": ("""
s = 0
x = torch.randn(4, requires_grad=True)
for v in x:
    s = s + v * v
s.backward()
""", frozenset()),
    "deep mlp": ("""
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
opt = torch.optim.Adam(net.parameters())
for i in range(10):
    opt.zero_grad()
    F.cross_entropy(net(torch.randn(32, 10)), torch.randint(2, (32,))).backward()
    opt.step()
""", frozenset()),
    "fit a sine": ("""
# optimizer state
x = torch.linspace(-3, 3, 200).unsqueeze(1)
y = torch.sin(x)
net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for e in range(30):
    p = net(x)
    loss = ((p - y) ** 2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", frozenset()),
    "states kept for the loss": ("""
h = torch.randn(2, 3)
W = nn.Linear(3, 3)
hs = []
for t in range(15):
    h = torch.tanh(W(h))
    hs.append(h)
loss = torch.stack(hs).pow(2).mean()
loss.backward()
""", frozenset()),
    "rosenbrock": ("""
# Adam on rosenbrock
p = torch.tensor([-1.5, 2.0], requires_grad=True)
opt = torch.optim.Adam([p], lr=0.1)
path = []
for i in range(20):
    opt.zero_grad()
    f = (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2
    f.backward()
    opt.step()
    path.append(p.detach().clone())
print(torch.stack(path)[-1])
""", frozenset()),
    "checkpointing": ("""
# one step of checkpoint
from torch.utils.checkpoint import checkpoint
lin = nn.Linear(3, 3)
x = torch.randn(2, 3, requires_grad=True)
y = checkpoint(lambda t: torch.relu(lin(t)), x, use_reentrant=False)
y.sum().backward()
""", frozenset()),
    "custom function": ("""
class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y
x = torch.randn(3, requires_grad=True)
Exp.apply(x).sum().backward()
""", frozenset()),
    "jacobian and hessian": ("""
x = torch.randn(3, requires_grad=True)
J = torch.autograd.functional.jacobian(lambda t: t ** 2, x)
H = torch.autograd.functional.hessian(lambda t: (t ** 3).sum(), x)
print(J, H)
""", frozenset()),
    "same graph twice, zeroed": ("""
x = torch.ones(2, 2, requires_grad=True)
z = (x * x).sum()
z.backward(retain_graph=True)
print(x.grad)
x.grad.zero_()
z.backward()
print(x.grad)
""", frozenset()),
    "k-means": ("""
# kmeans
x = torch.randn(20, 2)
c = x[:3].clone()
for i in range(3):
    d = ((x.unsqueeze(1) - c) ** 2).sum(-1)
    a = d.argmin(1)
    c = torch.stack([x[a == k].mean(0) for k in range(3)])
""", frozenset()),
    "embedding": ("""
emb = nn.Embedding(10, 4, padding_idx=0)
lin = nn.Linear(4, 1)
opt = torch.optim.SparseAdam(list(nn.Embedding(10, 4, sparse=True).parameters()))
loss = lin(emb(torch.tensor([[1, 2, 0]])).mean(1)).sum()
loss.backward()
""", frozenset()),
    "parametrised weights": ("""
# spectral norm, weight norm
from torch.nn.utils.parametrizations import spectral_norm, weight_norm
net = nn.Sequential(spectral_norm(nn.Linear(3, 4)), nn.ReLU(), weight_norm(nn.Linear(4, 1)))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(2):
    opt.zero_grad()
    net(torch.randn(5, 3)).pow(2).mean().backward()
    opt.step()
""", frozenset()),
    "functional calls": ("""
# functional_call / vmap
from torch.func import functional_call, grad, vmap
m = nn.Linear(3, 1)
ps = dict(m.named_parameters())
def loss(ps, x, y):
    return ((functional_call(m, ps, (x,)) - y) ** 2).mean()
g = grad(loss)(ps, torch.randn(4, 3), torch.randn(4, 1))
gs = vmap(grad(loss), in_dims=(None, 0, 0))(ps, torch.randn(4, 3), torch.randn(4, 1))
""", frozenset()),
    "weight averaging": ("""
# swa
model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
swa = torch.optim.swa_utils.AveragedModel(model)
for i in range(3):
    opt.zero_grad()
    model(torch.randn(6, 3)).pow(2).mean().backward()
    opt.step()
    swa.update_parameters(model)
torch.optim.swa_utils.update_bn([torch.randn(6, 3)], swa)
""", frozenset()),
    "autocast, clipping, schedule": ("""
# warmup scheduler + clip + amp
model = nn.Linear(3, 1)
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, 0.1, total_steps=4)
for i in range(3):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = F.mse_loss(model(torch.randn(4, 3)), torch.zeros(4, 1))
    opt.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    sched.step()
""", frozenset()),
    "multi-label": ("""
# multi-label with pos_weight
model = nn.Linear(4, 3)
loss = nn.BCEWithLogitsLoss(pos_weight=torch.ones(3))(model(torch.randn(5, 4)), (torch.rand(5, 3) > 0.5).float())
loss.backward()
""", frozenset()),
    "validation kept": ("""
# validation loss in python list of tensors detached
model = nn.Linear(2, 1)
history = []
for i in range(3):
    with torch.no_grad():
        history.append(model(torch.randn(3, 2)).mean())
print(torch.stack(history).mean())
""", frozenset()),
    "language model": ("""
# LSTM language model eval
class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.l, self.o = nn.Embedding(20, 8), nn.LSTM(8, 8, num_layers=2, dropout=0.1, batch_first=True), nn.Linear(8, 20)
    def forward(self, x, s=None):
        h, s = self.l(self.e(x), s)
        return self.o(h), s
m = LM()
opt = torch.optim.Adam(m.parameters())
state = None
for i in range(3):
    x = torch.randint(20, (2, 9))
    out, state = m(x[:, :-1], state)
    state = tuple(s.detach() for s in state)
    loss = F.cross_entropy(out.reshape(-1, 20), x[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
m.eval()
with torch.no_grad():
    t = torch.randint(20, (1, 1))
    for _ in range(3):
        o, s = m(t)
        t = o[:, -1].argmax(-1, keepdim=True)
""", frozenset()),
    "tied autoencoder": ("""
# autoencoder with tied transposed weights
W = nn.Parameter(torch.randn(6, 3) * 0.1)
opt = torch.optim.SGD([W], lr=0.1)
for _ in range(3):
    x = torch.randn(4, 6)
    loss = ((torch.sigmoid(x @ W) @ W.t() - x) ** 2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", frozenset()),
    "logistic regression by hand": ("""
# logistic regression, labels bool
X = torch.randn(30, 2); y = (X[:, 0] > 0).float()
w = torch.zeros(2, requires_grad=True); b = torch.zeros((), requires_grad=True)
for _ in range(20):
    p = torch.sigmoid(X @ w + b)
    loss = F.binary_cross_entropy(p, y)
    loss.backward()
    with torch.no_grad():
        w -= 0.5 * w.grad; b -= 0.5 * b.grad
    w.grad = None; b.grad = None
""", frozenset()),
    "gumbel": ("""
# gumbel, softplus, entropy
z = torch.randn(4, 3, requires_grad=True)
g = F.gumbel_softmax(z, tau=0.5, hard=True)
(g * torch.randn(4, 3)).sum().backward()
""", frozenset()),
    "sort and cumsum": ("""
# quantile + sort + cumsum
x = torch.randn(10, requires_grad=True)
s, i = x.sort()
(s.cumsum(0)[i] * 0.1).sum().backward()
""", frozenset()),
    "data normalised, .data update": ("""
# normalising data with .data and std
data = torch.randn(20, 3) * 4 + 1
data = (data - data.mean(0)) / data.std(0)
model = nn.Linear(3, 1)
loss = model(data).squeeze().pow(2).mean()
loss.backward()
for p in model.parameters():
    p.data -= 0.01 * p.grad
    p.grad.zero_()
""", frozenset()),
    "hinge without errors": ("""
# max-margin with hinge where all inactive
w = torch.tensor([5.0, 5.0], requires_grad=True)
x = torch.tensor([[1., 1.], [2., 1.]])
loss = F.relu(1 - x @ w).sum()
loss.backward()
print(w.grad)
""", frozenset()),
    "shortest paths": ("""
# log barrier stays finite, masks with inf min
d = torch.full((4,), float("inf"))
d[0] = 0.0
for i in range(3):
    d = torch.minimum(d, torch.tensor([0., 1., 2., float("inf")]))
print(d)
""", frozenset()),
    "key padding": ("""
# attention scores with key padding, one head
q = torch.randn(2, 5, 4, requires_grad=True)
pad = torch.tensor([[0, 0, 0, 1, 1], [0, 0, 0, 0, 0]]).bool()
a = (q @ q.transpose(1, 2)).masked_fill(pad[:, None], float("-inf")).softmax(-1)
(a @ q).sum().backward()
""", frozenset()),
    "alternate losses": ("""
# two models, shared optimizer, alternate losses
a, b = nn.Linear(2, 2), nn.Linear(2, 1)
opt = torch.optim.Adam(list(a.parameters()) + list(b.parameters()))
for i in range(4):
    loss = a(torch.randn(3, 2)).pow(2).mean() if i % 2 else b(a(torch.randn(3, 2))).mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", frozenset()),
    "class weights": ("""
# label counts as ints
y = torch.randint(3, (12,))
counts = torch.bincount(y)
w = 1.0 / counts.clamp(min=1).float()
z = torch.randn(12, 3, requires_grad=True)
F.cross_entropy(z, y, weight=w).backward()
""", frozenset()),
    "bytes of an image": ("""
# image bytes
img = torch.randint(0, 256, (3, 4, 4), dtype=torch.uint8)
x = img.float() / 255
back = (x * 255).round().to(torch.uint8)
idx = (torch.rand(5) * 10).long()
""", frozenset()),
    "running average": ("""
# running average
m = nn.BatchNorm1d(3)
for i in range(3):
    m(torch.randn(6, 3))
m.eval()
print(m(torch.randn(2, 3)))
""", frozenset()),
    "no optimizer at all": ("""
# Dropout training without optimizer
net = nn.Sequential(nn.Linear(2, 4), nn.Dropout(), nn.Linear(4, 1))
net(torch.randn(3, 2)).sum().backward()
net.eval()
net(torch.randn(3, 2)).sum().backward()
""", frozenset({"gradient_added_up"})),
    "losses detached": ("""
# backprop twice with accumulate param histories
losses = {"a": [], "b": []}
m = nn.Linear(2, 1)
opt = torch.optim.SGD(m.parameters(), lr=0.1)
for i in range(3):
    l = m(torch.randn(3, 2)).pow(2).mean()
    opt.zero_grad(); l.backward(); opt.step()
    losses["a"].append(float(l)); losses["b"].append(l.detach())
""", frozenset()),
    "derivative of a curve": ("""
x = torch.linspace(0, 6.28, 50, requires_grad=True)
y = torch.sin(x)
y.sum().backward()
print(torch.allclose(x.grad, torch.cos(x)))
""", frozenset()),
    "gradcheck": ("""
# float64 gradcheck
f = nn.Linear(3, 2).double()
x = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
print(torch.autograd.gradcheck(f, x))
""", frozenset()),
    "gradcheck_of_a_function": ("""
def f(x):
    return (x.pow(3) - 2 * x).sum()
x = torch.tensor([1.0, -1.0, 0.5], dtype=torch.float64, requires_grad=True)
print(torch.autograd.gradcheck(f, (x,)))
""", frozenset()),
    "empty_filled_by_scatter": ("""
order = torch.tensor([2, 0, 1])
inverse = torch.empty_like(order).scatter_(0, order, torch.arange(3))
copied = torch.empty(3, 2)
copied.index_copy_(0, order, torch.randn(3, 2))
rnn = nn.LSTM(2, 3, batch_first=True)
packed = nn.utils.rnn.pack_padded_sequence(torch.randn(3, 4, 2), torch.tensor([4, 2, 3]), batch_first=True, enforce_sorted=False)
out, _ = rnn(packed)
(out.data.sum() + copied.sum() + inverse.sum()).backward()
""", frozenset()),
    "numbers_that_only_choose": ("""
x = torch.tensor([1.0, 2.0], requires_grad=True)
s = torch.tensor(2.0, requires_grad=True)
y = x * (2 if s.item() > 1 else 3)
z = x * (5 if s.item() else 3)
w = torch.stack(sorted([x[0] * 1, x[1] * 2], key=lambda t: -t.item()))
best = max((one.exp() for one in x), key=lambda t: t.item())
(y + z + w + best).sum().backward()
print(x.grad)
""", frozenset()),
    "value_lent_and_put_back": ("""
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = (x * x).sum()
kept = x.data.clone()
x.data.mul_(100)
print(x.max())
x.data.copy_(kept)
y.backward()
print(x.grad)
""", frozenset()),
    "trainer in main": ("""
class Net(nn.Module):
    def __init__(self, d_in, d_h, d_out):
        super().__init__()
        self.f1 = nn.Linear(d_in, d_h)
        self.bn = nn.BatchNorm1d(d_h)
        self.f2 = nn.Linear(d_h, d_out)
    def forward(self, x):
        return self.f2(torch.relu(self.bn(self.f1(x))))
def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        acc = (model(x).argmax(dim=1) == y).float().mean().item()
    model.train()
    return acc
def main():
    torch.manual_seed(1)
    x, y = torch.randn(32, 6), torch.randint(4, (32,))
    model = Net(6, 12, 4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=3)
    best, history = 0.0, []
    for epoch in range(3):
        model.train()
        for i in range(0, 32, 16):
            optimizer.zero_grad(set_to_none=True)
            loss = F.cross_entropy(model(x[i:i + 16]), y[i:i + 16])
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            history.append(loss.item())
        scheduler.step()
        best = max(best, evaluate(model, x, y))
    print(best, len(history))
if __name__ == "__main__":
    main()
""", frozenset()),
    "attention in functions": ("""
def attention(q, k, v, mask=None):
    s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        s = s.masked_fill(mask, float('-inf'))
    return s.softmax(dim=-1) @ v
def build(d):
    return nn.ModuleDict({'q': nn.Linear(d, d), 'k': nn.Linear(d, d), 'v': nn.Linear(d, d), 'o': nn.Linear(d, d)})
def train():
    m = build(8)
    opt = torch.optim.Adam(m.parameters(), 1e-3)
    x = torch.randn(2, 5, 8)
    mask = torch.triu(torch.ones(5, 5), 1).bool()
    for _ in range(2):
        y = m['o'](attention(m['q'](x), m['k'](x), m['v'](x), mask))
        loss = F.mse_loss(y, x)
        opt.zero_grad(); loss.backward(); opt.step()
train()
""", frozenset()),
    "character model in class": ("""
class Char(nn.Module):
    def __init__(self, v, h):
        super().__init__()
        self.e = nn.Embedding(v, h); self.r = nn.LSTM(h, h, batch_first=True); self.o = nn.Linear(h, v)
    def forward(self, x, s=None):
        y, s = self.r(self.e(x), s)
        return self.o(y), s
def fit():
    net = Char(9, 12)
    opt = torch.optim.RMSprop(net.parameters(), 1e-3)
    data = torch.randint(9, (2, 13))
    state = None
    for t in range(0, 12, 4):
        logits, state = net(data[:, t:t+4], state)
        state = tuple(s.detach() for s in state)
        loss = F.cross_entropy(logits.reshape(-1, 9), data[:, t+1:t+5].reshape(-1))
        opt.zero_grad(); loss.backward(); opt.step()
fit()
""", frozenset()),
    "gan in a function": ("""
def main():
    G, D = nn.Linear(2, 2), nn.Linear(2, 1)
    og, od = torch.optim.Adam(G.parameters(), 1e-3), torch.optim.Adam(D.parameters(), 1e-3)
    bce = nn.BCEWithLogitsLoss()
    for _ in range(3):
        z, real = torch.randn(8, 2), torch.randn(8, 2)
        d_loss = bce(D(real), torch.ones(8, 1)) + bce(D(G(z).detach()), torch.zeros(8, 1))
        od.zero_grad(); d_loss.backward(); od.step()
        g_loss = bce(D(G(z)), torch.ones(8, 1))
        og.zero_grad(); g_loss.backward(); og.step()
main()
""", frozenset()),
    "fine-tuning in a class": ("""
class FT:
    def __init__(self):
        self.backbone, self.head = nn.Linear(4, 4), nn.Linear(4, 2)
        for p in self.backbone.parameters(): p.requires_grad = False
        self.opt = torch.optim.SGD(self.head.parameters(), lr=0.1)
    def step(self, x, y):
        with torch.no_grad():
            f = self.backbone(x)
        loss = F.cross_entropy(self.head(f), y)
        self.opt.zero_grad(); loss.backward(); self.opt.step()
        return loss.item()
ft = FT()
for _ in range(2): ft.step(torch.randn(4, 4), torch.randint(2, (4,)))
""", frozenset()),
    "dqn in a class": ("""
import copy
class Agent:
    def __init__(self):
        self.q = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
        self.target = copy.deepcopy(self.q)
        self.opt = torch.optim.Adam(self.q.parameters(), 1e-3)
    def learn(self):
        s, a, r, n = torch.randn(5, 3), torch.randint(2, (5, 1)), torch.randn(5), torch.randn(5, 3)
        with torch.no_grad():
            t = r + 0.9 * self.target(n).max(1)[0]
        loss = F.smooth_l1_loss(self.q(s).gather(1, a).squeeze(1), t)
        self.opt.zero_grad(); loss.backward(); self.opt.step()
ag = Agent()
for _ in range(3): ag.learn()
""", frozenset()),
    "meta-learning in a function": ("""
def main():
    w = torch.randn(2, requires_grad=True)
    opt = torch.optim.SGD([w], lr=0.1)
    for _ in range(2):
        opt.zero_grad()
        inner = (w ** 2).sum()
        (g,) = torch.autograd.grad(inner, w, create_graph=True)
        fast = w - 0.1 * g
        ((fast - 1) ** 2).sum().backward()
        opt.step()
main()
""", frozenset()),
    "linear regression in functions": ("""
def sgd(params, lr, batch):
    with torch.no_grad():
        for p in params:
            p -= lr * p.grad / batch
            p.grad.zero_()
def linreg(X, w, b): return X @ w + b
def squared(yh, y): return (yh - y.reshape(yh.shape)) ** 2 / 2
w = torch.normal(0, 0.01, (2, 1), requires_grad=True); b = torch.zeros(1, requires_grad=True)
X = torch.randn(10, 2); y = X @ torch.tensor([2., -3.4]) + 4.2
for e in range(3):
    l = squared(linreg(X, w, b), y)
    l.sum().backward()
    sgd([w, b], 0.03, 10)
""", frozenset()),
    "causal softmax with float -inf mask": ("""
torch.manual_seed(0)
tok, q, k, v, out = nn.Embedding(9, 8), nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 9)
params = [p for m in (tok, q, k, v, out) for p in m.parameters()]
opt = torch.optim.Adam(params, lr=1e-2)
ids = torch.randint(0, 9, (4, 7))
mask = torch.full((6, 6), float('-inf')).triu(1)
for _ in range(3):
    h = tok(ids[:, :-1])
    att = (q(h) @ k(h).transpose(1, 2) / 8 ** 0.5 + mask).softmax(-1)
    loss = F.cross_entropy(out(h + att @ v(h)).flatten(0, 1), ids[:, 1:].flatten())
    opt.zero_grad(); loss.backward(); opt.step()
    again = F.scaled_dot_product_attention(q(h), k(h), v(h), attn_mask=torch.ones(6, 6).tril().bool())
""", frozenset()),
    "time-major tagger, both turned": ("""
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.rnn, self.out = nn.Embedding(12, 8), nn.GRU(8, 16), nn.Linear(16, 5)
    def forward(self, x):
        return self.out(self.rnn(self.emb(x.t()))[0])
model = Tagger()
opt = torch.optim.Adam(model.parameters())
src, tags = torch.randint(0, 12, (5, 7)), torch.randint(0, 5, (5, 7))
for _ in range(3):
    opt.zero_grad()
    F.cross_entropy(model(src).transpose(0, 1).reshape(-1, 5), tags.reshape(-1)).backward()
    opt.step()
""", frozenset()),
    "time-major tagger, targets turned": ("""
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.rnn, self.out = nn.Embedding(12, 8), nn.GRU(8, 16), nn.Linear(16, 5)
    def forward(self, x):
        return self.out(self.rnn(self.emb(x.t()))[0])
model = Tagger()
opt = torch.optim.Adam(model.parameters())
src, tags = torch.randint(0, 12, (5, 7)), torch.randint(0, 5, (5, 7))
for _ in range(3):
    opt.zero_grad()
    F.cross_entropy(model(src).view(-1, 5), tags.t().reshape(-1)).backward()
    opt.step()
""", frozenset()),
    "test data scaled with the training figures": ("""
x = torch.rand(300, 4) * 100 + 50
y = (x[:, 0] > x[:, 1]).long()
mean, std = x[:200].mean(0), x[:200].std(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(3):
    for i in range(0, 200, 50):
        opt.zero_grad()
        F.cross_entropy(net((x[i:i + 50] - mean) / std), y[i:i + 50]).backward()
        opt.step()
with torch.no_grad():
    print((net((x[200:] - mean) / std).argmax(1) == y[200:]).float().mean().item())
    print(net((torch.tensor([[120., 60, 70, 80]]) - mean) / std).argmax(1))
""", frozenset()),
    "far targets that are being reached": ("""
x = torch.randn(64, 2)
y = x @ torch.tensor([[300.], [-200.]]) + 900
net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(30):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
""", frozenset()),
    "mask and lengths that are used": ("""
class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.fc, self.drop = nn.Embedding(9, 4), nn.Linear(4, 2), nn.Dropout(0.1)
    def forward(self, ids, mask, temperature=None):
        e = self.emb(ids) * mask.unsqueeze(-1)
        return self.fc(self.drop(e.sum(1) / mask.sum(1, keepdim=True)))
ids = torch.tensor([[1, 2, 3], [4, 5, 0]])
net = Pool()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
sched = torch.optim.lr_scheduler.StepLR(opt, 1)
for _ in range(2):
    opt.zero_grad()
    F.cross_entropy(net(ids, (ids != 0).float()), torch.tensor([0, 1])).backward()
    opt.step(); sched.step()
""", frozenset()),
    "weights saved and loaded": ("""
import io
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad(); F.cross_entropy(net(torch.randn(8, 3)), torch.randint(0, 2, (8,))).backward(); opt.step()
file = io.BytesIO()
torch.save(net.state_dict(), file)
file.seek(0)
state = torch.load(file)
again = nn.Linear(3, 2)
again.load_state_dict(state)
again.eval()
with torch.no_grad():
    print(again(torch.randn(2, 3)).argmax(1))
""", frozenset()),
    "language model without attention over time of one batch": ("""
emb, rnn, out = nn.Embedding(10, 8), nn.LSTM(8, 16), nn.Linear(16, 10)
opt = torch.optim.Adam([*emb.parameters(), *rnn.parameters(), *out.parameters()])
data = torch.randint(0, 10, (9, 4))
for _ in range(3):
    x, y = data[:-1], data[1:]
    opt.zero_grad()
    F.cross_entropy(out(rnn(emb(x))[0]).view(-1, 10), y.reshape(-1)).backward()
    opt.step()
""", frozenset()),
    "evaluated before the training": ("""
net = nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 3) * 9 + 30, torch.randn(16, 1)
for epoch in range(3):
    net.eval()
    with torch.no_grad():
        print(F.mse_loss(net(x), y).item())
    net.train()
    opt.zero_grad(); F.mse_loss(net(x), y).backward(); opt.step()
""", frozenset()),
    "what ignore_index does to a loss": ("""
output = torch.ones(3, 3, requires_grad=True) * 0.5
target = torch.tensor([0, 1, 2])
for ignored in (1, 2):
    print(nn.CrossEntropyLoss(reduction="none", ignore_index=ignored)(output, target))
""", frozenset()),
    "a differential equation whose right side has no time": ("""
class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(2, 2)
    def forward(self, t, y):
        return self.net(y)
class Solve(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y, times, field, *weights):
        ctx.field, ctx.times = field, times
        for t, later in zip(times, times[1:]):
            y = y + (later - t) * field(t, y)
        ctx.save_for_backward(y)
        return y
    @staticmethod
    def backward(ctx, a):
        f, (y,) = ctx.field, ctx.saved_tensors
        sums = [torch.zeros_like(w) for w in f.parameters()]
        for t, before in zip(ctx.times.flip(0), ctx.times.flip(0)[1:]):
            h = t - before
            right = f(t, y)
            y = y - h * right
            with torch.enable_grad():
                y = y.detach().requires_grad_()
                grads = torch.autograd.grad(ctx.field(before, y), (y, *f.parameters()), a)
            a = a + h * grads[0]
            sums = [total + h * each for total, each in zip(sums, grads[1:])]
        return a, None, None, *sums
class Ode(nn.Module):
    def __init__(self, field):
        super().__init__()
        self.field = field
    def forward(self, y, times):
        return Solve.apply(y, times, self.field, *self.field.parameters())
ode = Ode(Field())
opt = torch.optim.Adam(ode.parameters(), lr=0.1)
y, times, seen = torch.randn(8, 2), torch.linspace(0, 1, 4), torch.randn(8, 2)
for _ in range(3):
    loss = F.mse_loss(ode(y, times), seen)
    opt.zero_grad(); loss.backward(); opt.step()
""", frozenset()),
    "an optimizer or a step by hand": ("""
def sgd(params, lr):
    for param in params:
        param.data -= lr * param.grad
def train(params, lr=None, optimizer=None):
    for _ in range(3):
        loss = ((x @ params[0] - y) ** 2).mean()
        if optimizer is not None:
            optimizer.zero_grad()
        elif params[0].grad is not None:
            params[0].grad.data.zero_()
        loss.backward()
        if optimizer is None:
            sgd(params, lr)
        else:
            optimizer.step()
x, y, w = torch.randn(9, 2), torch.randn(9, 1), torch.zeros(2, 1, requires_grad=True)
train([w], 0.1)
""", frozenset()),
}  # fmt: skip
