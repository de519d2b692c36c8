"""What `engine/findings/training_loop.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import DATA, FIT, GAN, LOOP, SGD, STEP, TRAIN, Mistake

SCALED = (
    SGD
    + """scaler = torch.amp.GradScaler("cpu", init_scale=8.)
for i in range(2):
    opt.zero_grad()
    scaler.scale(F.mse_loss(net(x), y)).backward()
    STEP
"""
)

CLIPPED = "nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n    scaler.step(opt)\n    scaler.update()"

BATCHES = (
    SGD
    + """for epoch in range(2):
    for xb, yb in zip(x.split(2), y.split(2)):
        opt.zero_grad()
        F.mse_loss(net(xb), yb).backward()
    opt.step()
"""
)

MISTAKES: tuple[Mistake, ...] = (
    Mistake("zero_grad_before_step", 10, TRAIN + """for i in range(3):
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.zero_grad()
    opt.step()
""", says={"pass_line": "9", "step_line": "11"}, mends=True),
    Mistake("zero_grad_before_step", 9, TRAIN + """loss = F.mse_loss(model(x), y)
loss.backward()
model.zero_grad(set_to_none=False)
opt.step()
""", says={"pass_line": "8", "step_line": "10"}, mends=True),
    Mistake("zero_grad_before_step", 10, TRAIN + """model.zero_grad()
for i in range(3):
    F.mse_loss(model(x), y).backward()
    opt.zero_grad()
    opt.step()
""", says={"is_extra": "0", "always": "1"}, mends=True),
    Mistake("zero_grad_before_step", 10, """w = torch.tensor([1.0, -2.0], requires_grad=True)
opt = torch.optim.Adam([w], lr=0.1)
for k in range(3):
    opt.zero_grad()
    w.pow(2).sum().backward()
    if k == 1:
        w.grad = None
    opt.step()
""", says={"idle": "1", "steps": "3", "is_extra": "1", "zeroing": "w.grad = None"}),
    Mistake("step_without_backward", 10, TRAIN + """for i in range(3):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    opt.step()
""", says={"optimizer": "opt"}),
    Mistake("step_without_backward", 10, TRAIN + """for i in range(3):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    opt.step()
    loss.backward()
""", says={"optimizer": "opt"}, mends=True),
    Mistake("optimizer_holds_others", 7, TRAIN + """model = nn.Linear(2, 1)
for i in range(3):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
""", says={"optimizer": "opt", "made_line": "6"}, mends=True),
    Mistake("optimizer_holds_others", 9, """x, y = torch.randn(8, 2), torch.randn(8, 1)
model, other = nn.Linear(2, 1), nn.Linear(2, 1)
opt = torch.optim.Adam(other.parameters())
loss = F.mse_loss(model(x), y)
loss.backward()
opt.step()
""", says={"optimizer": "opt"}),
    Mistake("backward_without_step", 10, TRAIN + """for i in range(3):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
""", says={"optimizer": "opt", "count": "3"}, mends=True),
    Mistake("backward_without_step", 8, """w = torch.ones(2, requires_grad=True)
adam = torch.optim.Adam([w])
for i in range(2):
    adam.zero_grad()
    (w ** 2).sum().backward()
""", says={"optimizer": "adam", "count": "2"}, mends=True),
    Mistake("backward_without_step", 10, """enc, dec = nn.Linear(2, 3), nn.Linear(3, 1)
opt = torch.optim.SGD(enc.parameters(), lr=0.1)
other = torch.optim.SGD(dec.parameters(), lr=0.1)
for i in range(3):
    opt.zero_grad()
    other.zero_grad()
    dec(enc(torch.randn(4, 2))).mean().backward()
    opt.step()
""", says={"optimizer": "other"}, mends=True),
    Mistake("backward_without_step", 9, """net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
plan = torch.optim.lr_scheduler.StepLR(opt, 10)
for i in range(3):
    opt.zero_grad()
    net(torch.randn(4, 3)).pow(2).mean().backward()
    plan.step()
