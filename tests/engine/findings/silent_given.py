"""Losses given something else than they take, gradients that end, states and data that are not what they seem; each
with what makes it right."""

from tests.engine.findings.silent import Case
from tests.engine.findings.silent_values import Pair

STEP = "    opt.zero_grad(); loss.backward(); opt.step()\n"
PAIRS = (
    # losses and their arguments
    Pair("target_without_signs", 8, """net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
a, b, same = torch.randn(300, 4), torch.randn(300, 4), torch.randint(0, 2, (300,)).float()
for _ in range(3):
    loss = F.cosine_embedding_loss(net(a), net(b), same)
""" + STEP, (("), same)", "), same * 2 - 1)"),)),
    Pair("target_without_signs", 8, """rank = nn.Linear(4, 1)
opt = torch.optim.Adam(rank.parameters())
left, right = torch.randn(8, 4), torch.randn(8, 4); better = (left.sum(1) > right.sum(1)).float()
criterion = nn.MarginRankingLoss(0.1)
loss = criterion(rank(left).squeeze(1), rank(right).squeeze(1), better)
opt.zero_grad(); loss.backward(); opt.step()
""", (("better)\nopt", "better * 2 - 1)\nopt"),)),
    Pair("softmax_of_several_labels", 8, """net = nn.Sequential(nn.Linear(5, 4), nn.Softmax(dim=-1))
opt = torch.optim.Adam(net.parameters())
x = torch.randn(100, 5); genres = (x[:, :4] > -0.5).float()
for _ in range(3):
    loss = nn.BCELoss()(net(x), genres)
""" + STEP, (("nn.Softmax(dim=-1)", "nn.Sigmoid()"),)),
    Pair("softmax_of_several_labels", 6, """net = nn.Linear(5, 3)
x, parts = torch.randn(4, 5), torch.tensor([[1., 1, 0], [0, 1, 1], [1, 0, 0], [0, 0, 1]])
loss = F.cross_entropy(net(x), parts)
loss.backward()
""", (("[1., 1, 0], [0, 1, 1]", "[1., 0, 0], [0, 0.5, 0.5]"),)),
    Pair("rate_for_its_logarithm", 7, """net = nn.Sequential(nn.Linear(3, 1), nn.Softplus())
x, calls = torch.randn(20, 3), torch.poisson(torch.full((20, 1), 4.0))
criterion = nn.PoissonNLLLoss()
criterion(net(x), calls).backward()
""", (("PoissonNLLLoss()", "PoissonNLLLoss(log_input=False)"),)),
    Pair("rate_for_its_logarithm", 7, """w = torch.zeros(3, requires_grad=True)
x, n = torch.randn(9, 3), torch.ones(9)
mu = torch.exp(x @ w)
loss = F.poisson_nll_loss(mu, n)
loss.backward()
""", (("torch.exp(x @ w)", "x @ w"),)),
    Pair("real_class_ignored", 8, """net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, kind = torch.randn(30, 4), torch.arange(30) % 3
for _ in range(3):
    loss = F.cross_entropy(net(x), kind, ignore_index=0)
""" + STEP, ((", ignore_index=0", ""), ("kind = torch.randn(30, 4), torch.arange(30) % 3", "kind = torch.randn(30, 4), (torch.arange(30) % 3).view(5, 6).flatten()"))),
    Pair("real_class_ignored", 8, """net = nn.Sequential(nn.Linear(4, 2), nn.LogSoftmax(1))
criterion = nn.NLLLoss(ignore_index=1)
x = torch.randn(12, 4); y = (x[:, 0] > 0).long(); y[:3] = 1; y[3:6] = 0
for i in range(0, 12, 6):
    criterion(net(x[i:i + 6]), torch.tensor([1, 1, 0, 0, 1, 0])).backward()
""", (("ignore_index=1", "ignore_index=-1"),)),
    Pair("nll_without_log_softmax", 8, """rnn, fc = nn.LSTM(4, 6), nn.Linear(6, 5)
x, words = torch.randn(9, 2, 4), torch.randint(1, 5, (2, 3))
out = fc(rnn(x)[0]).softmax(-1)
sizes = torch.tensor([9, 9]), torch.tensor([3, 3])
F.ctc_loss(out, words, *sizes).backward()
""", ((".softmax(-1)", ".log_softmax(-1)"),)),
    Pair("number_wrapped", 5, """pixels = torch.randint(0, 256, (3, 20, 20), dtype=torch.uint8)
centred = pixels - 128
nn.Conv2d(3, 2, 3)(centred.float()).sum().backward()
""", (("pixels - 128", "pixels.float() - 128"), ("pixels - 128", "pixels // 2"))),
    # losses without a floor
    Pair("likelihood_minimised", 9, """net, deviation = nn.Linear(2, 1), nn.Parameter(torch.ones(1))
opt = torch.optim.Adam([*net.parameters(), deviation], lr=0.01)
x, y = torch.randn(20, 2), torch.randn(20, 1)
for _ in range(4):
    p = torch.distributions.Normal(net(x), deviation)
    loss = p.log_prob(y).mean()
""" + STEP, (("= p.log", "= -p.log"),)),
    Pair("likelihood_minimised", 9, """logits = nn.Parameter(torch.zeros(4))
opt = torch.optim.SGD([logits], lr=0.5)
seen = torch.tensor([0, 0, 1, 2])
for _ in range(5):
    d = torch.distributions.Categorical(logits=logits)
    loss = d.log_prob(seen).sum() / 4
""" + STEP, (("/ 4", "/ -4"),)),
    Pair("reward_minimised", 10, """policy = nn.Linear(3, 2)
opt = torch.optim.Adam(policy.parameters(), lr=0.01)
for _ in range(4):
    d = torch.distributions.Categorical(logits=policy(torch.randn(8, 3)))
    action = d.sample()
    rewards = (action == 1).float()
    loss = (d.log_prob(action) * rewards).mean()
""" + STEP, (("loss = (d", "loss = -(d"), ("* rewards", "* -rewards"), ("rewards", "costs"))),
    Pair("reward_minimised", 12, """actor = nn.Linear(3, 1)
opt = torch.optim.Adam(actor.parameters(), lr=0.01)
for _ in range(3):
    terms = []
    for returns in (0.5, 2.0, 1.0):
        d = torch.distributions.Normal(actor(torch.randn(3)), 1.0)
        a = d.sample()
        terms.append(d.log_prob(a) * returns)
    loss = torch.cat(terms).sum()
""" + STEP, (("(d.log_prob(a) *", "(-d.log_prob(a) *"),)),
    Pair("penalty_negated", 8, """net = nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
x, y = torch.randn(20, 3), torch.randn(20, 1)
for _ in range(4):
    penalty = sum(p.pow(2).sum() for p in net.parameters())
    loss = F.mse_loss(net(x), y) - 1e-3 * penalty
""" + STEP, (("- 1e-3", "+ 1e-3"), ("- 1e-3", "- -1e-3"))),
    Pair("penalty_negated", 9, """w = nn.Parameter(torch.randn(4))
opt = torch.optim.SGD([w], lr=0.05)
x, y = torch.randn(20, 4), torch.randn(20)
for _ in range(4):
    error = ((x @ w - y) ** 2).mean()
    loss = error - w.abs().sum() / 10
""" + STEP, (("error - w", "error + w"), ("w.abs().sum() / 10", "(x @ w).abs().mean() / 10"))),
    # numbers that a constructor reads without being an op
    Pair("leaf_recreated", 8, """net, x = nn.Linear(3, 1), torch.randn(5, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    errors = [net(row).pow(2).sum() for row in x]
    total = torch.FloatTensor(errors)
    total.requires_grad_()
    loss = total.mean()
""" + STEP, (("torch.FloatTensor(errors)", "torch.stack(errors)"),)),
    # one model's loss pulls the way of another's
    # one model's loss pulls the way of another's
    Pair("opponent_helped", 13, """G, D = nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 1), nn.Sigmoid())
og, od = torch.optim.SGD(G.parameters(), lr=0.1), torch.optim.SGD(D.parameters(), lr=0.1)
real, fake = torch.ones(6, 1), torch.zeros(6, 1)
for _ in range(3):
    made = G(torch.randn(6, 2))
    F.binary_cross_entropy(D(torch.randn(6, 2) + 3), real).backward()
    F.binary_cross_entropy(D(made.detach()), fake).backward()
    od.step(); od.zero_grad()
    guess = D(made)
    F.binary_cross_entropy(guess, fake).backward()
    og.step(); og.zero_grad(); od.zero_grad()
""", (("guess, fake", "guess, real"),)),
    Pair("opponent_helped", 15, """class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(2, 1)
    def forward(self, x):
        return self.score(x).squeeze(1)
actor, critic = nn.Linear(3, 2), Critic()
oa, oc = torch.optim.Adam(actor.parameters()), torch.optim.Adam(critic.parameters())
for _ in range(3):
    oc.zero_grad(); z = torch.randn(8, 3)
    (critic(actor(z).detach()).mean() - critic(torch.randn(8, 2)).mean()).backward(); oc.step()
    oa.zero_grad(); loss = critic(actor(z)).mean(); loss.backward(); oa.step()
""", (("loss = critic", "loss = -critic"), ("actor(z).detach()).mean() - critic", "actor(z).detach()).mean() + critic"))),
    # layers that can do no more than one
    Pair("layers_are_one", 11, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(2, 8), nn.Linear(8, 8), nn.Linear(8, 1)
    def forward(self, x):
        h = self.a(x)
        h = self.b(h)
        return self.c(h)
net = Net(); opt = torch.optim.Adam(net.parameters(), lr=0.01)
x = torch.rand(64, 2) * 2 - 1; y = (x[:, :1] * x[:, 1:] > 0).float()
for _ in range(24):
    loss = F.binary_cross_entropy_with_logits(net(x), y)
""" + STEP, (("h = self.b(h)", "h = self.b(h.relu()).relu()"), ("range(24)", "range(6)"), ("(x[:, :1] * x[:, 1:] > 0).float()", "(x[:, :1] > 0).float()"))),
    Pair("layers_are_one", 8, """net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8, 6), nn.Linear(6, 4))
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
x, y = torch.randn(16, 1, 4, 4), torch.randint(0, 4, (16,))
for _ in range(20):
    loss = F.cross_entropy(net(x), y)
