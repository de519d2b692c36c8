"""What `engine/findings/value_learning.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import STEP, Mistake

BOOTSTRAP = """net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
s, s2, r = torch.randn(6, 3), torch.randn(6, 3), torch.randn(6)
q = net(s)[:, 0]
aim = r + 0.9 * FUTURE
F.smooth_l1_loss(q, aim).backward()
"""

Q_LEARNING = f"""net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    s, s2, r, a = torch.randn(6, 3), torch.randn(6, 3), torch.randn(6), torch.randint(4, (6, 1))
    q = NOW
    with torch.no_grad():
        aim = r + 0.9 * net(s2).max(1)[0] * torch.ones(6)
    loss = F.mse_loss(q, aim)
{STEP}"""

ACTOR_CRITIC = """pi, v = nn.Linear(3, 2), nn.Linear(3, 1)
s, ret = torch.randn(6, 3), torch.randn(6)
d = torch.distributions.Categorical(logits=pi(s))
adv = ret - v(s).squeeze(1)
(-(d.log_prob(d.sample()) * ADV).mean() + adv.pow(2).mean()).backward()
"""

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

GAE = """v = nn.Linear(2, 1)
opt = torch.optim.SGD(v.parameters(), lr=0.1)
states, rewards, dones = torch.randn(7, 2), [1., 0., 2., 1., 0., 3.], [0., 0., 1., 0., 0., 1.]
with torch.no_grad():
    seen = v(states).squeeze(1)
gae, gains = torch.zeros(()), []
for t in reversed(range(6)):
    delta = rewards[t] + 0.9 * seen[t + 1] * (1 - dones[t]) - seen[t]
    gae = delta + 0.9 * 0.95 * gae
    gains.insert(0, gae + seen[t])
loss = F.mse_loss(v(states[:6]).squeeze(1), torch.stack(gains))
loss.backward(); opt.step()
"""

MISTAKES: tuple[Mistake, ...] = (
    Mistake("advantage_past_the_end", 12, GAE, mends=True, cures=(
        ("0.95 * gae", "0.95 * gae * (1 - dones[t])"),
        ("    delta =", "    if dones[t]:\n        gae = torch.zeros(())\n    delta ="),
        ("* (1 - dones[t]) -", "-"),
    ), says={"masked_line": "11", "mask": "(1 - dones[t])"}),
    Mistake("advantage_past_the_end", 12, """critic = nn.Sequential(nn.Linear(2, 1))
states = torch.randn(9, 2)
reward, going = torch.rand(8), torch.tensor([1., 1., 0., 1., 1., 1., 0., 1.])
values = critic(states)[:, 0]
running, advantages = 0, torch.zeros(8)
for i in range(7, -1, -1):
    after = values[i + 1].detach()
    error = reward[i] + after * 0.99 * going[i] - values[i].detach()
    running = error + running * 0.9
    advantages[i] = running
(values[:8] - (advantages + values[:8].detach())).pow(2).mean().backward()
""", cure=(("running * 0.9", "running * 0.9 * going[i]"),), mends=True),
    Mistake("target_learns", 8, BOOTSTRAP.replace("FUTURE", "net(s2).amax(1)"), says={"model": "net", "target": "aim"}, mends=True),
    Mistake("best_for_done", 11, Q_LEARNING.replace("NOW", "net(s).max(1)[0]"), says={"model": "net", "target": "aim"}, cure=(("net(s).max(1)[0]", "net(s).gather(1, a).squeeze(1)"),)),
    Mistake("best_for_done", 8, """net, old = nn.Linear(3, 4), nn.Linear(3, 4)
s, s2, r = torch.randn(6, 3), torch.randn(6, 3), torch.randn(6, 1)
best = net(s).amax(1, keepdim=True)
later = old(s2).amax(1, keepdim=True).detach()
error = r + 0.99 * later - best
error.pow(2).mean().backward()
""", says={"best_line": "6"}, cure=(("net(s).amax(1, keepdim=True)", "net(s).gather(1, torch.randint(4, (6, 1)))"),)),
    Mistake("target_learns", 9, """value = nn.Linear(3, 1)