""", cure=(("    plan.step()", "    opt.step(); plan.step()"),), mends=True),
    Mistake("backward_without_step", 14, """made, told = nn.Linear(3, 3), nn.Linear(3, 1)
m_opt = torch.optim.SGD(made.parameters(), lr=0.1)
t_opt = torch.optim.SGD(told.parameters(), lr=0.1)
real = torch.randn(4, 3)
for i in range(3):
    made.zero_grad()
    (-told(made(real)).mean()).backward()
    m_opt.step()
    told.zero_grad()
    loss = told(made(real).detach()).mean() - told(real).mean()
    loss.backward()
    m_opt.step()
""", cure=(("    loss.backward()\n    m_opt", "    loss.backward()\n    t_opt"),), mends=True),
    Mistake("method_not_called", 11, TRAIN + LOOP.replace("opt.step()", "opt.step"), says={"code": "opt.step", "method": "step"}, mends=True),
    Mistake("method_not_called", 6, """x = torch.ones(2, requires_grad=True)
y = (x * 3).sum()
y.backward
print(x.grad)
""", says={"code": "y.backward", "method": "backward"}, mends=True),
    Mistake("method_printed", 9, """w = torch.tensor([1.], requires_grad=True)
def forward(x):
    return x * w
def show():
    pass
print('before', 4, forward(4).item)
""", says={"code": "forward(4).item", "method": "item"}, mends=True),
    Mistake("method_printed", 12, TRAIN + LOOP + 'print(f"{loss.item} after {i} turns")\n', says={"code": "loss.item"}, mends=True),
    Mistake("step_moves_nothing", 11, TRAIN + """start = torch.randn(8, 1, requires_grad=True)
for i in range(2):
    opt.zero_grad()
    loss = (model(x).detach() * start).mean(); loss.backward()
    opt.step()
""", says={"optimizer": "opt", "pass_line": "10"}),
    Mistake("step_moves_nothing", 10, TRAIN + """for i in range(2):
    loss = torch.tensor(F.mse_loss(model(x), y).item(), requires_grad=True)
    loss.backward()
    opt.step()
""", says={"optimizer": "opt", "pass_line": "9"}),
    Mistake("ends_in_new_leaf", 5, f"""def decided(p):
    return torch.tensor((p > 0.5).float().tolist(), requires_grad=True)
