"""What `engine/findings/opponents.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import Mistake

CRITIC = """G, D = nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1), nn.Sigmoid())
og, od = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
for _ in range(3):
    real, made = torch.randn(6, 2) + 3, G(torch.randn(6, 2)).detach()
    at = (0.5 * real + 0.5 * made).requires_grad_()
    slope, = torch.autograd.grad(D(at).sum(), at, create_graph=True)
    penalty = 10 * (slope.norm(dim=1) - 1).pow(2).mean()
    od.zero_grad(); (JUDGED + penalty).backward(); od.step()
    og.zero_grad(); (FOOLED).backward(); og.step()
"""
DIFFERENCE = CRITIC.replace("JUDGED", "D(made).mean() - D(real).mean()").replace(
    "FOOLED", "-D(G(torch.randn(6, 2))).mean()"
)
CLIPPED = """class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(2, 1)
    def forward(self, x):
        return torch.sigmoid(self.score(x)).view(-1)
actor, critic = nn.Linear(3, 2), Critic()
oa, oc = torch.optim.RMSprop(actor.parameters()), torch.optim.RMSprop(critic.parameters())
for _ in range(3):
    for _ in range(2):
        critic.zero_grad()
        critic(torch.randn(8, 2) + 1).mean().neg().backward()
        critic(actor(torch.randn(8, 3)).detach()).mean().backward()
        oc.step()
        for p in critic.parameters():
            p.data.clamp_(-0.1, 0.1)
    oa.zero_grad(); loss = -critic(actor(torch.randn(8, 3))).mean(); loss.backward(); oa.step()
"""
PAIR = """G, D, one = nn.Linear(2, 2), nn.Linear(2, 1), torch.ones(6, 1)
og, od = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
for _ in range(3):
    x, z = torch.randn(6, 2), torch.randn(6, 2)
    od.zero_grad(); (JUDGED).backward(); od.step()
    og.zero_grad(); (FOOLED).backward(); og.step()
"""

MISTAKES: tuple[Mistake, ...] = (
    Mistake("opponent_helped", 13, """G, D = nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 1), nn.Sigmoid())
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
""", cure=(("guess, fake", "guess, real"),)),
    Mistake("opponent_helped", 15, """class Critic(nn.Module):
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
""", cures=(("loss = critic", "loss = -critic"), ("actor(z).detach()).mean() - critic", "actor(z).detach()).mean() + critic"))),
    Mistake("critic_squashed", 11, DIFFERENCE, cure=((", nn.Sigmoid()", ""),), mends=True),
    Mistake("critic_squashed", 9, CLIPPED, cure=(("torch.sigmoid(self.score(x))", "self.score(x)"),), mends=True),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    # a judge that climbs; squares that pull to places of their own
    ("opponent_helped", PAIR.replace("JUDGED", "F.logsigmoid(D(x)).mean() + F.logsigmoid(-D(G(z).detach())).mean()").replace("FOOLED", "F.logsigmoid(-D(G(z))).mean()").replace("D.parameters()", "D.parameters(), maximize=True")),
    ("opponent_helped", PAIR.replace("JUDGED", "(D(x) - 9).pow(2).mean() + (D(G(z).detach()) + 9).pow(2).mean()").replace("FOOLED", "(D(G(z)) + 5).pow(2).mean()")),
    ("opponent_helped", PAIR.replace("JUDGED", "F.mse_loss(D(x), one * 9) + F.mse_loss(D(G(z).detach()), one * -9)").replace("FOOLED", "F.mse_loss(D(G(z)), one * -5)")),
    # a penalty beside binary cross entropy; a difference of probabilities, whose slope nothing holds
    ("critic_squashed", CRITIC.replace("JUDGED", "-D(real).log().mean() - (1 - D(made)).log().mean()").replace("FOOLED", "-D(G(torch.randn(6, 2))).log().mean()")),
    ("critic_squashed", DIFFERENCE.replace(" + penalty", "").replace("create_graph=True", "")),
    ("critic_squashed", CLIPPED.replace("            p.data.clamp_(-0.1, 0.1)", "            print(p.norm())")),
)  # fmt: skip
