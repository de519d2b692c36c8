"""What `engine/findings/self_comparisons.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import STEP, Mistake

MISTAKES: tuple[Mistake, ...] = (
    Mistake("compared_with_itself", 8, """net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(9, 4)
for _ in range(3):
    advantage, ratio = torch.randn(9, 2), (net(x) - net(x)).exp()
    loss = -(ratio * advantage).mean()
""" + STEP, cure=(("- net(x))", "- net(x).detach())"),)),
    Mistake("compared_with_itself", 9, """net = nn.Linear(4, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x = torch.randn(9, 4)
    out = x = net(x)
    loss = F.mse_loss(out, x)
""" + STEP, cure=(("out = x = net(x)", "out = net(x)"),)),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
)  # fmt: skip
