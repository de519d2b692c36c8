"""What `engine/findings/unread_names.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import STEP, Mistake

MISTAKES: tuple[Mistake, ...] = (
    Mistake("written_too_late", 14, """critic, aim = nn.Linear(4, 3), nn.Linear(4, 3)
opt = torch.optim.Adam(critic.parameters())
table, gains, over = torch.randn(24, 4), torch.randn(24), torch.arange(24) % 5 == 0
for _ in range(4):
    here = torch.randint(0, 24, (8,))
    there = (here + 1) % 24
    with torch.no_grad():
        worth = aim(table[there]).amax(1)
        target = gains[here] + 0.9 * worth
        size = target.abs().mean()
        worth[over[here]] = 0.0
    loss = F.mse_loss(critic(table[here]).amax(1), target)
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item(), size.item())
""", cures=(
        ("        target = gains[here] + 0.9 * worth\n        size = target.abs().mean()\n        worth[over[here]] = 0.0\n", "        worth[over[here]] = 0.0\n        target = gains[here] + 0.9 * worth\n        size = target.abs().mean()\n"),
        ("        size = target.abs().mean()\n        worth[over[here]] = 0.0\n", "        worth[over[here]] = 0.0\n        size = worth.abs().mean()\n"),
    )),
    Mistake("written_too_late", 9, """net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def step(x, y, late):
    goal = y * 2
    off = net(x).squeeze(1) - goal
    goal *= late
    opt.zero_grad(); off.square().mean().backward(); opt.step()
for turn in range(4):
    x = torch.randn(6, 3)
    step(x, x.sum(1), (x[:, 0] > 0).float())
""", cures=(
        ("    off = net(x).squeeze(1) - goal\n    goal *= late\n", "    goal *= late\n    off = net(x).squeeze(1) - goal\n"),
        ("    goal *= late\n", "    goal *= late\n    print(goal)\n"),
    ), mends=True),
    Mistake("counter_stands", 13, """class Trainer:
    def __init__(self, net):
        self.net, self.opt = net, torch.optim.SGD(net.parameters(), lr=0.1)
        self.best = nn.Linear(3, 1)
        self.done = 0
    def step(self):
        self.opt.zero_grad()
        self.net(torch.ones(2, 3)).pow(2).mean().backward()
        self.opt.step()
        if self.done % 5 == 0:
            self.best.load_state_dict(self.net.state_dict())
trainer = Trainer(nn.Linear(3, 1))
for _ in range(4): trainer.step()
""", cure=(("        self.opt.step()\n", "        self.opt.step()\n        self.done += 1\n"),)),
    Mistake("counter_stands", 9, f"""net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
seen = 0
for x in torch.randn(6, 8, 3):
    loss = net(x).pow(2).mean()
    if seen % 2 == 1: print(loss)
{STEP}""", cure=(("    if seen", "    seen += 1\n    if seen"),)),
    Mistake("counter_stands", 7, f"""net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
turn = 0; error = 1.0; most = 4
while turn < most and error > 0.01:
    loss = net(torch.randn(8, 3)).pow(2).mean()
{STEP}    turn += 1
""", cure=(("    turn += 1", "    error = loss.item(); turn += 1"),)),
    Mistake("counter_stands", 8, """def fit(net, goal, most=3):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    last = 1000
    turn = 0
    while goal < last and turn != most:
        turn += 1
        cost = net(torch.randn(8, 3)).pow(2).mean()
        opt.zero_grad(); cost.backward(); opt.step()
fit(nn.Linear(3, 1), 1e-4)
""", cure=(("cost.backward(); opt.step()", "cost.backward(); opt.step(); last = cost.item()"),)),
    Mistake("argument_overlooked", 12, """class Pair:
    def __init__(self, tau=0.1):
        self.tau = tau
        self.net, self.aim = nn.Linear(2, 1), nn.Linear(2, 1)
    def follow(self, tau=None):
        tau = self.tau if tau is None else tau
        with torch.no_grad():
            for a, b in zip(self.aim.parameters(), self.net.parameters()):
                a.mul_(1 - self.tau).add_(b, alpha=self.tau)
pair = Pair()
pair.follow(1.0)
F.mse_loss(pair.net(torch.ones(3, 2)), pair.aim(torch.ones(3, 2)).detach()).backward()
""", cure=(("1 - self.tau", "1 - tau"), ("alpha=self.tau", "alpha=tau")), mends=True),
    Mistake("argument_overlooked", 10, """class Loss(nn.Module):
    def __init__(self, scale=2.0):
        super().__init__()
        self.scale = scale
    def forward(self, x, scale=None):
        if scale is None: scale = self.scale
        return (x * self.scale).pow(2).mean()
