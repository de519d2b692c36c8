"""Mistakes that values tell over several turns, or the way of the samples through the layers: what stays as it was
though it was to change, what is the same twice, each with what makes it right."""

from tests.engine.findings.silent import Case
from tests.engine.findings.silent_values import Pair

STEP = "    opt.zero_grad(); loss.backward(); opt.step()\n"
CRNN = f"""class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cnn = nn.Conv2d(1, 6, (4, 3), padding=(0, 1))
        self.rnn = nn.LSTM(6, 8, batch_first=True)
        self.head = nn.Linear(8, 3)
    def forward(self, x):
        h = torch.relu(self.cnn(x)).squeeze(2)
        h = h.permute(2, 0, 1)
        return self.head(self.rnn(h)[0])
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x, y = torch.randn(5, 1, 4, 9), torch.randint(0, 3, (5, 9))
    out = net(x)
    loss = F.cross_entropy(out.permute(1, 2, 0), y)
{STEP}"""
POLICY = f"""policy = nn.Linear(3, 4)
opt = torch.optim.SGD(policy.parameters(), lr=0.1)
def log_prob(states, actions):
    return F.log_softmax(policy(states), 1).gather(1, actions)
for _ in range(3):
    states = torch.randn(16, 3)
    with torch.no_grad():
        actions = torch.multinomial(policy(states).softmax(1), 1)
    gain = torch.randn(16, 1)
    for _ in range(4):
        new = log_prob(states, actions)
        old = log_prob(states, actions).detach()
        ratio = torch.exp(new - old)
        loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
{STEP.replace("    ", "        ", 1)}"""
PAIRS = (
    Pair("fast_weights_without_graph", 11, """W = [torch.randn(4, 3, requires_grad=True), torch.zeros(4, requires_grad=True)]
opt = torch.optim.Adam(W, lr=0.01)
def model(x, w):
    return F.linear(x, w[0], w[1]).tanh().sum(1)
for _ in range(4):
    x, y = torch.randn(8, 3), torch.randn(8)
    inner = F.mse_loss(model(x, W), y)
    g = torch.autograd.grad(inner, W)
    fast = [w - 0.1 * d for w, d in zip(W, g)]
    opt.zero_grad()
    F.mse_loss(model(x, fast), y).backward()
    opt.step()
""", (("grad(inner, W)", "grad(inner, W, create_graph=True)"),)),
    Pair("fast_weights_without_graph", 15, """class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 1)
        self.rate = nn.Parameter(torch.tensor(0.1))
        self.order = 2
    def run(self, x, w):
        return torch.func.functional_call(self.net, w, (x,))
    def adapt(self, x, y):
        w = dict(self.net.named_parameters())
        for _ in range(2):
            grads = torch.autograd.grad(self.run(x, w).sub(y).pow(2).mean(), list(w.values()))
            w = {name: p - self.rate * g for (name, p), g in zip(w.items(), grads)}
        return w
learner = Learner()
opt = torch.optim.SGD(learner.parameters(), lr=0.01)
for _ in range(4):
    x, y = torch.randn(8, 3), torch.randn(8, 1)
    loss = learner.run(x, learner.adapt(x, y)).sub(y).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", (("list(w.values()))", "list(w.values()), create_graph=False)"),)),
    Pair("increments_rounded_away", 11, f"""net = nn.Linear(4, 3)
kept = [p.detach().clone().to(torch.bfloat16) for p in net.parameters()]
opt = torch.optim.SGD(net.parameters(), lr=0.5)
for _ in range(12):
    loss = (net(torch.randn(8, 4)) - 3).pow(2).mean()
{STEP}    for k, p in zip(kept, net.parameters()):
        k.mul_(0.9995).add_(p.detach().to(torch.bfloat16), alpha=0.0005)
""", (("clone().to(torch.bfloat16)", "clone()"), ("detach().to(torch.bfloat16), alpha", "detach(), alpha"))),
    Pair("increments_rounded_away", 7, """weights = torch.randn(6).half()
aim = torch.randn(6).half()
for _ in range(8):
    weights.lerp_(aim, 1e-4)
print(weights)
""", (("1e-4", "0.1"),)),
    Pair("ratio_of_one", 16, POLICY, (
        ("        old = log_prob(states, actions).detach()\n", ""),
        ("    gain = ", "    old = log_prob(states, actions).detach()\n    gain = "),
    )),
    Pair("ratio_of_one", 16, POLICY.replace("log_prob(states, actions).detach()", "F.log_softmax(policy(states).detach(), 1).gather(1, actions)"), (("range(4)", "range(1)"),)),
    Pair("row_against_itself", 11, f"""net = nn.Linear(5, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x = torch.randn(6, 5)
    z = F.normalize(torch.cat([net(x), net(x + 0.1 * torch.randn(6, 5))]), dim=1)
    sim = F.cosine_similarity(z.unsqueeze(1), z.unsqueeze(0), dim=2) / 0.5
    pos = torch.cat([sim.diagonal(6), sim.diagonal(-6)])
    loss = (torch.exp(sim).sum(1).log() - pos).mean()
{STEP}""", (("torch.exp(sim).sum", "torch.exp(sim.masked_fill(torch.eye(12, dtype=torch.bool), float('-inf'))).sum"),)),
    Pair("row_against_itself", 12, f"""net = nn.Linear(5, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
rows = torch.arange(12)
twins = (rows + 6) % 12
for _ in range(3):
    x = torch.randn(6, 5)
    z = F.normalize(net(torch.cat([x, x + 0.1 * torch.randn(6, 5)])), dim=1)
    logits = torch.mm(z, z.t()) / 0.1
    loss = (logits.logsumexp(1) - logits[rows, twins]).mean()
{STEP}""", (("torch.mm(z, z.t()) / 0.1", "(torch.mm(z, z.t()) / 0.1).fill_diagonal_(-1e9)"),)),
    Pair("views_are_one", 9, f"""net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    one, two = torch.randn(6, 5), torch.randn(6, 5)
    a = F.normalize(net(one), dim=1)
    b = F.normalize(net(one), dim=1)
    logits = a @ b.T / 0.2
    loss = F.cross_entropy(logits, torch.arange(6))
{STEP}""", (("b = F.normalize(net(one)", "b = F.normalize(net(two)"),)),
    Pair("views_are_one", 9, f"""net = nn.Sequential(nn.Linear(5, 8), nn.Dropout(0.5), nn.Linear(8, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net.eval()
for _ in range(4):
    x = torch.randn(6, 5)
    q, k = net(x), net(x)
    loss = F.cross_entropy(torch.matmul(q, k.transpose(0, 1)), torch.arange(6))
{STEP}""", (("net.eval()", "net.train()"),)),
    Pair("samples_taken_for_steps", 13, CRNN, (("permute(2, 0, 1)", "permute(0, 2, 1)"), ("out.permute(1, 2, 0)", "out.permute(0, 2, 1)"))),
    Pair("samples_taken_for_steps", 13, CRNN.replace(", batch_first=True", "").replace("(2, 0, 1)", "(0, 2, 1)").replace("(1, 2, 0)", "(0, 2, 1)").replace("nn.LSTM", "nn.GRU"), (
        ("h.permute(0, 2, 1)", "h.permute(2, 0, 1)"), ("out.permute(0, 2, 1)", "out.permute(1, 2, 0)"),
    )),
    Pair("state_rebound", 7, """def step(params, grads, state, lr=0.05, b1=0.9):
    with torch.no_grad():
        for p, g, m in zip(params, grads, state):
            m = b1 * m + (1 - b1) * g
            p -= lr * m
w = torch.randn(3, requires_grad=True)
state = [torch.zeros(3)]
for t in range(6):
    step([w], torch.autograd.grad((w - 1).pow(2).sum(), [w]), state)
""", (("            m = b1 * m + (1 - b1) * g\n", "            m.mul_(b1).add_((1 - b1) * g)\n"),)),
    Pair("state_rebound", 12, """class RMSProp:
    def __init__(self, params):
        self.params = list(params)
        self.state = {p: {'sq': torch.zeros_like(p)} for p in self.params}
    @torch.no_grad()
    def step(self):
        for p in self.params:
            sq = self.state[p]['sq']
            sq = sq * 0.9 + p.grad.pow(2) * 0.1
            p.sub_(0.01 * p.grad / (sq.sqrt() + 1e-8))
            p.grad = None
net = nn.Linear(3, 1)
opt = RMSProp(net.parameters())
for _ in range(5):
    net(torch.randn(8, 3)).sub(1).pow(2).mean().backward()
    opt.step()
""", (("            p.sub_(", "            self.state[p]['sq'] = sq\n            p.sub_("),)),
    Pair("log_of_summed_diagonal", 10, f"""x, y = torch.randn(8, 2), torch.randn(8)
scale = torch.zeros(1, requires_grad=True)
opt = torch.optim.Adam([scale], lr=0.05)
for _ in range(3):
    K = torch.exp(-torch.cdist(x, x) / scale.exp()) + 0.1 * torch.eye(8)
    L = torch.linalg.cholesky(K)
    loss = 0.5 * (y * torch.cholesky_solve(y[:, None], L)[:, 0]).sum() + torch.log(L.diag().sum())
{STEP}""", (("torch.log(L.diag().sum())", "torch.log(L.diag()).sum()"),)),
    Pair("log_of_summed_diagonal", 7, """A = torch.randn(4, 4)
cov = (A @ A.T + torch.eye(4)).requires_grad_()
root = torch.linalg.cholesky(cov)
half = root.diagonal(dim1=-2, dim2=-1).sum(-1).log()
(half * 2).backward()
print(cov.grad)
""", ((".sum(-1).log()", ".log().sum(-1)"),)),
    Pair("log_variance_cut_at_zero", 9, f"""class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean, self.spread = nn.Linear(3, 1), nn.Linear(3, 1)
    def forward(self, x):
        return self.mean(x), torch.relu(self.spread(x))
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(4):
    x = torch.randn(16, 3)
    y = x.sum(1, keepdim=True)
    mean, log_var = net(x)
    loss = (0.5 * (log_var + (y - mean) ** 2 / log_var.exp())).mean()
{STEP}""", (("torch.relu(self.spread(x))", "self.spread(x)"),)),
    Pair("log_variance_cut_at_zero", 10, f"""enc, dec = nn.Linear(6, 4), nn.Linear(2, 6)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=0.01)
for _ in range(4):
    x = torch.randn(16, 6)
    h = F.relu(enc(x))
    mu, logvar = h[:, :2], h[:, 2:]
    logvar = F.relu(logvar)
    z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
    loss = F.mse_loss(dec(z), x) - 0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
{STEP}""", (("    logvar = F.relu(logvar)\n", ""), ("h = F.relu(enc(x))", "h = enc(x)"))),
    Pair("padding_mask_turned_round", 16, f"""class Net(nn.Module):
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
{STEP}""", (("mask=mask", "mask=~mask"),)),
    Pair("padding_mask_turned_round", 9, f"""emb, attn, head = nn.Embedding(9, 8), nn.MultiheadAttention(8, 2, batch_first=True), nn.Linear(8, 2)
ids = torch.tensor([[3, 4, 5, 1], [6, 2, 1, 1]])
opt = torch.optim.SGD([*emb.parameters(), *attn.parameters(), *head.parameters()], lr=0.1)
for _ in range(3):
    x = emb(ids)
    h, _ = attn(x, x, x, key_padding_mask=(ids != 1))
    loss = F.cross_entropy(head(h.mean(1)), torch.tensor([0, 1]))
{STEP}""", (("!= 1", "== 1"),)),
    Pair("padding_mask_turned_round", 10, f"""emb, attn, head = nn.Embedding(9, 8), nn.MultiheadAttention(8, 2, batch_first=True), nn.Linear(8, 2)
ids, first = torch.tensor([[3, 4, 5, 1], [6, 2, 1, 1]]), torch.zeros(2, 1, 8)
opt = torch.optim.SGD([*emb.parameters(), *attn.parameters(), *head.parameters()], lr=0.1)
for _ in range(3):
    x = torch.cat([first, emb(ids)], 1)
    mask = torch.cat([torch.ones(2, 1, dtype=torch.bool), ids != 1], 1)
    h, _ = attn(x, x, x, key_padding_mask=mask)
    loss = F.cross_entropy(head(h[:, 0]), torch.tensor([0, 1]))
{STEP}""", (("torch.ones", "torch.zeros"), ("!= 1", "== 1"))),
    Pair("padding_row_drawn", 8, f"""class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(9, 4, padding_idx=0)
        nn.init.xavier_uniform_(self.emb.weight)
        self.head = nn.Linear(4, 1)
    def forward(self, ids):
        return self.head(self.emb(ids).mean(dim=1))
net = Bag()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
ids = torch.tensor([[3, 4, 5, 0], [6, 2, 0, 0]])
for _ in range(3):
    loss = net(ids).pow(2).mean()
{STEP}""", (("(self.emb.weight)\n", "(self.emb.weight)\n        self.emb.weight.data[0] = 0\n"),)),
    Pair("padding_row_drawn", 7, f"""words, head = nn.Embedding(7, 3, padding_idx=6), nn.Linear(3, 2)
for p in [words.weight, head.weight]:
    if p.dim() > 1:
        p.data.normal_(0, 0.02)
opt = torch.optim.SGD([*words.parameters(), *head.parameters()], lr=0.1)
ids = torch.tensor([[3, 4, 6], [2, 6, 6]])
for _ in range(3):
    loss = F.cross_entropy(head(words(ids).sum(1)), torch.tensor([0, 1]))
{STEP}""", (("words(ids).sum(1)", "(words(ids) * (ids != 6).unsqueeze(2)).sum(1)"),)),
    Pair("micro_batches_weigh_alike", 12, """emb, head = nn.Embedding(9, 8), nn.Linear(8, 9)
opt = torch.optim.SGD([*emb.parameters(), *head.parameters()], lr=0.1)
parts = [torch.randint(1, 9, (1, 5)), torch.randint(1, 9, (1, 40))]
def loss_of(ids):
    logits = head(emb(ids[:, :-1]))
    return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
for _ in range(5):
    for ids in parts:
        (loss_of(ids) / 2).backward()
    opt.step(); opt.zero_grad()
""", (("(1, 5)", "(1, 30)"),)),
    Pair("micro_batches_weigh_alike", 8, """net, PARTS = nn.Linear(6, 4), 3
rows = [torch.randn(size, 6) for size in (12, 3, 5)]
for part in rows:
    loss = F.cross_entropy(net(part), torch.arange(len(part)) % 4) / PARTS
    loss.backward()
summed = net.weight.grad.clone()
net.zero_grad()
F.cross_entropy(net(torch.cat(rows)), torch.cat([torch.arange(len(part)) % 4 for part in rows])).backward()
print((summed - net.weight.grad).norm())
""", (("/ PARTS", "* len(part) / 20"),)),
    Pair("micro_batches_weigh_alike", 11, """net = nn.Linear(6, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
data = []
for size in (9, 2, 8, 3, 9, 2):
    y = torch.randint(0, 4, (9,)); y[size:] = -100
    data.append((torch.randn(9, 6), y))
for i, (x, y) in enumerate(data * 3):
    loss = F.cross_entropy(net(x), y) / 2; loss.backward()
    if i % 2:
        opt.step(); opt.zero_grad()
""", (("F.cross_entropy(net(x), y) / 2", "F.cross_entropy(net(x), y, reduction='sum') / 11"),)),
    Pair("density_of_each_part", 11, """from torch.distributions import Normal
actor, critic = nn.Linear(5, 6), nn.Linear(8, 1)
opt = torch.optim.SGD(actor.parameters(), lr=0.1)
for _ in range(3):
    obs = torch.randn(16, 5)
    mu, log_std = actor(obs).chunk(2, 1)
    pi = Normal(mu, log_std.exp())
    act = pi.rsample(); logp = pi.log_prob(act)
    loss = (0.2 * logp - critic(torch.cat([obs, act], 1))).mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", (("pi.log_prob(act)", "pi.log_prob(act).sum(1, keepdim=True)"),)),
    Pair("density_of_each_part", 10, """class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.mu, self.v = nn.Linear(3, 2), nn.Linear(3, 1)
    def forward(self, s):
        d = torch.distributions.Normal(self.mu(s), 1.0)
        a = d.sample(); l = d.log_prob(a)
        return l, self.v(s)
net = Policy()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    s = torch.randn(8, 3)
    l, v = net(s)
    target = torch.rand(8, 1) + 0.9 * (v - 0.1 * l)
    loss = F.mse_loss(v, target.mean(1, keepdim=True).detach())
    opt.zero_grad(); loss.backward(); opt.step()
""", (("d.log_prob(a)", "d.log_prob(a).sum(-1, keepdim=True)"),)),
    Pair("end_never_read", 11, """q, aim = nn.Linear(3, 2), nn.Linear(3, 2)
opt = torch.optim.SGD(q.parameters(), lr=0.1)
rows = [(torch.randn(3), i % 2, float(i), torch.randn(3), float(i % 4 == 3)) for i in range(12)]
for _ in range(4):
    s, a, r, n, d = zip(*rows)
    s, n, a = torch.stack(s), torch.stack(n), torch.tensor(a)
    r, d = torch.tensor(r), torch.tensor(d)
    with torch.no_grad(): target = r + 0.9 * aim(n).max(1)[0]
    loss = F.mse_loss(q(s).gather(1, a[:, None])[:, 0], target)
    opt.zero_grad(); loss.backward(); opt.step()
""", (("0.9 * aim(n).max(1)[0]", "0.9 * aim(n).max(1)[0] * (1 - d)"),)),
    Pair("end_never_read", 15, """class Buffer:
    def __init__(self, n):
        self.s, self.r, self.n, self.done = torch.randn(n, 3), torch.rand(n), torch.randn(n, 3), (torch.arange(n) % 3 == 2).float()
    def sample(self, k):
        i = torch.randint(0, 30, (k,))
        return self.s[i], self.r[i], self.n[i], self.done[i]
value = nn.Linear(3, 1)
opt = torch.optim.SGD(value.parameters(), lr=0.1)
buffer = Buffer(30)
for _ in range(4):
    s, r, n, done = buffer.sample(20); v = value(n).squeeze(1).detach()
    loss = F.mse_loss(value(s).squeeze(1), r + 0.95 * v)
    opt.zero_grad(); loss.backward(); opt.step()
""", (("0.95 * v)", "(1 - done) * 0.95 * v)"),)),
    Pair("coefficient_of_features", 15, f"""class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.first, self.last = nn.Embedding(20, 16), nn.Linear(8, 16), nn.Linear(16, 8)
    def forward(self, x, t):
        return self.last(torch.relu(self.first(x) + self.emb(t)))
kept, net = torch.linspace(0.9, 0.1, 20), Denoiser()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x0, eps, t = torch.randn(8, 8), torch.randn(8, 8), torch.randint(0, 20, (8,))
    a = kept.gather(0, t)
    xt = a.sqrt() * x0 + (1 - a).sqrt() * eps
    loss = F.mse_loss(net(xt, t), eps)
{STEP}""", (("a = kept.gather(0, t)", "a = kept.gather(0, t)[:, None]"),)),
    Pair("coefficient_of_features", 14, f"""class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(7, 6)
    def forward(self, x, t):
        return self.net(torch.cat([x, t.unsqueeze(1)], 1))
flow = Flow()
opt = torch.optim.SGD(flow.parameters(), lr=0.1)
for _ in range(3):
    x, z, t = torch.randn(6, 6), torch.randn(6, 6), torch.rand(6)
    xt = (1 - t) * z + t * x
    loss = F.mse_loss(flow(xt, t), x - z)
{STEP}""", (("(1 - t) * z + t * x", "(1 - t[:, None]) * z + t[:, None] * x"),)),
    Pair("cut_by_gradient", 10, """x, y, held_x, held_y = torch.randn(12, 3), torch.randn(12), torch.randn(6, 3), torch.randn(6)
decay = torch.zeros(3, requires_grad=True)
tuner = torch.optim.Adam([decay], lr=0.1)
for _ in range(3):
    w = torch.zeros(3, requires_grad=True)
    for _ in range(4):
        g = torch.autograd.grad((x @ w - y).pow(2).mean() + (decay.exp() * w ** 2).sum(), [w])[0]
        w = w - 0.1 * g
    loss = (held_x @ w - held_y).pow(2).mean()
    tuner.zero_grad(); loss.backward(); tuner.step()
""", (("[w])", "[w], create_graph=True)"),)),
    Pair("cut_by_gradient", 14, """class Weigher(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.scores = nn.Parameter(torch.zeros(count))
    def forward(self, losses):
        return (self.scores.softmax(0) * losses).sum()
net, weigher = nn.Linear(3, 1), Weigher(8)
opts = [torch.optim.SGD(each.parameters(), lr=0.1) for each in (net, weigher)]
def look_ahead(x, y):
    each = (net(x) - y).pow(2).squeeze(1)
    found = torch.autograd.grad(weigher(each), tuple(net.parameters()))
    return [p - 0.1 * g for p, g in zip(net.parameters(), found)]
x, y = torch.randn(8, 3), torch.randn(8, 1)
for _ in range(4):
    weight, bias = look_ahead(x, y)
    loss = F.mse_loss(F.linear(x[:4], weight, bias), y[:4])
    for opt in opts: opt.zero_grad()
    loss.backward()
    for opt in opts: opt.step()
""", (("tuple(net.parameters()))", "tuple(net.parameters()), create_graph=True)"),)),
    Pair("leaf_recreated", 9, f"""net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    rows = [net(row).squeeze() for row in torch.randn(5, 3)]
    rows = rows[1:]
    errors = torch.tensor(rows, requires_grad=True)
    loss = errors.pow(2).mean()
{STEP}""", (("torch.tensor(rows, requires_grad=True)", "torch.stack(rows)"),)),
)  # fmt: skip
ALSO_RIGHT = (
    ("ratio_of_one", POLICY.replace("log_prob(states, actions).detach()", "new.detach()")),
    (
        "density_of_each_part",
        """net = nn.Linear(2, 6)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x, y = torch.randn(8, 2), torch.randn(8, 1)
    mu, log_pi = net(x).chunk(2, 1)
    joint = torch.distributions.Normal(mu, 1.0).log_prob(y) + log_pi
    shares = (joint - joint.logsumexp(1, keepdim=True)).exp()
    loss = -(shares.detach() * joint).sum(1).mean()
    opt.zero_grad(); loss.backward(); opt.step()
""",
    ),
    (
        "log_variance_cut_at_zero",
        """net = nn.Linear(3, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    h = torch.relu(net(torch.randn(8, 3)))
    loss = -(h - h.exp().sum(1, keepdim=True).log())[:, 0].mean()
    opt.zero_grad(); loss.backward(); opt.step()
""",
    ),
    (
        "end_never_read",
        """v = nn.Linear(3, 1)
opt = torch.optim.SGD(v.parameters(), lr=0.1)
for _ in range(4):
    s, n = torch.randn(8, 3), torch.randn(8, 3)
    r, turn = torch.tensor([0.5] * 8), torch.tensor([0.0, 1.0] * 4)
    done = torch.tensor([0.0] * 6 + [1.0] * 2)
    target = r + 0.9 * (v(n)[:, 0].detach() * (1 - done))
    loss = F.mse_loss(v(s)[:, 0], target)
    opt.zero_grad(); loss.backward(); opt.step()
""",
    ),
    (
        "fast_weights_without_graph",
        """# FOMAML: the gradients are constants
w = torch.randn(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(3):
    g, = torch.autograd.grad((w - 1).pow(2).sum(), w)
    opt.zero_grad(); ((w - 0.1 * g) + 1).pow(2).sum().backward(); opt.step()
""",
    ),
    (
        "increments_rounded_away",
        """v = torch.rand(5).to(torch.bfloat16)
for _ in range(8):
    scale = v.sqrt().add_(1e-8)
print(scale)
""",
    ),
    (
        "cut_by_gradient",
        """# the weights of the terms are learnt by a loss of their own
net, gains = nn.Linear(3, 2), torch.zeros(2, requires_grad=True)
opt, other = torch.optim.SGD(net.parameters(), lr=0.1), torch.optim.SGD([gains], lr=0.1)
for _ in range(3):
    x = torch.randn(6, 3)
    found = torch.autograd.grad((gains.exp() * net(x).pow(2).mean(0)).sum(), tuple(net.parameters()))
    fast = [p - 0.1 * g for p, g in zip(net.parameters(), found)]
    opt.zero_grad(); F.linear(x, *fast).pow(2).mean().backward(); opt.step()
    other.zero_grad(); (gains - net(x).detach().abs().mean(0)).pow(2).sum().backward(); other.step()
""",
    ),
    (
        "cut_by_gradient",
        """# what the step holds is no part of what was differentiated
net, at, spare = nn.Linear(3, 1), torch.zeros(4, 3, requires_grad=True), torch.zeros(3, requires_grad=True)
opt = torch.optim.SGD([*net.parameters(), spare], lr=0.1)
for _ in range(3):
    slope, = torch.autograd.grad(net(at).sum(), at)
    opt.zero_grad(); net(at + 0.1 * slope.sign()).pow(2).mean().backward(); opt.step()
""",
    ),
)
"""Near misses that are told by what lies between two turns, or by what the program says of itself."""
TRIGGERS = tuple(Case(pair.code, pair.line, {}, pair.program) for pair in PAIRS)
NEAR_MISSES = (*ALSO_RIGHT, *((pair.code, pair.mended()) for pair in PAIRS))