""" + STEP, (("nn.Linear(8, 6)", "nn.Linear(8, 6), nn.Tanh()"), ("nn.Linear(8, 6), nn.Linear(6, 4)", "nn.Linear(8, 2), nn.Linear(2, 4)"))),
    Pair("layers_are_one", 8, """body, head, probe = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 6)), nn.Linear(6, 3), nn.Linear(6, 2)
opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=1e-3)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for _ in range(20):
    loss = F.cross_entropy(head(body(x)), y)
""" + STEP, (("for _ in range(20):\n", "probe(body(x))\nfor _ in range(20):\n"),)),
    Pair("choice_over_batch", 9, """net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
x, y = torch.randn(30, 4), torch.arange(30) % 3
right = 0
for i in range(0, 30, 3):
    out = net(x[i:i + 3])
    guess = out.argmax(0)
    right += (guess == y[i:i + 3]).sum().item()
""", (("argmax(0)", "argmax(1)"), ("guess == y[i:i + 3]", "x[guess, 0] == x[i:i + 3, 0]"))),
    Pair("choice_over_batch", 6, """net, x, y = nn.Linear(5, 4), torch.randn(4, 5), torch.tensor([3, 0, 2, 1])
with torch.no_grad():
    values, best = torch.max(net(x), 0)
print((best == y).float().mean())
""", (("net(x), 0", "net(x), 1"), ("best == y", "values == y.float()"))),
    Pair("divergence_negated", 9, """enc, dec = nn.Linear(6, 4), nn.Linear(2, 6)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=0.2)
x = torch.randn(30, 6)
for _ in range(3):
    mean, logvar = enc(x).chunk(2, 1)
    loss = F.mse_loss(dec(mean + (logvar / 2).exp()), x) + 0.5 * (1 + logvar - mean ** 2 - logvar.exp()).sum()
""" + STEP, (("+ 0.5", "- 0.5"),)),
    Pair("divergence_negated", 7, """mu, log_var = nn.Linear(3, 2), nn.Linear(3, 2)
opt = torch.optim.SGD([*mu.parameters(), *log_var.parameters()], lr=0.1)
def divergence(mean, spread):
    return torch.mean(torch.sum(spread - torch.exp(spread) - mean.pow(2), dim=1)) / 2
x, y = torch.randn(8, 3), torch.randn(8, 2)
for _ in range(2):
    m, s = mu(x), log_var(x)
    loss = F.mse_loss(m + torch.exp(s / 2) * torch.randn(8, 2), y)
    loss += 0.1 * divergence(m, s)
""" + STEP, (("+= 0.1", "-= 0.1"),)),
    Pair("padding_read_last", 11, """from torch.nn.utils.rnn import pad_sequence
words = [torch.tensor(ids) for ids in ([3, 1, 4], [1, 5], [2, 6, 5, 3])]
x, y = pad_sequence(words, batch_first=True), torch.tensor([0, 1, 1])
emb, rnn, out = nn.Embedding(9, 4), nn.LSTM(4, 5, batch_first=True), nn.Linear(5, 2)
opt = torch.optim.Adam([*emb.parameters(), *rnn.parameters(), *out.parameters()])
for _ in range(2):
    h, _ = rnn(F.dropout(emb(x), 0.1))
    last = h[:, -1]
    loss = F.cross_entropy(out(last), y)
""" + STEP, (("h[:, -1]", "h[torch.arange(3), torch.tensor([2, 1, 3])]"),)),
    Pair("padding_read_last", 9, """x, y = torch.tensor([[3, 1], [1, 5], [2, 0], [7, 0]]), torch.tensor([0, 1])
emb, rnn, out = nn.Embedding(9, 4, padding_idx=0), nn.GRU(4, 5), nn.Linear(5, 2)
opt = torch.optim.Adam([*emb.parameters(), *rnn.parameters(), *out.parameters()])
for _ in range(2):
    h, _ = rnn(emb(x))
    loss = F.cross_entropy(out(h[-1]), y)
""" + STEP, (("[2, 0], [7, 0]", "[2, 8], [7, 8]"),)),
    Pair("padding_averaged", 12, """from torch.nn.utils.rnn import pad_sequence
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
""" + STEP, (("h.mean(dim=1)", "(h * kept).sum(dim=1) / kept.sum(dim=1)"), ("h.mean(dim=1)", "(h * kept).mean(dim=1)"), ("h.mean(dim=1)", "h.mean(dim=1) * ids.shape[1] / kept.sum(1)"), ("(3, 2, 4, 6, 5, 2)", "(3, 2, 4, 4, 3, 2)"), ("(3, 2, 4, 6, 5, 2)", "(4, 4, 4, 6, 6, 6)"), ("torch.tanh(self.mix(self.emb(ids)))", "self.emb(ids) @ torch.eye(4, 5)"))),
    Pair("padding_averaged", 9, """batches = [torch.tensor([[3, 1, 4], [1, 5, 0]]), torch.tensor([[3, 1, 4, 1, 5], [2, 6, 0, 0, 0]])]
emb, rnn, out = nn.Embedding(9, 4, padding_idx=0), nn.GRU(4, 5, batch_first=True), nn.Linear(5, 2)
opt = torch.optim.Adam([*emb.parameters(), *rnn.parameters(), *out.parameters()])
for x in batches:
    h, _ = rnn(emb(x))
    average = torch.mean(h, 1)
    loss = F.cross_entropy(out(average), torch.tensor([0, 1]))
""" + STEP, (("torch.mean(h, 1)", "torch.amax(h, 1)"), ("[1, 5, 0]", "[1, 5, 2]"), ("torch.mean(h, 1)", "torch.where((x > 0)[..., None], h, 0.0).sum(1)"))),
    Pair("kept_without_graph", 14, """class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        square = x * x
        shape = torch.ones_like(square)
        ctx.square, ctx.shape, ctx.x = square, shape, x
        ctx.save_for_backward(x)
        return square * x
    @staticmethod
    def backward(ctx, g):
        return 3 * ctx.square * g
net, x = nn.Linear(1, 1), torch.rand(5, 1, requires_grad=True)
u = Cube.apply(net(x))
slope = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
(slope - 1).pow(2).mean().backward()
""", (("* ctx.square", "* ctx.saved_tensors[0] ** 2"), ("* ctx.square", "* ctx.x ** 2"), ("* ctx.square", "* ctx.shape"), ("(slope - 1).pow(2).mean().backward()", "print(slope)"))),
    Pair("kept_without_graph", 14, """class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        e = torch.exp(x)
        ctx.save_for_backward(x, w, e)
        ctx.made = made = torch.sigmoid(x * w)
        return made
    @staticmethod
    def backward(ctx, g):
        x, w, e = ctx.saved_tensors
        s = e / (1 + e)
        return g * s * (1 - s) * w, g * s * (1 - s) * x
x, w = torch.rand(5, requires_grad=True), torch.ones(1, requires_grad=True)
slope = torch.autograd.grad(Scaled.apply(x, w.expand(5)).pow(2).sum(), x, create_graph=True)[0]
bend = torch.autograd.grad(slope.sum(), x)[0]
""", (("        s = e /", "        s = ctx.made\n        h = e /"), ("        e = torch.exp(x)\n", "        e = torch.exp(x).round()\n"), ("slope.sum(), x)", "slope.sum(), w)"))),
    Pair("divided_by_variance", 11, """class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(6))
    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        variance = ((x - mean) ** 2).mean(-1, keepdim=True)
        deviation = (variance + 1e-5) ** 2
        return (x - mean) / deviation * self.scale
Norm()(0.1 * torch.randn(4, 6)).pow(2).mean().backward()
""", (("1e-5) ** 2", "1e-5) ** 0.5"), ("1e-5) ** 2", "1e-5).sqrt()"), ("((x - mean) ** 2)", "(x ** 2)"), ("0.1 * torch.randn(4, 6)", "torch.tensor([[1.0, -1.0] * 3])"))),
    Pair("divided_by_variance", 5, """x, net = 20 * torch.randn(30, 3) + 100, nn.Linear(3, 1)
x = (x - x.mean(0)) / (x.var(0, keepdim=True) + 1e-8)
F.mse_loss(net(x).squeeze(), 2 * torch.ones(30)).backward()
""", (("x.var(0, keepdim=True) + 1e-8", "x.std(0, keepdim=True) + 1e-8"), ("x - x.mean(0)", "x - 100"), ("x.var(0, keepdim=True)", "x.var(0, keepdim=True).sqrt()"))),
    Pair("noise_without_root", 5, """def spoil(x, kept, noise):
    return x * kept.sqrt() + noise * (1 - kept)