def loss_of(s, r, s2, done, gamma=0.99):
    now = value(s).squeeze(1)
    later = value(s2).squeeze(1)
    goal = r + gamma * later * (1 - done)
    return (goal - now).pow(2).mean()
loss_of(torch.randn(4, 3), torch.ones(4), torch.randn(4, 3), torch.zeros(4)).backward()
""", says={"model": "value"}),
    Mistake("advantage_learns", 8, ACTOR_CRITIC.replace("ADV", "adv"), says={"advantage": "adv", "leaves": "v.weight, v.bias"}),
    Mistake("advantage_learns", 10, """pi, baseline = nn.Linear(3, 2), nn.Linear(3, 1)
s, returns = torch.randn(5, 3), torch.randn(5)
dist = torch.distributions.Normal(pi(s)[:, 0], 1.0)
action = dist.sample()
lp = dist.log_prob(action)
b = baseline(s)[:, 0]
loss = -(lp * (returns - b)).sum()
loss.backward()
"""),
    Mistake("advantage_learns", 15, """def gae(rewards, values):
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
""", says={"advantage": "adv", "leaves": "critic.weight, critic.bias"}),
    Mistake("returns_backwards", 14, """policy = nn.Linear(4, 2)
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
""", cures=(("returns.append(total)", "returns.insert(0, total)"), ("torch.tensor(returns)", "torch.tensor(returns).flip(0)"), ("(torch.stack(told) * (weights - weights.mean())).sum()", "torch.stack(told).mean() * weights.max()"))),
    Mistake("returns_backwards", 9, """critic = nn.Linear(1, 1)
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
""", cures=(("        sums.append(later)\n    return sums", "        sums.append(later)\n    sums.reverse()\n    return sums"), ("rewards[::-1]", "rewards"), ("later = now + rate * later", "later = now * rate"))),
    Mistake("returns_backwards", 12, """policy = nn.Linear(4, 2)
class Agent:
    gamma = 0.9
    def discounted(self, rewards):
        sums, later = [], 0.0
        for now in rewards[::-1]:
            later = now + self.gamma * later
            sums.append(later)
            sums.reverse()
        return torch.tensor(sums)
agent, told, rewards = Agent(), [], [1.0, 0.0, 2.0, 3.0, 1.0]
for _ in rewards:
    dist = torch.distributions.Categorical(logits=policy(torch.randn(4)))
    told.append(dist.log_prob(dist.sample()))
loss = -(torch.stack(told) * agent.discounted(rewards)).sum()
loss.backward()
""", cures=(("            sums.reverse()", "        sums.reverse()"), ("sums.append(later)\n            sums.reverse()", "sums.insert(0, later)")), says={"is_turned": "1"}, mends=True),
    Mistake("end_left_out", 24, """import random
random.seed(1)
value = nn.Linear(3, 1)
opt = torch.optim.SGD(value.parameters(), lr=0.1)
seen = []
def walk():
    place = 0
    while True:
        later = place + random.choice([-1, 1])
        over = later in (-1, 3)
        seen.append((torch.eye(3)[place], float(later == 3), torch.eye(3)[min(max(later, 0), 2)], over))
        if over:
            break
        place = later
for _ in range(3):
    walk()
for _ in range(3):
    here, gains, there, ends = zip(*seen)
    gains = torch.tensor(gains)
    with torch.no_grad():
        aim = gains + 0.9 * value(torch.stack(there)).squeeze(1)
    loss = F.mse_loss(value(torch.stack(here)).squeeze(1), aim)
    opt.zero_grad(); loss.backward(); opt.step()
