"""What `engine/findings/value_learning.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import STEP, Mistake

BOOTSTRAP = """net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
s, s2, r = torch.randn(6, 3), torch.randn(6, 3), torch.randn(6)
q = net(s)[:, 0]
aim = r + 0.9 * FUTURE
F.smooth_l1_loss(q, aim).backward()
"""

FOLLOWER = """import copy
net = nn.Linear(3, 2)
slow = copy.deepcopy(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    aim = torch.randn(8, 2) + 0.9 * slow(torch.randn(8, 3)).detach()
    opt.zero_grad(); F.mse_loss(net(torch.randn(8, 3)), aim).backward(); opt.step()
    for p, w in zip(slow.parameters(), net.parameters()): p.data.copy_(0.01 * p.data + 0.99 * w.data)
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

MISTAKES: tuple[Mistake, ...] = (
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
    Mistake("target_learns", 7, """value = nn.Linear(3, 2)
s, s2, r, done = torch.randn(4, 3), torch.randn(4, 3), torch.ones(4), torch.zeros(4)
goal = r + 0.99 * (1 - done) * value(s2).max(1)[0]
F.mse_loss(value(s).gather(1, torch.tensor([[0], [1], [0], [1]])).squeeze(1), goal).backward()
""", says={"model": "value"}, mends=True),
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
    Mistake("trained_overwritten", 13, """q, aim = nn.Linear(3, 2), nn.Linear(3, 2)
aim.load_state_dict(q.state_dict())
opt = torch.optim.SGD(q.parameters(), lr=0.1)
for step in range(1, 7):
    with torch.no_grad():
        y = torch.randn(8) + 0.9 * aim(torch.randn(8, 3)).max(1)[0]
    loss = F.mse_loss(q(torch.randn(8, 3))[:, 0], y)
    opt.zero_grad(); loss.backward(); opt.step()
    if step % 2 == 0:
        q.load_state_dict(aim.state_dict())
""", cure=(("q.load_state_dict(aim.state_dict())", "aim.load_state_dict(q.state_dict())"),)),
    Mistake("trained_overwritten", 11, """import copy
q = nn.Linear(3, 2)
aim = copy.deepcopy(q)
opt = torch.optim.SGD(q.parameters(), lr=0.1)
for step in range(4):
    y = torch.randn(8, 2) + 0.9 * aim(torch.randn(8, 3)).detach()
    opt.zero_grad(); F.mse_loss(q(torch.randn(8, 3)), y).backward(); opt.step()
    for old, new in zip(aim.parameters(), q.parameters()): new.data.copy_(old.data)
""", cure=(("new.data.copy_(old.data)", "old.data.copy_(new.data)"),)),
    Mistake("follower_too_fast", 11, FOLLOWER, cure=(("0.01 * p.data + 0.99 * w.data", "0.99 * p.data + 0.01 * w.data"),)),
    Mistake("follower_too_fast", 11, FOLLOWER.replace("p.data.copy_(0.01 * p.data + 0.99 * w.data)", "p.data.lerp_(w.data, 0.995)"),
        cures=(("0.995", "0.005"), ("lerp_(w.data, 0.995)", "copy_(w.data)"))),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
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
    ("ratio_of_one", POLICY.replace("log_prob(states, actions).detach()", "new.detach()").replace("ratio.clamp(0.8, 1.2)", "ratio")),
    ("ratio_of_one", POLICY.replace("log_prob(states, actions).detach()", "new.detach()").replace("range(4)", "range(1)")),
    # folds that begin alike
    ("trained_overwritten", """net, start = nn.Linear(3, 2), nn.Linear(3, 2)
for fold in range(4):
    net.load_state_dict(start.state_dict())
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(2):
        opt.zero_grad(); F.mse_loss(net(torch.randn(8, 3)), torch.randn(8, 2)).backward(); opt.step()
"""),
)  # fmt: skip