kept, net, x = torch.cumprod(torch.linspace(0.99, 0.9, 20), 0), nn.Linear(3, 2), torch.rand(8, 2)
opt = torch.optim.Adam(net.parameters())
for _ in range(3):
    at, noise = torch.randint(0, 20, (8, 1)), torch.randn_like(x)
    given = torch.cat([spoil(x, kept[at], noise), at / 20], 1)
    loss = F.mse_loss(net(given), noise)
""" + STEP, (("(1 - kept)", "(1 - kept).sqrt()"), ("kept.sqrt() + noise * (1 - kept)", "(1 - kept) + noise * kept"), ("kept.sqrt() + noise * (1 - kept)", "kept + noise * (1 - kept ** 2).sqrt()"), ("torch.randint(0, 20, (8, 1))", "torch.full((8, 1), 4)"), ("mse_loss(net(given), noise)", "mse_loss(net(given), x)"))),
    Pair("noise_without_root", 9, """betas, net = torch.linspace(0.01, 0.2, 12), nn.Conv2d(1, 1, 3, padding=1)
left = (1 - betas).cumprod(0)
opt = torch.optim.Adam(net.parameters())
for _ in range(4):
    images, noise, t = torch.rand(4, 1, 5, 5), torch.randn(4, 1, 5, 5), torch.randperm(12)[:4]
    noisy = left[t].view(-1, 1, 1, 1) * images + torch.sqrt(1 - left)[t].view(-1, 1, 1, 1) * noise
    loss = ((net(noisy) - noise) ** 2).mean()
""" + STEP, (("left[t].view", "left[t].sqrt().view"), ("torch.sqrt(1 - left)", "(1 - left)"))),
    Pair("shuffled_alone", 8, """X = torch.randn(20, 3); y = X.sum(1, keepdim=True)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    X = X[torch.randperm(len(X))]
    loss = F.mse_loss(net(X), y)
""" + STEP, (("    X = X[torch.randperm(len(X))]", "    order = torch.randperm(len(X)); X, y = X[order], y[order]"),)),
    Pair("shuffled_alone", 8, """data, labels = torch.randn(20, 3), torch.arange(20) % 2
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
order = torch.randperm(20)
batches = data[order].split(5)
for xb, yb in zip(batches, labels.split(5)):
    loss = F.cross_entropy(net(xb), yb)
""" + STEP, (("labels.split", "labels[order].split"),)),
    # the same mistakes spelled otherwise
    Pair("penalty_without_graph", 14, """def slope(f, x, graph=True):
    return torch.autograd.grad(f, x, torch.ones_like(f), retain_graph=True, create_graph=graph)[0]
net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
opt, mse = torch.optim.Adam(net.parameters(), lr=0.01), nn.MSELoss()
x = torch.linspace(0, 1, 12).reshape(-1, 1).requires_grad_()
for i in range(3):
    u = net(x)
    du = slope(u, x)

    opt.zero_grad()
    ddu = slope(du, x, graph=False)
    loss = mse(ddu + u, x * 0) + mse(u[0], x[0] * 0) + mse(du[0], x[0] * 0 + 1)
    loss.backward()
    opt.step()
""", (("ddu = slope(du, x, graph=False)", "ddu = slope(du, x)"), ("graph=False)", "graph=True)"))),
    Pair("penalty_without_graph", 8, """net = nn.Sequential(nn.Linear(1, 5), nn.Tanh(), nn.Linear(5, 1))
opt = torch.optim.Adam(net.parameters())
x = torch.rand(9, 1, requires_grad=True)
for _ in range(2):
    slope, = torch.autograd.grad(net(x).sum(), x)
    loss = (slope + net(x)).pow(2).mean()
""" + STEP, ((".sum(), x)", ".sum(), x, create_graph=True)"),)),
    Pair("softmax_over_batch", 8, """net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, chosen, reward = torch.randn(6, 4), torch.tensor([0, 2, 1, 1, 0, 2]), torch.randn(6)
for _ in range(2):
    p = torch.softmax(net(x), 0)
    loss = -(p[torch.arange(6), chosen].log() * reward).mean()
""" + STEP, (("net(x), 0)", "net(x), 1)"),)),
    Pair("view_for_permute", 9, """pictures, y = torch.rand(6, 5, 5, 3), torch.tensor([0, 1, 0, 1, 1, 0])
conv, out = nn.Conv2d(3, 4, 3), nn.Linear(36, 2)
opt = torch.optim.SGD([*conv.parameters(), *out.parameters()], lr=0.1)
for _ in range(2):
    rows = [picture / 255 for picture in pictures]
    x = torch.stack([row.view(3, 5, 5) for row in rows])
    loss = F.cross_entropy(out(conv(x).flatten(1)), y)
