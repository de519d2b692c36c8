"""What `engine/findings/opponents.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import Mistake

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
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = ()  # fmt: skip