net, x, y = nn.Linear(3, 1), torch.randn(8, 3), torch.ones(8, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    loss = F.mse_loss(decided(net(x).sigmoid()), y)
{STEP}""", cure=(("decided(net(x).sigmoid())", "net(x).sigmoid()"),)),
    Mistake("ends_in_new_leaf", 8, f"""net, x = nn.Linear(3, 2), torch.randn(8, 3)
opt = torch.optim.Adam(net.parameters())
for _ in range(4):
    picked = [int(row.argmax()) for row in net(x)]
    scores = torch.tensor([1.0 * place for place in picked], requires_grad=True)
    loss = (scores - 1).pow(2).mean()
{STEP}""", cure=(("(scores - 1)", "(net(x) - 1)"),)),
    Mistake("ends_in_new_leaf", 7, f"""class Target(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.w = nn.Parameter(w)
    def forward(self, x):
        return x @ self.w
maker, x, y = nn.Linear(2, 3), torch.randn(8, 3), torch.randn(8)
opt = torch.optim.Adam(maker.parameters())
for _ in range(4):
    loss = F.mse_loss(Target(maker(torch.rand(2)))(x), y)
{STEP}""", cure=(("nn.Parameter(w)", "w"),), says={"made": "w"}),
    Mistake("scaled_and_stepped", 11, SCALED.replace("STEP", "opt.step()"), says={"scale": "8", "optimizer": "opt", "scale_line": "10"}, mends=True),
    Mistake("scaled_and_stepped", 10, SGD + """s = torch.amp.GradScaler("cpu")
loss = s.scale(F.l1_loss(net(x), y))
loss.backward()
opt.step()
""", says={"scaler": "s"}, mends=True),
    Mistake("clipped_while_scaled", 11, SCALED.replace("STEP", CLIPPED), says={"scale": "8", "optimizer": "opt", "scale_line": "10"}, mends=True),
    Mistake("clipped_while_scaled", 11, SCALED.replace("STEP", CLIPPED.replace("scaler.step", "scaler.unscale_(opt)\n    scaler.step")), says={"undone": "scaler.unscale_(opt)"}, mends=True),
    Mistake("clipped_while_scaled", 9, SGD + """s = torch.amp.GradScaler("cpu")
s.scale(F.mse_loss(net(x), y)).backward()
nn.utils.clip_grad_value_(net.parameters(), 0.1)
s.step(opt)
s.update()
""", says={"scaler": "s", "optimizer": "opt"}, mends=True),
    Mistake("stepped_outside_the_loop", 11, BATCHES, says={"passes": "8", "steps": "2", "loop_line": "8"}),
    Mistake("stepped_outside_the_loop", 10, SGD + """for xb, yb in zip(x.split(2), y.split(2)):
    opt.zero_grad()
    F.mse_loss(net(xb), yb).backward()
opt.step()
""", says={"zero_line": "8"}),
    Mistake("stepped_outside_the_loop", 11, """x, y, net = torch.randn(8, 2), torch.randn(8, 1), nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def turn(a, b):
    opt.zero_grad()
    F.mse_loss(net(a), b).backward()
for a, b in zip(x.split(2), y.split(2)):
    turn(a, b)
opt.step()
""", cure=(("    turn(a, b)\nopt.step()", "    turn(a, b)\n    opt.step()"),)),
    Mistake("loss_computed_once", 7, SGD + """loss = F.mse_loss(net.bias * x, y.expand(8, 2))
for i in range(3):
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
""", says={"name": "loss", "count": "3", "pass_line": "10"}),
    Mistake("loss_computed_once", 6, """w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
total = w.sum()
for i in range(4):
    total.backward(retain_graph=True)
    opt.step()
    w.grad = None
""", says={"pass_line": "8"}),
    Mistake("loss_computed_once", 5, """raw = nn.Parameter(torch.zeros(2))
gate = torch.sigmoid(raw)
opt = torch.optim.SGD([raw], lr=0.1)
for i in range(3):
    opt.zero_grad()
    (torch.randn(4, 2) * gate).pow(2).mean().backward(retain_graph=True)
    opt.step()
""", says={"name": "gate", "count": "3"}),
    Mistake("learns_in_copies", 9, "import copy\n" + SGD + """for i in range(2):
    inner = copy.deepcopy(net)
    opt.zero_grad()
    F.mse_loss(inner(x), y).backward()
    opt.step()
""", says={"optimizer": "opt"}),
    Mistake("learns_in_copies", 8, "from copy import deepcopy\n" + SGD + """fast = deepcopy(net)
for i in range(2):
    F.mse_loss(fast(x), y).backward()
    opt.step()
""", says={"step_line": "11"}),
    Mistake("learns_in_copies", 8, """import copy
net = nn.Sequential(*[nn.Identity() for _ in range(600)], nn.Linear(2, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def adapted(net, x):
    fast = copy.deepcopy(net)
    grads = torch.autograd.grad(fast(x).pow(2).mean(), fast.parameters(), create_graph=True)
    for p, grad in zip(fast.parameters(), grads):
        p.data -= 0.1 * grad
    return fast
for i in range(5):
    loss = adapted(net, torch.randn(8, 2))(torch.randn(8, 2)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", says={"optimizer": "opt", "names": "fast"}),
    Mistake("backward_after_the_loop", 11, SGD + """for epoch in range(2):
    for xb, yb in zip(x.split(2), y.split(2)):
        loss = F.mse_loss(net(xb), yb)
        opt.zero_grad()
    loss.backward()
    opt.step()
""", says={"count": "8", "lost": "6", "loop_line": "8"}),
    Mistake("backward_after_the_loop", 10, SGD + """for xb, yb in zip(x.split(2), y.split(2)):
    loss = (net(xb) - yb).abs().mean()
opt.zero_grad()
loss.backward()
opt.step()
""", says={"made_line": "8", "count": "4", "lost": "3"}),
    Mistake("step_never_reached", 10, """net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(5):
    loss = net(torch.randn(4, 3)).pow(2).mean() / 8
    loss.backward()
    if (i + 1) % 8 == 0:
        opt.step()
        opt.zero_grad()
""", cure=(("% 8", "% 5"),)),
    Mistake("step_never_reached", 11, """def fit(model, opt, batches, warm):
    for n, x in enumerate(batches):
        loss = model(x).square().mean()
        loss.backward()
        if n > warm:
            print(n)
            print(loss.item())
            opt.step()
            opt.zero_grad()
model = nn.Linear(2, 2)
fit(model, torch.optim.Adam(model.parameters()), torch.randn(3, 4, 2), 10)
""", cure=(("4, 2), 10)", "4, 2), 1)"),)),
    Mistake("step_never_reached", 12, """net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
plan = torch.optim.lr_scheduler.StepLR(opt, 10)
for i in range(3):
    opt.zero_grad(); net(torch.randn(4, 3)).pow(2).mean().backward()
    if plan:
        plan.step()
    else:
        opt.step()
""", cure=(("        plan.step()\n    else:\n        opt.step()", "        opt.step()\n        plan.step()"),)),
    Mistake("loss_overwritten", 11, """cell, out = nn.GRUCell(3, 5), nn.Linear(5, 2)
opt = torch.optim.Adam([*cell.parameters(), *out.parameters()])
x, y = torch.randn(4, 6, 3), torch.randint(2, (4, 6))
for _ in range(2):
    h, loss = torch.zeros(4, 5), 0
    for t in range(6):
        h = cell(x[:, t], h); scores = out(h)
        loss = F.cross_entropy(scores, y[:, t])
""" + STEP, cure=(("loss = F.", "loss += F."),)),
    Mistake("loss_overwritten", 8, """state = torch.randn(3, requires_grad=True)
move = nn.Linear(3, 3)
def roll(at):
    for _ in range(5):
        at = move(at); loss = at.square().mean()
    loss.backward()
roll(state)
""", cure=(("roll(at):\n", "roll(at):\n    parts = []\n"), ("loss = at.square().mean()\n", "parts.append(at.square().mean())\n    loss = sum(parts)\n"))),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("optimizer_holds_others", DATA + """experts = [nn.Linear(2, 1) for _ in range(3)]
opts = [torch.optim.SGD(expert.parameters(), lr=0.1) for expert in experts]
for i in range(4):
    for opt in opts: opt.zero_grad()
    F.mse_loss(experts[i % 2](x), y).backward()
    for opt in opts: opt.step()
"""),
    ("zero_grad_before_step", TRAIN + """for i in range(4):
    opt.zero_grad()
    loss = F.mse_loss(model(x * (50 if i == 2 else 1)), y)
    loss.backward()
    if nn.utils.clip_grad_norm_(model.parameters(), 1.0) > 10 or i == 2:
        opt.zero_grad()  # a bad batch moves nothing
    opt.step()
"""),
    ("step_without_backward", TRAIN + """for i in range(3):
    opt.zero_grad()
    with torch.no_grad():
        for p in model.parameters():
            p.grad = torch.randn_like(p)  # an estimate without a pass
    opt.step()
"""),
    ("backward_without_step", TRAIN + """for i in range(3):
    opt.zero_grad()
    F.mse_loss(model(x), y).backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= 0.1 * p.grad
"""),
    ("backward_after_the_loop", TRAIN + """for epoch in range(3):
    losses = []
    for i in range(4):
        loss = F.mse_loss(model(x[2 * i : 2 * i + 2]), y[2 * i : 2 * i + 2])
        losses.append(loss)
    opt.zero_grad(); min(losses, key=lambda each: each.item()).backward(); opt.step()
"""),
    ("zero_grad_before_step", TRAIN + "for i in range(3):\n    loss = F.mse_loss(model(x), y)\n    loss.backward()\n    opt.step()\n    opt.zero_grad()\n"),
    ("zero_grad_before_step", TRAIN + "for i in range(4):\n    (F.mse_loss(model(x), y) / 2).backward()\n    if i % 2:\n        opt.step()\n        model.zero_grad()\n"),
    ("step_without_backward", TRAIN + LOOP),
    ("step_without_backward", "w = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\nw.grad = torch.ones(2)\nopt.step()\n"),
    ("step_without_backward", TRAIN + """start = torch.randn(8, 1, requires_grad=True)
for i in range(2): (model(x).detach() * start).mean().backward(); opt.step()
"""),
    ("optimizer_holds_others", TRAIN.replace("opt =", "old =") + "model = nn.Linear(2, 1)\nopt = torch.optim.SGD(model.parameters(), lr=0.1)\n" + LOOP),
    ("optimizer_holds_others", GAN + """    fake = G(torch.randn(4, 2)).detach()
    D(fake).mean().backward(); of_d.step(); of_d.zero_grad()
    (-D(fake).mean()).backward(); of_g.step()
"""),
    ("backward_without_step", "w = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\nfor i in range(3):\n"
     "    opt.zero_grad()\n    (w ** 2).sum().backward()\n    if i == 5:\n        opt.step()\n"),
    ("method_printed", TRAIN + LOOP + "print(loss.item(), x.shape, [show for show in (loss.item,)][0]())\n"),
    ("method_printed", "print(torch.ones(2).item.__name__, repr(torch.ones(1).exp))\n"),
    ("method_not_called", TRAIN + LOOP + "step = opt.step\nstep()\n"),
    ("step_moves_nothing", TRAIN + "for i in range(2):\n    opt.zero_grad(); F.mse_loss(model(x), y).backward(); opt.step()\n"),
    ("clipped_while_scaled", SCALED.replace("STEP", "scaler.unscale_(opt)\n    " + CLIPPED)),
    ("scaled_and_stepped", SCALED.replace("STEP", "scaler.step(opt); scaler.update()")),
    ("scaled_and_stepped", SCALED.replace("STEP", "scaler.unscale_(opt); opt.step(); scaler.update()")),
    ("stepped_outside_the_loop", BATCHES.replace("        opt.zero_grad()\n", "").replace("    opt.step()", "    opt.step(); opt.zero_grad()")),
    # a sum that each turn adds to is computed anew in each
    ("loss_computed_once", """w = nn.Parameter(torch.ones(3))
opt, total = torch.optim.SGD([w], lr=0.1), torch.zeros(3)
for i in range(4):
    total = total + w
    opt.zero_grad(); total.sum().backward(); opt.step()
"""),
    ("loss_computed_once", "w = torch.ones(2, requires_grad=True)\nq = (w ** 2).sum()\nfor i in range(3):\n    q.backward(retain_graph=True)\n"),
    ("loss_computed_once", """raw, other = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.ones(2))
gate = torch.sigmoid(raw)
opt = torch.optim.SGD([other], lr=0.1)
for i in range(3):
    opt.zero_grad()
    (torch.randn(4, 2) * gate * other).pow(2).mean().backward(retain_graph=True)
    opt.step()
"""),
    ("learns_in_copies", "import copy\n" + SGD + "for i in range(2):\n    old = copy.deepcopy(net)\n" + FIT),
    ("backward_after_the_loop", """cell, out = nn.GRUCell(2, 4), nn.Linear(4, 1)
h = torch.zeros(3, 4)
for step in torch.randn(6, 3, 2):
    h = cell(step, h)
    loss = out(h).pow(2).mean()
loss.backward()
"""),
    ("backward_after_the_loop", SGD + """total = 0.0
for xb, yb in zip(x.split(2), y.split(2)):
    loss = F.mse_loss(net(xb), yb)
    total = total + loss
total.backward()
"""),
    ("loss_overwritten", """cell, out = nn.GRUCell(3, 5), nn.Linear(5, 2)
x, y = torch.randn(4, 6, 3), torch.randint(2, (4, 6))
h = torch.zeros(4, 5)
for t in range(6):
    h = cell(x[:, t], h)
    loss = F.cross_entropy(out(h), y[:, t])
    print(loss.item())
loss.backward()
"""),
)  # fmt: skip