""" + STEP, (("row.view(3, 5, 5)", "row.permute(2, 0, 1)"),)),
    Pair("modules_in_plain_list", 7, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = []
        for _ in range(2):
            layer = nn.Linear(3, 3)
            self.layers.append(layer)
        self.out = nn.Linear(3, 1)
    def forward(self, x):
        for layer in self.layers:
            x = layer(x).tanh()
        return self.out(x)
net = Net(); opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = net(torch.randn(5, 3)).square().mean()
""" + STEP, (("self.layers = []", "self.layers = nn.ModuleList()"),)),
    # results that cannot change
    Pair("compared_with_itself", 8, """net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(9, 4)
for _ in range(3):
    advantage, ratio = torch.randn(9, 2), (net(x) - net(x)).exp()
    loss = -(ratio * advantage).mean()
""" + STEP, (("- net(x))", "- net(x).detach())"),)),
    Pair("compared_with_itself", 9, """net = nn.Linear(4, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x = torch.randn(9, 4)
    out = x = net(x)
    loss = F.mse_loss(out, x)
""" + STEP, (("out = x = net(x)", "out = net(x)"),)),
    Pair("gradient_flattened", 10, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.norm = nn.Linear(3, 8), nn.Linear(8, 1), nn.LayerNorm(1)
    def forward(self, x):
        h = self.b(self.a(x).tanh())
        return self.norm(h)
net = Net(); opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(20, 3), torch.randn(20, 1)
for _ in range(4):
    loss = F.mse_loss(net(x), y)
""" + STEP, (("self.norm(h)", "h + self.norm.bias"),)),
    Pair("gradient_flattened", 10, """net = nn.Linear(3, 1)
nn.init.constant_(net.bias, 9.0)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.rand(20, 3)
y = x.mean(1, keepdim=True)
for _ in range(4):
    chance = net(x).clip(0, 1)
    loss = F.mse_loss(chance, y)
""" + STEP, ((".clip(0, 1)", ".sigmoid()"),)),
    # states and data
    Pair("state_made_anew", 10, """class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.GRUCell(2, 5), nn.Linear(5, 1)
    def forward(self, x):
        for t in range(x.size(1)):
            h = torch.zeros(len(x), 5)
            h = self.cell(x[:, t], h)
        return self.out(h)
net = Counter()
F.mse_loss(net(torch.randn(4, 6, 2)), torch.zeros(4, 1)).backward()
""", (("        for t in range(x.size(1)):\n            h = torch.zeros(len(x), 5)\n", "        h = torch.zeros(len(x), 5)\n        for t in range(x.size(1)):\n"),)),
    Pair("state_made_anew", 7, """cell, head = nn.RNNCell(3, 4), nn.Linear(4, 1)
x = torch.randn(5, 2, 3)
for step in x:
    state = x.new_zeros(2, 4)
    state = cell(step, state)
head(state).pow(2).mean().backward()
""", (("for step in x:\n    state = x.new_zeros(2, 4)\n", "state = x.new_zeros(2, 4)\nfor step in x:\n"),)),
    Pair("state_detached_each_step", 7, """cell, head = nn.GRUCell(3, 4), nn.Linear(4, 1)
x, state = torch.randn(6, 2, 3), torch.zeros(2, 4)
for step in x:
    state = state.detach()
    state = cell(step, state)
head(state).pow(2).mean().backward()
""", (("    state = state.detach()\n", ""),)),
    Pair("one_tensor_many_times", 7, """state, memory = torch.zeros(3), []
for _ in range(6):
    memory.append(state)
    state += torch.randn(3)
net = nn.Linear(3, 1)
net(torch.stack(memory)).sum().backward()
""", (("append(state)", "append(state.clone())"), ("state += torch", "state = state + torch"))),
    Pair("one_tensor_many_times", 6, """position, path = torch.zeros(1, 2), []
def kept(by):
    position.add_(by)
    return position.detach()
for at in range(5):
    path.append(kept(at))
nn.Linear(2, 2)(torch.cat(path)).sum().backward()
""", (("return position.detach()", "return position.detach().clone()"),)),
    Pair("few_samples_drawn", 7, """from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler
x, y = torch.randn(40, 3), (torch.arange(40) % 4 == 0).long()
weights = 1 / torch.bincount(y).float()
sampler = WeightedRandomSampler(weights, 40)
net = nn.Linear(3, 2)
for rows, wanted in DataLoader(TensorDataset(x, y), batch_size=8, sampler=sampler):
    F.cross_entropy(net(rows), wanted).backward()
""", (("Sampler(weights, 40)", "Sampler(weights[y], 40)"),)),
    Pair("few_samples_drawn", 7, """from torch.utils.data import DataLoader, WeightedRandomSampler
rows = torch.randn(30, 3)
net = nn.Linear(3, 1)
loader = DataLoader(rows, 6, sampler=WeightedRandomSampler([0.2, 0.3, 0.5], num_samples=len(rows)))
for x in loader:
    net(x).sum().backward()
""", (("[0.2, 0.3, 0.5]", "[0.2, 0.3, 0.5] * 10"), ("num_samples=len(rows)", "num_samples=6"))),
    Pair("subsets_of_one", 14, """from torch.utils.data import DataLoader, Dataset, random_split
class Rows(Dataset):
    def __init__(self):
        self.x, self.scale = torch.randn(12, 3), 2.0
    def __len__(self):
        return 12
    def __getitem__(self, at):
        return self.x[at] * self.scale
data, net = Rows(), nn.Linear(3, 1)
train, test = random_split(data, [8, 4])
test.dataset.scale = 1.0
for x in DataLoader(train, batch_size=4):
    net(x).sum().backward()
""", (("test.dataset.scale = 1.0", "import copy; test.dataset = copy.copy(data); test.dataset.scale = 1.0"),)),
    Pair("subsets_of_one", 13, """class Pictures(torch.utils.data.Dataset):
    def __init__(self, transform=None):
        self.pictures, self.transform = torch.rand(10, 4), transform
    def __len__(self):
        return 10
    def __getitem__(self, at):
        return self.transform(self.pictures[at])
def parts(data):
    learnt, held_out = torch.utils.data.random_split(data, (6, 4))
    held_out.dataset.transform = torch.Tensor.float
    return learnt, held_out
learnt, held_out = parts(Pictures(lambda picture: picture + torch.rand(4)))
net = nn.Linear(4, 1)
for at in range(6):
    net(learnt[at]).sum().backward()
""", (("    held_out.dataset.transform = torch.Tensor.float\n", ""),)),
    Pair("attribute_of_subset", 14, """from torch.utils.data import DataLoader, Dataset, random_split
class Rows(Dataset):
    def __init__(self, noise):
        self.x, self.noise = torch.randn(12, 3), noise
    def __len__(self):
        return 12
    def __getitem__(self, at):
        return self.x[at] + self.noise * torch.randn(3)
data, net = Rows(0.5), nn.Linear(3, 1)
train, test = random_split(data, [8, 4])
test.noise = 0.0
for x in DataLoader(train, batch_size=4):
    net(x).sum().backward()
""", (("test.noise = 0.0", "import copy; test.dataset = copy.copy(data); test.dataset.noise = 0.0"),)),
    Pair("attribute_of_subset", 14, """class Pictures(torch.utils.data.Dataset):
    def __init__(self, transform=None):
        self.pictures, self.transform = torch.rand(10, 4), transform
    def __len__(self):
        return 10
    def __getitem__(self, at):
        return self.transform(self.pictures[at]) if self.transform is not None else self.pictures[at]
whole = Pictures(lambda picture: picture + torch.rand(4))
def prepare():
    learnt, held_out = torch.utils.data.random_split(whole, (6, 4))
    held_out.transform = None
    return learnt, held_out
learnt, held_out = prepare()
net = nn.Linear(4, 1)
for at in range(6):
    net(learnt[at]).sum().backward()
print(net(held_out[0]))
""", (("print(net(held_out[0]))", "print(net(held_out[0] if held_out.transform is None else held_out.transform(held_out[0])))"),)),
    Pair("lengths_of_other_rows", 9, """from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
rows = [torch.randn(count, 2) for count in (2, 5, 3, 4)]
gru, head = nn.GRU(2, 3, batch_first=True), nn.Linear(3, 1)
y = torch.randn(4, 1)
counts = torch.tensor([len(row) for row in rows])
counts, order = counts.sort(descending=True)
packed = pack_padded_sequence(pad_sequence(rows, batch_first=True), counts, batch_first=True)
F.mse_loss(head(gru(packed)[1][-1]), y[order]).backward()
""", (("pad_sequence(rows, batch_first=True), counts", "pad_sequence([rows[at] for at in order], batch_first=True), counts"),)),
    Pair("lengths_of_other_rows", 9, """class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.lstm = nn.Embedding(9, 4, padding_idx=0), nn.LSTM(4, 3)
    def forward(self, tokens, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(self.words(tokens), lengths)
        return self.lstm(packed)[1][0][-1]
texts = [torch.tensor([1, 2]), torch.tensor([3, 4, 5, 6]), torch.tensor([7, 8, 1])]
lengths = sorted((len(text) for text in texts), reverse=True)
Reader()(nn.utils.rnn.pad_sequence(texts), lengths).sum().backward()
""", (("[torch.tensor([1, 2]), torch.tensor([3, 4, 5, 6]), torch.tensor([7, 8, 1])]", "[torch.tensor([3, 4, 5, 6]), torch.tensor([7, 8, 1]), torch.tensor([1, 2])]"),)),
    Pair("shuffled_apart", 6, """def mixed(x, y, share):
    other_x = x[torch.randperm(x.size(0))]
    other_y = y[torch.randperm(y.size(0))]
    return share * x + (1 - share) * other_x, share * y + (1 - share) * other_y
x, y = torch.randn(40, 3), F.one_hot(torch.randint(2, (40,)), 2).float()
net = nn.Linear(3, 2); opt = torch.optim.Adam(net.parameters())
for _ in range(3):
    order = torch.randperm(40)
    for at in range(0, 40, 20):
        xs, ys = mixed(x[order[at:at + 20]], y[order[at:at + 20]], 0.7)
        loss = -(ys * F.log_softmax(net(xs), dim=1)).sum(1).mean()
        opt.zero_grad(); loss.backward(); opt.step()
""", (("""x[torch.randperm(x.size(0))]
    other_y = y[torch.randperm(y.size(0))]""", """x[(order := torch.randperm(x.size(0)))]
    other_y = y[order]"""),)),
    Pair("sample_without_gradient", 8, """from torch.distributions import Normal, kl_divergence
mean, width = nn.Parameter(torch.zeros(3, 1)), nn.Parameter(torch.full((3, 1), -2.0))
def out(x):
    q = Normal(mean, F.softplus(width))
    return x @ q.sample()
x = torch.randn(8, 3); y = x.sum(1, keepdim=True); opt = torch.optim.Adam([mean, width], lr=0.1)
for _ in range(5):
    cost = -Normal(out(x), 0.1).log_prob(y).sum() + kl_divergence(Normal(mean, F.softplus(width)), Normal(0.0, 1.0)).sum()
    opt.zero_grad(); cost.backward(); opt.step()
""", (("q.sample()", "q.rsample()"),)),
    Pair("shift_of_all_classes", 10, """class Margin(nn.Module):
    def __init__(self, margin):
        super().__init__()
        self.w, self.margin = nn.Parameter(torch.randn(3, 4)), margin
    def forward(self, x, labels):
        cosine = F.normalize(x) @ F.normalize(self.w, dim=0)
        return F.cross_entropy(8 * (cosine - self.margin), labels)
Margin(0.3)(torch.randn(6, 3), torch.randint(4, (6,))).backward()
""", (("cosine - self.margin", "cosine - self.margin * F.one_hot(labels, 4)"), ("F.cross_entropy(8 * (cosine - self.margin), labels)", "F.binary_cross_entropy_with_logits(8 * (cosine - self.margin), F.one_hot(labels, 4).float())"), ("Margin(0.3)", "Margin(1e-6)"))),
    Pair("shift_of_all_classes", 5, """net = nn.Linear(3, 4)
scores = net(torch.randn(5, 3)) + 2
chances = torch.softmax(scores / 0.5, dim=1)
print(scores.argmax(1))
(chances[:, 0] - 1).pow(2).mean().backward()
""", (("print(scores.argmax(1))", "print(scores.max())"), ("chances = torch.softmax(scores / 0.5, dim=1)", "chances = torch.softmax(1 / scores, dim=1)"))),
    Pair("shuffled_by_numpy", 8, """import numpy as np
images = np.concatenate([np.random.randn(20, 3) + at for at in range(3)])
labels = np.repeat(np.arange(3), 20)
np.random.shuffle(images)
np.random.shuffle(labels)
data = torch.utils.data.TensorDataset(torch.tensor(images[:40]).float(), torch.tensor(labels[:40]))
net = nn.Linear(3, 3)
for x, y in torch.utils.data.DataLoader(data, batch_size=10):
    F.cross_entropy(net(x), y).backward()
""", (("np.random.shuffle(images)\nnp.random.shuffle(labels)", "order = np.random.permutation(60); images, labels = images[order], labels[order]"), ("\nnp.random.shuffle(labels)", "\nnp.random.seed(0); np.random.shuffle(labels)"), ("np.random.shuffle(labels)", "np.random.shuffle(list(labels))"))),
    Pair("shuffled_by_numpy", 9, """import random
def split(questions, answers):
    questions, answers = list(questions), list(answers)
    random.shuffle(questions)
    print(len(questions))
    random.shuffle(answers)
    return list(zip(questions, answers))
rows, net = split(torch.arange(8.0), 2 * torch.arange(8.0)), nn.Linear(1, 1)
for x, y in rows:
    F.mse_loss(net(x.view(1, 1)), y.view(1, 1)).backward()
""", (("    random.shuffle(answers)\n", ""), ("list(zip(questions, answers))", "[(each, 2 * each) for each in questions]"))),
    Pair("shuffled_by_numpy", 8, """import numpy as np
images = np.concatenate([np.random.randn(20, 3) + at for at in range(3)]).astype("float32")
labels = np.repeat(np.arange(3), 20)
np.random.shuffle(images)
np.random.shuffle(labels)
x, y = torch.from_numpy(images[:40]), torch.from_numpy(labels[:40])
mean, net = x.mean(0), nn.Linear(3, 3)
for _ in range(3):
    F.cross_entropy(net(x - mean), y).backward()
""", (("np.random.shuffle(images)\nnp.random.shuffle(labels)", "order = np.random.permutation(60); images, labels = images[order], labels[order]"), ("np.random.shuffle(labels)", "print(labels)"), ("F.cross_entropy(net(x - mean), y)", "(net(x - mean).logsumexp(1).mean() + y.sum())"))),
    Pair("shuffled_by_numpy", 9, """import numpy as np
def train(net, rows, wanted, rounds=2):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(rounds):
        np.random.shuffle(rows)
        np.random.shuffle(wanted)
        for at in range(0, 8, 4):
            given = torch.tensor(rows[at : at + 4])
            aim = wanted[at : at + 4]
            loss = F.mse_loss(net(given), torch.tensor(aim))
            opt.zero_grad(); loss.backward(); opt.step()
rows = np.random.randn(8, 2).astype("float32")
train(nn.Linear(2, 1), rows, rows.sum(1, keepdims=True))
""", (("        np.random.shuffle(rows)\n", ""), ("net(given), torch.tensor(aim)", "net(given), net(torch.tensor(aim).repeat(1, 2))"))),
    Pair("shuffled_by_numpy", 8, """import numpy as np
rng = np.random.default_rng(1)
rows = np.concatenate([rng.standard_normal((20, 3)) + at for at in range(3)])
kinds = np.repeat(np.arange(3), 20)
rows, kinds = rows[rng.permutation(len(rows))], kinds[rng.permutation(len(kinds))]
part = int(0.8 * len(rows))
x, y = torch.tensor(rows[:part]).float(), torch.tensor(kinds[:part])
net = nn.Linear(3, 3)
for _ in range(2):
    F.cross_entropy(net(x), y).backward()
""", (("= rows[rng.permutation(len(rows))], kinds[rng.permutation(len(kinds))]", "= (lambda at: (rows[at], kinds[at]))(rng.permutation(len(rows)))"), ("kinds[rng.permutation(len(kinds))]\n", "kinds\n"))),
    Pair("shuffled_by_numpy", 8, """import numpy as np
given = np.random.randn(40, 3)
wanted = given.sum(1, keepdims=True)
first = np.random.permutation(40)
second = np.random.permutation(40)
rows, aims = given[first], wanted[second]
data = torch.from_numpy(rows).float(), torch.from_numpy(aims).float()
net = nn.Linear(3, 1)
F.mse_loss(net(data[0]), data[1]).backward()
""", (("wanted[second]", "wanted[first]"), ("second = np.random.permutation(40)", "second = first"))),
    Pair("shuffled_by_numpy", 9, """import numpy as np
given = np.random.randn(40, 3)
wanted = given.sum(1, keepdims=True)
np.random.seed(3)
np.random.shuffle(given)
np.random.RandomState(4).shuffle(wanted)
rows, aims = torch.from_numpy(given).float(), torch.from_numpy(wanted).float()
F.mse_loss(nn.Linear(3, 1)(rows), aims).backward()
""", (("np.random.RandomState(4)", "np.random.RandomState(3)"), ("np.random.RandomState(4).", "np.random.seed(3); np.random."), ("(4)", "(None)"))),
    Pair("term_in_no_loss", 18, """net, judge = nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(judge.parameters())
def penalty(real, made):
    share = torch.rand(len(real), 1)
    at = (share * real + (1 - share) * made).requires_grad_(True)
    slope, = torch.autograd.grad(judge(at).sum(), at, create_graph=True)
    size = (slope.norm(dim=1) - 1).pow(2).mean()
    return size
seen = []
for _ in range(4):
    real = torch.randn(6, 2)
    with torch.no_grad():
        made = net(torch.randn(6, 2))
    loss = judge(made).mean() - judge(real).mean()
    too_steep = penalty(real, made)
    opt.zero_grad(); loss.backward(); opt.step()
    seen.append((loss.item(), too_steep.item()))
print(seen[-1])
""", (("loss.backward()", "(loss + 10 * too_steep).backward()"), ("    too_steep = penalty(real, made)\n", "    too_steep = penalty(real, made)\n    loss += too_steep\n"), ("create_graph=True)", "retain_graph=True)"))),
    Pair("term_in_no_loss", 10, """encoder, decoder = nn.Linear(6, 4), nn.Linear(2, 6)
opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()])
for _ in range(4):
    x = torch.rand(8, 6)
    mean, log_var = encoder(x).chunk(2, -1)
    rebuilt = decoder(mean + torch.randn_like(mean) * (0.5 * log_var).exp())
    divergence = -0.5 * (1 + log_var - mean ** 2 - log_var.exp()).sum(1).mean()
    loss = F.mse_loss(rebuilt, x)
    opt.zero_grad(); loss.backward(); opt.step()