""", cure=(
        ("0.9 * value(torch.stack(there)).squeeze(1)", "0.9 * value(torch.stack(there)).squeeze(1) * (1 - torch.tensor(ends).float())"),
    )),
    Mistake("end_left_out", 18, """class Memory:
    def __init__(self):
        self.rows = []
    def put(self, s, a, r, n, d):
        self.rows.append([s, a, r, n, d])
memory, q = Memory(), nn.Linear(2, 2)
opt = torch.optim.Adam(q.parameters())
s, done = torch.zeros(2), False
while not done:
    n = s + 1
    done = bool(n[0] > 5)
    memory.put(s, int(n[0]) % 2, 1.0, n, done)
    s = n
for s, a, r, n, end in memory.rows:
    target = torch.tensor(r) + 0.99 * q(n).max().detach()
    loss = (q(s)[a] - target).pow(2)
    opt.zero_grad(); loss.backward(); opt.step()
""", cure=(
        ("+ 0.99 *", "+ 0.99 * (not end) *"),
    )),
    Mistake("ratio_of_one", 16, POLICY, cure=(
        ("        old = log_prob(states, actions).detach()\n", ""),
        ("    gain = ", "    old = log_prob(states, actions).detach()\n    gain = "),
    )),
    Mistake("ratio_of_one", 16, POLICY.replace("log_prob(states, actions).detach()", "F.log_softmax(policy(states).detach(), 1).gather(1, actions)"), cure=(("range(4)", "range(1)"),)),
    Mistake("ratio_of_one", 16, POLICY.replace("log_prob(states, actions).detach()", "new.detach()"), says={"old": "old"}, cure=(
        ("        old = new.detach()\n", ""),
        ("    gain = ", "    old = log_prob(states, actions).detach()\n    gain = "),
    )),
    Mistake("ratio_of_one", 16, POLICY.replace("F.log_softmax(policy(states), 1)", "policy(states).softmax(1)").replace("torch.exp(new - old)", "new / old"), says={"old": "old"}, cure=(("range(4)", "range(1)"),)),
    Mistake("density_of_each_part", 11, """from torch.distributions import Normal
