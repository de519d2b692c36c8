"""What `engine/findings/scales.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import THREE_LINES, Mistake

CLASSES = (
    """x = torch.rand(60, 4) * 100 + 50
y = (x[:, 0] > x[:, 1]).long()
def scaled(x): return (x - 100) / 30
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
opt = torch.optim.Adam(net.parameters())
for i in range(0, 40, 10):
    loss = F.cross_entropy(net(scaled(x[i:i + 10])), y[i:i + 10])
"""
    + THREE_LINES
    + """net.eval()
with torch.no_grad():
    hits = (net(x[40:]).argmax(1) == y[40:]).float().mean()
"""
)

PICTURES = (
    """from torch.utils.data import DataLoader, TensorDataset
images, labels = torch.randint(0, 256, (24, 1, 4, 4)).float(), torch.randint(0, 3, (24,))
train = DataLoader(TensorDataset(images[:16], labels[:16]), batch_size=8)
net = nn.Sequential(nn.Flatten(), nn.Linear(16, 3)); opt = torch.optim.SGD(net.parameters(), lr=1e-4)
for xb, yb in train:
    loss = F.cross_entropy(net(xb), yb)
"""
    + THREE_LINES
    + """with torch.no_grad():
    wrong = F.cross_entropy(net(images[16:] / 255), labels[16:]).item()
"""
)


FAR = (
    """x = torch.randn(50, 2)
y = 3000 * x[:, :1] + 250000
net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(24):
    pred = net(x)
    loss = F.mse_loss(pred, y)
"""
    + THREE_LINES
)

MISTAKES: tuple[Mistake, ...] = (
    Mistake("targets_too_far", 10, FAR, cures=(("250000", "250000\ny = (y - y.mean()) / y.std()"), ("range(24)", "range(12)"), ("3000 * x[:, :1] + 250000", "x[:, :1] * 1\ny[::25] *= 900."))),
    Mistake("targets_too_far", 10, FAR.replace("50, 2", "2000, 2"), cure=(("3000 * x[:, :1] + 250000", "x[:, :1] * 1\ny[::50] *= 900."),)),
    Mistake("targets_too_far", 10, FAR.replace("mse_loss", "smooth_l1_loss"), cure=(("lr=1e-3", "lr=200."),)),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("targets_too_far", "net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))\nnn.init.constant_(net[0].bias, -50.)\nopt = torch.optim.SGD(net.parameters(), lr=0.01)\n"
     "x = torch.randn(8, 2)\nfor i in range(20):\n    loss = F.mse_loss(net(x), x[:, :1] * 30)\n    opt.zero_grad(); loss.backward(); opt.step()\n"),
    # the last step of a game is worth much more than all before it
    # each fold trains another model, which is on its way when the few epochs end
    ("targets_too_far", """x = torch.randn(80, 3)
y = 3000 * x[:, :1] + 250000
for fold in range(4):
    net = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
    opt = torch.optim.Adam(net.parameters(), lr=0.1)
    for epoch in range(3):
        for batch in torch.arange(80).split(8):
            opt.zero_grad(); F.mse_loss(net(x[batch]), y[batch]).backward(); opt.step()
"""),
    ("targets_too_far", """critic = nn.Linear(4, 1)
opt = torch.optim.Adam(critic.parameters(), lr=0.01)
for game in range(12):
    for step in range(8):
        value = critic(torch.randn(4) * 0.1)
        target = torch.tensor([-20.0 if step == 7 else 1.0 - step % 2])
        loss = F.mse_loss(value, target)
        opt.zero_grad(); loss.backward(); opt.step()
"""),
)  # fmt: skip