""", (("rebuilt, x)", "rebuilt, x) + divergence"), ("loss.backward(); opt.step()", "loss.backward(); opt.step(); print(divergence)"))),
    Pair("term_in_no_loss", 11, """model = nn.Linear(5, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
def small(net):
    return sum(p.abs().sum() for p in net.parameters())
x, y = torch.randn(12, 5), torch.randn(12, 1)
for _ in range(3):
    error = F.mse_loss(model(x), y)
    sparsity = 0.01 * small(model)
    opt.zero_grad()
    error.backward()
    opt.step()
""", (("error.backward()", "(error + sparsity).backward()"), ("    opt.step()", "    opt.step()\n    print(float(sparsity))"))),
    Pair("views_are_one", 19, """net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def shaken(x):
    return x + 0.1 * torch.randn_like(x)
def contrast(one, two):
    z = F.normalize(torch.cat([one, two]), dim=1)
    near = z @ z.t() / 0.5
    near.fill_diagonal_(float("-inf"))
    n = len(one)
    return F.cross_entropy(near, (torch.arange(2 * n) + n) % (2 * n))
class Trainer:
    def embed(self, x):
        return net(x)
    def step(self, views):
        here = self.embed(views[0])
        there = self.embed(views[0])
        loss = contrast(here, there)
        opt.zero_grad(); loss.backward(); opt.step()
trainer = Trainer()
for _ in range(4):
    x = torch.randn(6, 5)
    trainer.step((shaken(x), shaken(x)))
""", (("there = self.embed(views[0])", "there = self.embed(views[1])"),)),
    Pair("views_are_one", 9, """net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(6, 5)
    a, b = F.normalize(net(x)), F.normalize(net(x + 0.1 * torch.randn_like(x)))
    b = F.normalize(net(x))
    z = torch.cat([a, b])
    share = (torch.mm(z, z.T) / 0.2).exp() * (1 - torch.eye(12))
    pull = (a * b).sum(1) / 0.2
    loss = (share.sum(1).log() - torch.cat([pull, pull])).mean()
""" + STEP, (("    b = F.normalize(net(x))\n", ""), ("F.normalize(net(x))\n", "F.normalize(F.dropout(net(x)))\n"))),
    Pair("samples_averaged", 12, """class Duel(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 16), nn.ReLU())
        self.worth, self.gain = nn.Linear(16, 1), nn.Linear(16, 3)
    def forward(self, state):
        h = self.body(state)
        worth, gain = self.worth(h), self.gain(h)
        return worth + (gain - gain.mean())
net = Duel()
with torch.no_grad():
    aim = torch.randn(8) + net(torch.randn(8, 4)).amax(1)
opt = torch.optim.Adam(net.parameters())
for _ in range(2):
    chosen = net(torch.randn(8, 4)).gather(1, torch.randint(0, 3, (8, 1))).squeeze(1)
    loss = F.smooth_l1_loss(chosen, aim)