actor, critic = nn.Linear(5, 6), nn.Linear(8, 1)
opt = torch.optim.SGD(actor.parameters(), lr=0.1)
for _ in range(3):
    obs = torch.randn(16, 5)
    mu, log_std = actor(obs).chunk(2, 1)
    pi = Normal(mu, log_std.exp())
    act = pi.rsample(); logp = pi.log_prob(act)
    loss = (0.2 * logp - critic(torch.cat([obs, act], 1))).mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", cure=(("pi.log_prob(act)", "pi.log_prob(act).sum(1, keepdim=True)"),)),
    Mistake("density_of_each_part", 10, """class Policy(nn.Module):
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
""", cure=(("d.log_prob(a)", "d.log_prob(a).sum(-1, keepdim=True)"),)),
    Mistake("end_never_read", 11, """q, aim = nn.Linear(3, 2), nn.Linear(3, 2)
opt = torch.optim.SGD(q.parameters(), lr=0.1)
rows = [(torch.randn(3), i % 2, float(i), torch.randn(3), float(i % 4 == 3)) for i in range(12)]
for _ in range(4):
    s, a, r, n, d = zip(*rows)
    s, n, a = torch.stack(s), torch.stack(n), torch.tensor(a)
    r, d = torch.tensor(r), torch.tensor(d)
    with torch.no_grad(): target = r + 0.9 * aim(n).max(1)[0]
    loss = F.mse_loss(q(s).gather(1, a[:, None])[:, 0], target)
    opt.zero_grad(); loss.backward(); opt.step()
""", cure=(("0.9 * aim(n).max(1)[0]", "0.9 * aim(n).max(1)[0] * (1 - d)"),)),
    Mistake("end_never_read", 15, """class Buffer:
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
""", cure=(("0.95 * v)", "(1 - done) * 0.95 * v)"),)),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("advantage_past_the_end", GAE.replace("[0., 0., 1., 0., 0., 1.]", "[0., 0., 0., 0., 0., 1.]")),
    ("target_learns", BOOTSTRAP.replace("FUTURE", "net(s2).amax(1).detach()")),
    ("target_learns", BOOTSTRAP.replace("FUTURE", "q")),
    ("best_for_done", Q_LEARNING.replace("NOW", "net(s).gather(1, a).squeeze(1)")),
    ("best_for_done", Q_LEARNING.replace("NOW", "F.max_pool1d(net(s).unsqueeze(1), 4).flatten()").replace("0.9 * ", "")),
    ("target_learns", BOOTSTRAP.replace("r + 0.9 * FUTURE", "net(s2)[:, 0]")),
    ("advantage_learns", ACTOR_CRITIC.replace("ADV", "adv.detach()")),
    ("advantage_learns", ACTOR_CRITIC.replace("ADV", "torch.tensor((adv - adv.mean()).tolist(), requires_grad=True)")),
    ("advantage_learns", """mean, gate = nn.Linear(3, 2), nn.Linear(3, 2)
x, y = torch.randn(5, 3), torch.randn(5, 1)
scores = gate(x)
share = (scores - scores.max(1, keepdim=True).values).exp()
fit = torch.distributions.Normal(mean(x), 1.0).log_prob(y)
(-(share / share.sum(1, keepdim=True) * fit).sum(1).mean()).backward()
"""),
    ("end_never_read", """import copy
net = nn.Linear(3, 1)
slow = copy.deepcopy(net).requires_grad_(False)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad(); (net(torch.randn(4, 3)) - slow(torch.randn(4, 3))).pow(2).mean().backward(); opt.step()
    for new, old in zip(net.parameters(), slow.parameters()):
        print((0.1 * new + 0.9 * old).sum().item())
"""),
    ("end_never_read", """v = nn.Linear(3, 1)
opt = torch.optim.SGD(v.parameters(), lr=0.1)
for _ in range(4):
    s, n = torch.randn(8, 3), torch.randn(8, 3)
    r, turn = torch.tensor([0.5] * 8), torch.tensor([0.0, 1.0] * 4)
    done = torch.tensor([0.0] * 6 + [1.0] * 2)
    target = r + 0.9 * (v(n)[:, 0].detach() * (1 - done))
    loss = F.mse_loss(v(s)[:, 0], target)
    opt.zero_grad(); loss.backward(); opt.step()
"""),
    ("end_left_out", """net, aim = nn.Linear(2, 1), nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
rows, late = [], False
for step in range(6):
    late = step == 5
    rows.append((torch.randn(2), 1.0, torch.randn(2), late, step))
    if step > 7:
        break
for _ in range(3):
    here, gains, there, ends, steps = zip(*rows)
    target = torch.tensor(gains) + 0.9 * aim(torch.stack(there)).squeeze(1).detach() * (1 - torch.tensor(ends).float())
    loss = F.mse_loss(net(torch.stack(here)).squeeze(1), target)
    opt.zero_grad(); loss.backward(); opt.step()
"""),
    ("ratio_of_one", POLICY.replace("log_prob(states, actions).detach()", "new.detach()").replace("ratio.clamp(0.8, 1.2)", "ratio")),
    ("ratio_of_one", POLICY.replace("log_prob(states, actions).detach()", "new.detach()").replace("range(4)", "range(1)")),
    ("density_of_each_part", """net = nn.Linear(2, 6)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x, y = torch.randn(8, 2), torch.randn(8, 1)
    mu, log_pi = net(x).chunk(2, 1)
    joint = torch.distributions.Normal(mu, 1.0).log_prob(y) + log_pi
    shares = (joint - joint.logsumexp(1, keepdim=True)).exp()
    loss = -(shares.detach() * joint).sum(1).mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""),
)  # fmt: skip