net, loss = nn.Linear(2, 1), Loss()
loss(net(torch.ones(3, 2)), scale=0.5).backward()
""", cure=(("x * self.scale", "x * scale"),), mends=True),
    Mistake("hook_output_lost", 6, """net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
def silence(module, inputs, output):
    output = output * torch.tensor([0.0, 1, 1, 1])
handle = net[1].register_forward_hook(silence)
print(net(torch.ones(2, 3)).sum())
""", cure=(("    output = output", "    return output"),), mends=True),
    Mistake("hook_output_lost", 8, """net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
def without(units):
    def hook(layer, given, out):
        mask = torch.ones_like(out)
        out = out.index_fill(1, units, 0)
    return hook
net[0].register_forward_hook(without(torch.tensor([1])))
net(torch.ones(2, 3)).sum().backward()
""", cure=(("        out = out.index_fill", "        return out.index_fill"),), mends=True),
    Mistake("hook_output_lost", 6, """w = torch.full((3,), 5.0, requires_grad=True)
def limit(grad, most=1.0):
    grad = torch.clamp(grad, -most, most)
w.register_hook(limit)
for _ in range(3):
    (w * w).sum().backward()
    with torch.no_grad():
        w -= 0.1 * w.grad; w.grad = None
""", cures=(("    grad = torch.clamp", "    return torch.clamp"), ("    grad = torch.clamp(grad, -most, most)", "    grad = grad.norm()\n    print(grad)"), ("w.register_hook(limit)", "print(limit(w))")), mends=True),
    Mistake("hook_output_lost", 7, """net = nn.Linear(3, 1)
def limit(grad):
    most = 0.01
    grad.clamp(-most, most)
for _ in range(3):
    out = net(torch.ones(2, 3))
    out.register_hook(limit)
    out.pow(2).sum().backward()
""", cures=(("    grad.clamp", "    return grad.clamp"), ("    grad.clamp(", "    grad.clamp_("), ("    grad.clamp(-most, most)", "    print(grad.norm())")), mends=True),
    Mistake("hook_output_lost", 9, """net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
class Scale:
    def __init__(self, by): self.by = by
    def hook(self, layer, inputs, outputs):
        if inputs[0] is not None:
            inputs = (inputs[0] * self.by,)
net[1].register_full_backward_hook(Scale(0.5).hook)
net(torch.ones(2, 3)).sum().backward()
""", cure=(("            inputs = ", "            return "),), mends=True),
    Mistake("argument_without_slope", 6, """from torch.func import functional_call, grad
net, x = nn.Linear(3, 1), torch.randn(5, 3)
def loss_of(weights, rows):
    return net(rows).pow(2).mean()
weights = dict(net.named_parameters())
print(grad(loss_of)(weights, x)["bias"])
""", cure=(("net(rows)", "functional_call(net, weights, (rows,))"),)),
    Mistake("argument_without_slope", 5, """w = torch.randn(3)
def error(weight, rows):
    return (rows @ w).pow(2).mean()
slope, value = torch.func.grad_and_value(error)(w, torch.randn(4, 3))
""", cure=(("rows @ w)", "rows @ weight)"),)),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    # a limit that counts down, and one that another function sets
    ("counter_stands", """net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
patience = 3; best = 1e9; turn = 0
def seen(loss):
    global best
    best = min(best, loss)
while turn < 9 and patience > 0 and best > 1e-6:
    loss = net(torch.ones(2, 3)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    patience -= loss.item() > best
    seen(loss.item()); turn += 1
"""),
    ("counter_stands", """w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
seen = torch.ones(1); goal = 0.5; turn = 0
while turn < 9 and goal < seen:
    loss = w.pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    seen.copy_(loss.detach()); turn += 1
"""),
    # what is kept in a list or another name and read later, or carried to the next turn; a buffer that is emptied
    ("written_too_late", """net, cell = nn.Linear(3, 1), nn.GRUCell(3, 3)
opt = torch.optim.SGD([*net.parameters(), *cell.parameters()], lr=0.1)
kept, h = [], torch.zeros(5, 3)
for turn in range(4):
    x = torch.randn(5, 3)
    over = torch.arange(5) == turn
    h = cell(x, h.detach())
    noise = torch.rand(5, 3)
    drawn = torch.rand(5, 3)
    buffer = x * 2
    kept.append(noise)
    other = drawn
    loss = net(h + noise + drawn + buffer).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    with torch.no_grad():
        h[over] = 0.0
        noise[over] = 0.0
        drawn[over] = 0.0
        buffer.zero_()
    print(other.mean())
print(torch.stack(kept).mean())
"""),
)  # fmt: skip