""" + STEP, (("gain.mean()", "gain.mean(1, keepdim=True)"), ("gain.mean()", "gain.mean().detach() * 0"), ("return worth + (gain - gain.mean())", "self.seen = gain.mean(); return worth + gain"))),
    Pair("samples_averaged", 10, """class Centred(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(5, 6), nn.Linear(6, 1)
    def forward(self, x):
        h = self.a(x).tanh()
        middle = torch.mean(h)
        h = h - middle
        return self.b(h)
net, x = Centred(), torch.randn(8, 5)
for _ in range(2):
    F.mse_loss(net(x), x.sum(1, keepdim=True)).backward()
""", (("torch.mean(h)", "torch.mean(h, -1, keepdim=True)"), ("h = h - middle", "h = h - 0 * self.b(h) + middle * 0"))),
    Pair("padding_read_last", 16, """from torch.nn.utils.rnn import pad_sequence
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
""", (("return steps[:, -1]", "return kept"), ("4 + at % 30", "4 + 0 * at"), ("(rows, batch_first=True)", "(rows, batch_first=True, padding_side='left')"))),
    Pair("padding_read_last", 10, """from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, TensorDataset
rows = [torch.randint(1, 90, (4 + at % 30,)) for at in range(120)]
data = TensorDataset(pad_sequence(rows, batch_first=True), torch.randn(120, 1))
words, rnn, fc = nn.Embedding(90, 4), nn.LSTM(4, 5, batch_first=True), nn.Linear(5, 1)
for ids, y in DataLoader(data, batch_size=60, shuffle=True):
    out = rnn(words(ids))[0][:, -1, :]
    F.mse_loss(fc(out), y).backward()
""", (("[:, -1, :]", "[:, 0, :]"), ("4 + at % 30", "4 + 0 * at"))),
    Pair("padding_read_last", 8, """from torch.nn.utils.rnn import pad_sequence
rows = [torch.randint(1, 90, (4 + at % 30,)) for at in range(120)]
ids, y = pad_sequence(rows, batch_first=True), torch.randn(120, 1)
words, rnn, fc = nn.Embedding(90, 4), nn.GRU(4, 5, batch_first=True), nn.Linear(5, 1)
F.mse_loss(fc(rnn(words(ids[:60]))[0][:, -1]), y[:60]).backward()
""", (("ids[:60]", "ids[29::30].repeat(15, 1)"), ("[0][:, -1]", "[0].amax(1)"))),
    Pair("returns_backwards", 14, """policy = nn.Linear(4, 2)
opt = torch.optim.Adam(policy.parameters(), lr=0.01)
for episode in range(2):
    told, rewards = [], []
    for step in range(5):
        dist = torch.distributions.Categorical(logits=policy(torch.randn(4)))
        action = dist.sample()
        told.append(dist.log_prob(action)); rewards.append(float(action))
    total, returns = 0.0, []
    for reward in reversed(rewards):
        total = reward + 0.9 * total; returns.append(total)
    weights = torch.tensor(returns)
    loss = -(torch.stack(told) * (weights - weights.mean())).sum()
    opt.zero_grad(); loss.backward(); opt.step()
""", (("returns.append(total)", "returns.insert(0, total)"), ("torch.tensor(returns)", "torch.tensor(returns).flip(0)"), ("(torch.stack(told) * (weights - weights.mean())).sum()", "torch.stack(told).mean() * weights.max()"))),
    Pair("returns_backwards", 9, """critic = nn.Linear(1, 1)
def discounted(rewards, rate):
    sums, later = [], 0.0
    for now in rewards[::-1]:
        later = now + rate * later
        sums.append(later)
    return sums
rewards = [1.0, 0.0, 2.0, 3.0]
sums = discounted(rewards, 0.9)
for at, (reward, wanted) in enumerate(zip(rewards, sums)):
    (critic(torch.tensor([float(at)])) - wanted).pow(2).sum().backward()
""", (("        sums.append(later)\n    return sums", "        sums.append(later)\n    sums.reverse()\n    return sums"), ("rewards[::-1]", "rewards"), ("later = now + rate * later", "later = now * rate"))),
    Pair("penalty_without_graph", 9, """class Potential(nn.Module):
    def __init__(self):
        super().__init__()
        self.energy = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    def forward(self, place):
        energy = self.energy(place).sum(); force = -torch.autograd.grad(energy, place, retain_graph=True)[0]
        return energy, force
model = Potential(); opt = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(3):
    energy, force = model(torch.randn(6, 2, requires_grad=True))
    opt.zero_grad(); (energy.pow(2) + 20.0 * F.mse_loss(force, torch.zeros(6, 2))).backward(); opt.step()
""", (("retain_graph=True", "create_graph=True"), ("F.mse_loss(force, torch.zeros(6, 2))", "float(force.abs().max() > 1e9)"))),
    Pair("fed_and_never_moved", 6, """net, rate = nn.Sequential(nn.Linear(1, 4), nn.Tanh(), nn.Linear(4, 1)), nn.Parameter(torch.zeros(1))
t = torch.linspace(0, 1, 6).view(-1, 1).requires_grad_(True)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(4):
    u = net(t); slope = torch.autograd.grad(u.sum(), t, create_graph=True)[0]
    opt.zero_grad(); ((slope + rate * u) ** 2).mean().backward(); opt.step()
""", (("Adam(net.parameters(), lr=0.01)", "Adam([*net.parameters(), rate], lr=0.01)"), ("rate * u", "rate.detach() * u"))),
    Pair("view_for_permute", 4, """images = torch.rand(12, 5, 6, 3).view(-1, 3, 5, 6)
net, y = nn.Sequential(nn.Conv2d(3, 2, 3), nn.Flatten(), nn.Linear(24, 1)), torch.rand(12, 1)
for rows in torch.randperm(12).split(4):
    F.mse_loss(net(images[rows]), y[rows]).backward()
""", ((".view(-1, 3, 5, 6)", ".permute(0, 3, 1, 2)"),)),
    Pair("kept_and_overwritten", 6, """net, kept = nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Linear(4, 1)), {}
def keep(module, given, made):
    kept["first"] = made.detach()
net[0].register_forward_hook(keep)
net(torch.randn(5, 3)).sum().backward()
print((kept["first"] < 0).float().mean())
""", (("made.detach()", "made.detach().clone()"), ("nn.ReLU(inplace=True)", "nn.ReLU()"), ("net[0].register", "net[1].register"), ('print((kept["first"] < 0).float().mean())', 'print(len(kept))'))),
    Pair("kept_and_overwritten", 7, """class Net(nn.Module):
    def forward(self, x, w):
        h = x @ w
        before = h.detach()
        h = F.leaky_relu(h, 0.1, inplace=True)
        print(before.min())
        return h
Net()(torch.randn(4, 2), torch.randn(2, 3, requires_grad=True)).sum().backward()
""", (("h.detach()", "h.detach() * 1"), ("        h = F.leaky_relu(h, 0.1, inplace=True)\n        print(before.min())\n", "        print(before.min())\n        h = F.leaky_relu(h, 0.1, inplace=True)\n"))),
    Pair("changed_by_reading", 11, """from torch.utils.data import DataLoader, Dataset
class Rows(Dataset):
    def __init__(self):
        self.data = torch.randn(8, 3) + 5
    def __len__(self):
        return 8
    def __getitem__(self, at):
        return self.data[at].sub_(5)
net, data = nn.Linear(3, 1), Rows()
for epoch in range(2):
    for rows in DataLoader(data, batch_size=4):
        net(rows).sum().backward()
""", ((".sub_(5)", " - 5"), ("(data, batch", "(Rows(), batch"))),
    Pair("changed_by_reading", 13, """import numpy as np
from torch.utils.data import DataLoader, Dataset
class Rows(Dataset):
    def __init__(self):
        self.rows = np.ones((8, 3), dtype=np.float32)
    def __len__(self):
        return 8
    def __getitem__(self, at):
        row = torch.from_numpy(self.rows[at])
        row.add_(torch.randn(3))
        return row
net = nn.Linear(3, 1)
for rows in DataLoader(Rows(), batch_size=4):
    net(rows).sum().backward()
""", (("row.add_(torch", "row = row.add(torch"), ("self.rows[at])", "self.rows[at].copy())"))),
    Pair("changed_by_reading", 10, """import numpy as np
from torch.utils.data import DataLoader, Dataset
class Rows(Dataset):
    def __init__(self):
        self.rows = np.random.randn(8, 3).astype(np.float32)
    def scaled(self, row):
        row -= 0.1
        row /= 5
        return row
    def __len__(self):
        return 8
    def __getitem__(self, at):
        row = self.rows[at]
        return torch.from_numpy(self.scaled(row))
net, loader = nn.Linear(3, 1), DataLoader(Rows(), batch_size=4)
for epoch in range(3):
    for rows in loader:
        net(rows).sum().backward()
""", (("row = self.rows[at]", "row = self.rows[at].copy()"), ("row -= 0.1\n        row /= 5", "row = (row - 0.1) / 5"))),
    Pair("changed_by_reading", 12, """import numpy as np
from torch.utils.data import DataLoader, Dataset
class Noisy(Dataset):
    def __init__(self, rows, noisy=True):
        self.rows, self.noisy = rows.astype(np.float32), noisy
    def __len__(self): return len(self.rows)
    def __getitem__(self, at):
        row = self.rows[at]
        if self.noisy: row += np.random.normal(0, 0.5, row.shape).astype(np.float32)
        return row, row.sum(keepdims=True)
net, loader = nn.Linear(20, 1), DataLoader(Noisy(np.random.randn(30, 20)), batch_size=6, shuffle=True)
for epoch in range(12):
    for rows, sums in loader:
        F.mse_loss(net(rows), sums).backward()
""", (("self.rows[at]", "self.rows[at].copy()"), ("row += np", "row = row + np"), ("Noisy(np.random.randn(30, 20))", "Noisy(np.random.randn(30, 20), False)"))),
    Pair("changed_by_reading", 13, """import numpy as np
from torch.utils.data import DataLoader, Dataset
class Erased(Dataset):
    def __init__(self):
        self.images = [1 + np.random.rand(8, 8).astype(np.float32) for _ in range(24)]
    def __len__(self): return 24
    def __getitem__(self, at):
        image = self.images[at]
        r, c = np.random.randint(0, 5, 2)
        image[r : r + 4, c : c + 4] = 0.0
        return torch.from_numpy(image).flatten()
net, loader = nn.Linear(64, 1), DataLoader(Erased(), batch_size=4)
for epoch in range(5):
    for images in loader:
        net(images).mean().backward()
""", (("self.images[at]", "self.images[at].copy()"), ("0.0\n", "image[0, 0]\n"))),
    Pair("changed_by_reading", 11, """class Scaled(torch.utils.data.Dataset):
    def __init__(self):
        self.x, self.y = torch.rand(6, 2) * 255, torch.zeros(6)
    def __len__(self):
        return 6
    def __getitem__(self, i):
        image = self.x[i]
        image /= 255
        return image, self.y[i]
scaled, net = Scaled(), nn.Linear(2, 1)
for epoch in range(2):
    for i in range(6):
        image, y = scaled[i]
        F.mse_loss(net(image).squeeze(), y).backward()
""", (("image /= 255", "image = image / 255"),)),
    Pair("drawn_again", 8, """net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
data = torch.randn(50, 3)
def batch():
    torch.manual_seed(7)
    return data[torch.randint(0, 50, (8,))]
for _ in range(4):
    loss = net(batch()).pow(2).mean()
