"""What `engine/findings/pushed_the_wrong_way.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import STEP, Mistake

CLIPPED = f"""policy = nn.Linear(3, 4)
opt = torch.optim.SGD(policy.parameters(), lr=0.1)
s, a, gain, old = torch.randn(6, 3), torch.randint(4, (6,)), torch.randn(6), torch.randn(6)
for _ in range(3):
    ratio = (F.log_softmax(policy(s), 1)[torch.arange(6), a] - old).exp()
    one, other = ratio * gain, ratio.clamp(0.8, 1.2) * gain
    loss = -torch.max(one, other).mean()
{STEP}"""

BONUS = f"""policy = nn.Linear(3, 4)
opt = torch.optim.SGD(policy.parameters(), lr=0.1)
for _ in range(3):
    logp = F.log_softmax(policy(torch.randn(6, 3)), 1)
    p = logp.exp()
    a = torch.multinomial(p, 1)
    gain = torch.randn(6, 1)
    entropy = -(p * logp).sum(1).mean()
    loss = -(gain * logp.gather(1, a)).mean() + 0.01 * entropy
{STEP}"""

PAIRS = f"""left, right = nn.Embedding(9, 4), nn.Embedding(9, 4)
opt = torch.optim.SGD([*left.parameters(), *right.parameters()], lr=0.1)
for _ in range(3):
    v, u, n = left(torch.randint(9, (6,))), right(torch.randint(9, (6,))), right(torch.randint(9, (6, 5)))
    good = F.logsigmoid((v * u).sum(1))
    bad = F.logsigmoid(torch.bmm(n, v.unsqueeze(2)).squeeze(2)).sum(1)
    loss = -(good + bad).mean()
{STEP}"""

MISTAKES: tuple[Mistake, ...] = (
    Mistake("clip_taken_wrong", 10, CLIPPED, says={"is_min": "0"}, cures=(
        ("torch.max", "torch.min"), ("-torch.max(one, other)", "torch.max(one * -1, other * -1)"),
    )),
    Mistake("clip_taken_wrong", 10, CLIPPED.replace("-torch.max", "torch.minimum"), says={"is_min": "1"}, cures=(
        ("torch.minimum", "-torch.minimum"), ("torch.minimum", "torch.maximum"),
    )),
    Mistake("entropy_made_small", 11, BONUS, cure=(("+ 0.01 * entropy", "- 0.01 * entropy"),)),
    Mistake("entropy_made_small", 8, f"""policy = nn.Linear(3, 4)
opt = torch.optim.SGD(policy.parameters(), lr=0.1)
for _ in range(3):
    d = torch.distributions.Categorical(logits=policy(torch.randn(6, 3)))
    a, h = d.sample(), d.entropy()
    loss = -(torch.randn(6) * d.log_prob(a)).mean() + 0.01 * h.mean()
{STEP}""", cure=(("+ 0.01", "- 0.01"),)),
    Mistake("all_pushed_up", 9, PAIRS, cure=(("(torch.bmm", "(-torch.bmm"),)),
    Mistake("all_pushed_up", 9, PAIRS.replace("torch.bmm(n, v.unsqueeze(2)).squeeze(2)", "(n * v.unsqueeze(1)).sum(2)"),
        cure=(("((n * v", "(-(n * v"),)),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    # nothing is drawn: a model that is to be sure of what it says
    ("entropy_made_small", """net = nn.Linear(3, 4)
logp = F.log_softmax(net(torch.randn(6, 3)), 1)
(F.nll_loss(logp, torch.randint(4, (6,))) - 0.1 * (logp.exp() * logp).sum(1).mean()).backward()
"""),
    ("all_pushed_up", """left, right = nn.Embedding(9, 4), nn.Embedding(9, 4)
v, u, n = left(torch.randint(9, (6,))), right(torch.randint(9, (6,))), right(torch.randint(9, (6,)))
(-F.logsigmoid((v * u).sum(1) - (v * n).sum(1)).mean()).backward()
"""),
)  # fmt: skip