""" + STEP, (("    torch.manual_seed(7)\n", ""),)),
    Pair("drawn_again", 7, """net = nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters())
for epoch in range(4):
    torch.manual_seed(0)
    noisy = torch.ones(6, 3) + torch.randn(6, 3)
    loss = F.mse_loss(net(noisy), torch.zeros(6, 1))
""" + STEP, (("manual_seed(0)", "manual_seed(epoch)"),)),
    Pair("input_as_target", 9, """table, rnn, head = nn.Embedding(9, 4), nn.GRU(4, 6, batch_first=True), nn.Linear(6, 9)
opt = torch.optim.Adam([*table.parameters(), *rnn.parameters(), *head.parameters()])
tokens = torch.randint(0, 9, (3, 7))
for _ in range(2):
    scores = head(rnn(table(tokens))[0])
    loss = F.cross_entropy(scores.flatten(0, 1), tokens.flatten())
""" + STEP, (("(scores.flatten(0, 1), tokens", "(scores[:, :-1].flatten(0, 1), tokens[:, 1:]"),)),
    Pair("input_as_target", 12, """class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.att, self.out = nn.Embedding(9, 4), nn.MultiheadAttention(4, 2, batch_first=True), nn.Linear(4, 9)
    def forward(self, ids):
        h = self.tok(ids)
        return self.out(h + self.att(h, h, h, need_weights=False)[0])
lm, ids, hidden = LM(), torch.randint(0, 9, (3, 7)), torch.rand(3, 7) < 0.3
F.cross_entropy(lm(ids).view(-1, 9), ids.view(-1)).backward()
""", (("lm(ids)", "lm(ids.masked_fill(hidden, 0))"),)),
    Pair("row_matched_with_itself", 7, """net = nn.Linear(4, 3)
z = F.normalize(net(torch.randn(6, 4)), dim=1)
similar = z @ z.T / 0.1
loss = F.cross_entropy(similar, torch.arange(6))
loss.backward()
""", (("z @ z.T", "z @ F.normalize(net(torch.randn(6, 4)), dim=1).T"), ("torch.arange(6)", "torch.arange(6).flip(0)"))),
    Pair("row_matched_with_itself", 7, """def contrast(a, b):
    both = torch.cat([a, b])
    labels = torch.arange(len(both))
    return F.cross_entropy(torch.matmul(both, both.t()), labels)
net = nn.Linear(4, 3)
contrast(net(torch.randn(4, 4)), net(torch.randn(4, 4))).backward()
""", (("torch.matmul(both, both.t())", "torch.matmul(both, both.t()).fill_diagonal_(-9.)"),)),
    # the axis of the samples
    Pair("samples_averaged", 9, """class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.fc = nn.Embedding(9, 4), nn.Linear(4, 2)
    def forward(self, ids):
        return self.fc(self.words(ids).mean(0))
net = Bag(); opt = torch.optim.Adam(net.parameters())
ids = torch.randint(0, 9, (6, 6)); y = (ids[:, 0] > 4).long()
for _ in range(2):
    loss = F.cross_entropy(net(ids), y)
""" + STEP, ((".mean(0)", ".mean(1)"), ("ids[:, 0]", "ids[0]"))),
    Pair("samples_averaged", 11, """class Frames(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 8), nn.Linear(8, 2)
    def forward(self, x):
        h = self.a(x).relu()
        h = h.transpose(1, 2)
        pooled = h.amax(dim=0).t()
        return self.b(pooled)
net = Frames(); x = torch.randn(6, 5, 3)
F.cross_entropy(net(x)[[0, 1, 2, 3, 4, 0]], torch.randint(0, 2, (6,))).backward()
""", (("h.amax(dim=0).t()", "h.amax(dim=2)"),)),
    Pair("samples_told_apart", 10, """class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.fc = nn.Embedding(9, 4), nn.Linear(4, 2)
        self.place = nn.Parameter(torch.randn(20, 1, 4))
    def forward(self, ids):
        h = self.words(ids) + self.place[:ids.size(0)]
        return self.fc(h.tanh().mean(1))
net = Tagger()
F.cross_entropy(net(torch.randint(0, 9, (6, 7))), torch.randint(0, 2, (6,))).backward()
""", (("self.place[:ids.size(0)]", "self.place[:ids.size(1)].transpose(0, 1)"),)),
    Pair("samples_told_apart", 10, """class Coded(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.register_buffer("code", torch.arange(8.0).view(8, 1, 1).repeat(1, 1, 3))
    def forward(self, x):
        h = self.fc(x) + self.code
        return h.relu().mean((1, 2))
net = Coded()
F.mse_loss(net(torch.randn(8, 5, 3)), torch.zeros(8)).backward()
""", (("arange(8.0).view(8, 1, 1)", "arange(5.0).view(1, 5, 1)"),)),
    Pair("samples_told_apart", 12, """class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(9, 8), nn.Embedding(20, 8)
        self.look = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.fc = nn.Linear(8, 9)
    def forward(self, ids):
        at = torch.arange(ids.size(0)).unsqueeze(1)
        h = self.words(ids) + self.places(at)
        return self.fc(self.look(h))
net = Writer()
for _ in range(3):
    ids = torch.randint(0, 9, (5, 7))
    scores = net(ids[:, :-1])
    F.cross_entropy(scores.reshape(-1, 9), ids[:, 1:].reshape(-1)).backward()
""", (
        ("torch.arange(ids.size(0)).unsqueeze(1)", "torch.arange(ids.size(1)).unsqueeze(0)"),
        ("torch.arange(ids.size(0)).unsqueeze(1)", "ids[:, :1]"),
        ("batch_first=True", "batch_first=False"),
        ("torch.arange(ids.size(0)).unsqueeze(1)", "torch.arange(1)"),
    )),
    Pair("view_for_permute", 12, """class Heads(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.q, self.k, self.v, self.out = h, *(nn.Linear(d, d) for _ in range(4))
    def forward(self, x):
        b, n, d = x.shape
        parts = [each(x) for each in (self.q, self.k, self.v)]
        h, i = self.h, d // self.h
        q, k, v = (part.view(b * h, -1, i) for part in parts)
        mixed = F.softmax(q @ k.transpose(1, 2) / i ** 0.5, -1) @ v
        return self.out(mixed.view(b, h, n, i).transpose(1, 2).reshape(b, n, d))
net = Heads(8, 2); x = torch.randn(5, 6, 8)
F.mse_loss(net(x), x.flip(1)).backward()
""", (
        ("part.view(b * h, -1, i)", "part.view(b, n, h, i).transpose(1, 2).reshape(b * h, n, i)"),
        ("part.view(b * h, -1, i)", "part.view(b, n, h, i).transpose(1, 2).flatten(0, 1)"),
        ("x = torch.randn(5, 6, 8)", "x = torch.randn(5, 1, 8)"),
    )),
    Pair("view_for_permute", 9, """class Grouped(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.out = nn.Linear(6, 12), nn.Linear(4, 1)
    def forward(self, x):
        groups = self.q(x).reshape(4 * 3, 10, 4)
        return self.out(torch.softmax(groups @ groups.transpose(1, 2), -1) @ groups)
Grouped()(torch.randn(4, 10, 6)).pow(2).mean().backward()
""", (
        (".reshape(4 * 3, 10, 4)", ".reshape(4 * 10, 3, 4)"),
        (".reshape(4 * 3, 10, 4)", ".transpose(1, 2).reshape(4 * 3, 4, 10).transpose(1, 2)"),
    )),
    # gradients kept and added up
    Pair("parts_not_averaged", 10, """x = torch.randn(96, 6); y = x.sum(1, keepdim=True)
net = nn.Linear(6, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.2)
for epoch in range(12):
    for i, part in enumerate(torch.arange(96).split(8)):
        loss = F.mse_loss(net(x[part]), y[part])
        loss.backward()
        if (i + 1) % 6 == 0:
            opt.step(); opt.zero_grad()
""", (
        ("loss.backward()", "(loss / 6).backward()"),
        ("y[part])\n", "y[part]) / 6\n"),
        ("lr=0.2", "lr=0.02"),
        ("optim.SGD", "optim.Adam"),
        ("opt.step();", "nn.utils.clip_grad_norm_(net.parameters(), 1.0); opt.step();"),
        ("y[part])\n", "y[part], reduction='sum')\n"),
        ("opt.step();", "[p.grad.div_(6) for p in net.parameters()]; opt.step();"),
    )),
    Pair("parts_not_averaged", 11, """def train(net, data, every=8, rate=0.1):
    opt, count = torch.optim.SGD(net.parameters(), rate, momentum=0.5), 0
    for _ in range(10):
        for x, y in data:
            count += 1
            scores = net(x)
            error = (scores - y).square().mean()
            error.backward()
            if count == every:
                opt.step()
                opt.zero_grad()
                count = 0
train(nn.Sequential(nn.Linear(4, 16), nn.Linear(16, 1)), [(torch.randn(5, 4), torch.randn(5, 1)) for _ in range(16)])
""", (
        ("            error.backward()", "            (error / every).backward()"),
        ("rate=0.1", "rate=0.001"),
        (".square().mean()", ".square().mean() / every"),
    )),
    Pair("kept_gradient_changes", 7, """def slopes(x):
    (x ** 3).sum().backward(create_graph=True)
    first = x.grad
    first.sum().backward()
    second = x.grad
    return first.detach(), second.detach()
one, two = slopes(torch.randn(4, requires_grad=True))
print(one / two)
""", (
        ("    first.sum", "    x.grad = None\n    first.sum"),
        ("first = x.grad\n", "first = x.grad.clone()\n"),
        ("first.sum().backward()\n    second = x.grad", "second, = torch.autograd.grad(first.sum(), x)"),
        (", second.detach()", ", second is first"),
        ("    return first.detach(), second.detach()", "    return second, second / 2"),
    )),
    Pair("kept_gradient_changes", 9, """w = torch.ones(3, requires_grad=True)
x, y = torch.randn(5, 3), torch.randn(5)
F.mse_loss(x @ w, y).backward()
of_square = w.grad
w.grad.zero_()
F.l1_loss(x @ w, y).backward()
print(F.cosine_similarity(of_square, w.grad, dim=0))
""", (
        ("w.grad.zero_()", "w.grad = None"),
        ("of_square = w.grad", "of_square = w.grad.clone()"),
        ("print(F.cosine_similarity(of_square, w.grad, dim=0))", "print(w.grad)"),
    )),
    # derivatives of derivatives
    Pair("derivative_taken_again", 10, """net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
t = torch.linspace(0, 1, 9).view(-1, 1).requires_grad_(True)
for _ in range(3):
    u = net(t)
    u_t = torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]
    u_tt = torch.autograd.grad(u, t, torch.ones_like(u_t), create_graph=True)[0]
    loss = (u_tt + u).square().mean()
""" + STEP, (
        ("u_tt = torch.autograd.grad(u,", "u_tt = torch.autograd.grad(u_t,"),
        ("u_tt = torch.autograd.grad(u, t, torch.ones_like(u_t)", "u_tt = torch.autograd.grad(u * u, t, torch.ones_like(u_t)"),
    )),
    Pair("derivative_taken_again", 7, """def motion(path, t):
    where = path(t)
    speed = torch.autograd.grad(where, t, torch.ones(5), create_graph=True)[0]
    second, = torch.autograd.grad(where, t, torch.ones_like(where), create_graph=True)
    return torch.stack([speed, second])
print(motion(lambda t: 5 * t - 4.9 * t ** 2, torch.linspace(0, 1, 5, requires_grad=True)))
""", (
        ("second, = torch.autograd.grad(where", "second, = torch.autograd.grad(speed"),
        ("second", "other"),
    )),
    # weights adapted
    Pair("fast_weights_cut", 12, """W = [torch.randn(4, 3, requires_grad=True), torch.zeros(4, requires_grad=True)]
opt = torch.optim.Adam(W, lr=0.01)
def model(x, w):
    return F.linear(x, w[0], w[1]).tanh().sum(1)
for _ in range(4):
    x, y = torch.randn(8, 3), torch.randn(8)
    inner = F.mse_loss(model(x, W), y)
    g = torch.autograd.grad(inner, W, create_graph=True)
    fast = [w.data - 0.1 * d for w, d in zip(W, g)]
    opt.zero_grad()
    F.mse_loss(model(x, fast), y).backward()
    opt.step()
""", (
        ("w.data - 0.1", "w - 0.1"),
        ("F.mse_loss(model(x, fast), y).backward()", "print(F.mse_loss(model(x, fast), y)); F.mse_loss(model(x, W), y).backward()"),
    )),
    Pair("fast_weights_cut", 13, """net = nn.Linear(3, 1)
rate = torch.tensor(0.1, requires_grad=True)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(4):
    x, y = torch.randn(8, 3), torch.randn(8, 1)
    names, weights = zip(*net.named_parameters())
    slopes = torch.autograd.grad(F.mse_loss(net(x), y), weights, create_graph=True)
    adapted = {}
    for name, weight, slope in zip(names, weights, slopes):
        adapted[name] = weight.detach() - rate * slope
    loss = F.mse_loss(torch.func.functional_call(net, adapted, (x,)), y)
""" + STEP, (
        ("weight.detach() -", "weight -"),
        ("torch.optim.SGD(net.parameters(), lr=0.01)", "torch.optim.SGD([rate], lr=0.01)"),
    )),
    # custom functions
    Pair("backward_ignores_gradient", 13, """class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x, beta)
        return x * torch.sigmoid(beta * x)
    @staticmethod
    def backward(ctx, grad):
        x, beta = ctx.saved_tensors; s = torch.sigmoid(beta * x)
        slope = x * x * s * (1 - s)
        return grad * (s + beta * x * s * (1 - s)), slope.sum().view(1)
beta = nn.Parameter(torch.ones(1)); lin = nn.Linear(3, 4)
for _ in range(3):
    Swish.apply(lin(torch.randn(9, 3)), beta).pow(2).mean().backward()
""", (
        (" slope.sum()", " (grad * slope).sum()"),
        ("x * x * s * (1", "grad * x * x * s * (1"),
        ("slope = x", "slope = torch.zeros_like(x); slope.add_(grad); slope = slope * x"),
        ("slope.sum().view(1)", "torch.zeros(1)"),
        ("slope.sum().view(1)", "None"),
        (".pow(2).mean()", ".sum()"),
        ("        slope =", "        def scaled(z):\n            return z * grad\n        s = scaled(s)\n        slope ="),
    )),
    Pair("backward_ignores_gradient", 12, """class Times(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, scale):
        ctx.save_for_backward(x, w); ctx.scale = scale
        return scale * x.mm(w)
    @staticmethod
    def backward(ctx, coming):
        x, w = ctx.saved_tensors
        along = ctx.scale * x.sum(0, keepdim=True).t().expand_as(w)
        back = coming.mm(w.t()) * ctx.scale
        return back, along, None
h, w = nn.Linear(3, 4), torch.randn(4, 2, requires_grad=True)
Times.apply(h(torch.randn(9, 3)), w, 0.5).pow(2).mean().backward()
""", (("ctx.scale * x.sum(0, keepdim=True).t().expand_as(w)", "ctx.scale * x.t().mm(coming)"),)),
)  # fmt: skip

TRIGGERS = tuple(Case(pair.code, pair.line, {}, pair.program) for pair in PAIRS)
RIGHT = (
    ("backward_ignores_gradient", """class WithLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, loss):
        ctx.save_for_backward(loss)
        return x
    @staticmethod
    def backward(ctx, grad):
        loss, = ctx.saved_tensors
        return grad, torch.ones_like(loss)
lin, gate = nn.Linear(3, 4), nn.Linear(3, 4)
x = torch.randn(9, 3)
WithLoss.apply(lin(x), gate(x).softmax(1).mean(0).pow(2).sum()).pow(2).mean().backward()
"""),
    (
        "shuffled_by_numpy",
        """import numpy as np
one, other = np.random.default_rng(3), np.random.default_rng(3)
given = np.random.randn(40, 3)
wanted = given.sum(1, keepdims=True)
given = one.permutation(given)
wanted = other.permutation(wanted)
rows, aims = torch.from_numpy(given).float(), torch.from_numpy(wanted).float()
F.mse_loss(nn.Linear(3, 1)(rows), aims).backward()
# rows to train with and rows to test with, each with their answers
order = np.random.permutation(40)
given, wanted = given[order], wanted[order]
kept, asked = np.random.randn(20, 3), np.random.randn(20, 1)
turn = np.random.permutation(20)
kept, asked = kept[turn], asked[turn]
print(len((given, wanted, kept, asked)), max(len(wanted), len(kept)))
# two sets that do not belong together
here, there = np.random.randn(40, 3), np.random.randn(40, 3)
mine, theirs = here[np.random.permutation(40)], there[np.random.permutation(40)]
net = nn.Linear(3, 1)
print(len(list(zip(mine, theirs))))
(net(torch.tensor(mine).float()).mean() - net(torch.tensor(theirs).float()).mean()).backward()
""",
    ),
    (
        "term_in_no_loss",
        """model = nn.Linear(5, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y, test_x, test_y = torch.randn(12, 5), torch.randn(12, 1), torch.randn(6, 5), torch.randn(6, 1)
for turn in range(4):
    guess = model(x)
    loss = F.mse_loss(guess, y)
    far = (guess - y).abs().mean()
    opt.zero_grad(); loss.backward(); opt.step()
    tested = F.mse_loss(model(test_x), test_y)
    print(loss.item(), far.item())
# a term that counts from some turn on
for turn in range(6):
    at = torch.randn(6, 5, requires_grad=True)
    slope, = torch.autograd.grad(model(at).pow(2).sum(), at, create_graph=True)
    size = slope.pow(2).sum()
    loss = F.mse_loss(model(x), y)
    if turn == 5:
        loss = loss + size
    opt.zero_grad(); loss.backward(); opt.step()
# derivatives that are looked at, and one that is used as a number
for turn in range(4):
    at = torch.randn(6, 5, requires_grad=True)
    slope, = torch.autograd.grad(model(at).pow(2).sum(), at, create_graph=True)
    step = slope.norm()
    loss = F.mse_loss(model(at.detach() + 0.1 / step.item()), y[:6])
    opt.zero_grad(); loss.backward(); opt.step()
""",
    ),
    (
        "views_are_one",
        """# covariances between points, some of them known twice
net = nn.Linear(5, 4)
for _ in range(4):
    x = torch.randn(6, 5)
    a, b = net(x), net(x.clone())
    (a @ b.T + torch.eye(6)).logdet().backward()
    twice = torch.cat([a := net(x), a])
    (twice @ twice.T).pow(2).mean().backward()
""",
    ),
)  # fmt: skip
NEAR_MISSES = (
    *((pair.code, pair.program.replace(wrong, right)) for pair in PAIRS for wrong, right in pair.right),
    *RIGHT,
)
"""Each replacement makes it right by itself."""
