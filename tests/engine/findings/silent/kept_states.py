"""What `engine/findings/kept_states.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import DRIFTING, LOOP, STEP, TRAIN, Mistake

BEST = "best, kept = 9e9, None\nfor i in range(3):\n    opt.zero_grad()\n    loss = F.mse_loss(model(x), y)\n    loss.backward()\n    if loss.item() < best:\n        best = loss.item()\n        kept = {state}\n    opt.step()\nmodel.load_state_dict(kept)\n"

LINEAR = """model = nn.Linear(4, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(6, 4), torch.randint(0, 2, (6,))
"""

CROSS_ENTROPY_STEP = "F.cross_entropy(model(x), y).backward(); opt.step(); opt.zero_grad()\n"

MISTAKES: tuple[Mistake, ...] = (
    Mistake(
        "state_dict_shared",
        14,
        TRAIN + BEST.format(state="model.state_dict()"),
        says={"name": "kept", "load_line": "16"},
        mends=True,
    ),
    Mistake(
        "state_dict_shared",
        9,
        TRAIN
        + "for i in range(2):\n    if i == 0:\n        start = model.state_dict()\n    opt.zero_grad()\n    F.mse_loss(model(x), y).backward()\n    opt.step()\nmodel.load_state_dict(start)\n",
        says={"name": "start"},
        mends=True,
    ),
    Mistake(
        "state_dict_shared",
        10,
        TRAIN
        + """kept = {}
for i in range(3):
    opt.zero_grad(); F.mse_loss(model(x), y).backward(); opt.step()
    if i == 0: kept["model"] = model.state_dict()
model.load_state_dict(kept["model"])
""",
        says={"name": 'kept["model"]', "load_line": "11"},
        mends=True,
    ),
    Mistake(
        "state_dict_shared",
        15,
        TRAIN
        + """def fit(model, best=9e9):
    for _ in range(4):
        opt.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        opt.step()
        if loss.item() < best:
            best = loss.item()
            best_state = {name: value.cpu() for name, value in model.state_dict().items()}
    model.load_state_dict(best_state)
fit(model)
""",
        says={"name": "best_state", "load_line": "16"},
        mends=True,
    ),
    Mistake(
        "state_dict_shared",
        15,
        TRAIN
        + """losses, kept = [], None
for epoch in range(5):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss.item())
    if losses[-1] == min(losses):
        kept = model.state_dict()
model.load_state_dict(kept)
""",
        mends=True,
    ),
    Mistake(
        "state_dict_shared",
        10,
        """params = [torch.randn(3, 1, requires_grad=True), torch.zeros(1, requires_grad=True)]
x, y, best = torch.randn(9, 3), torch.randn(9, 1), None
for _ in range(3):
    loss = (x @ params[0] + params[1] - y).square().mean()
    grads = torch.autograd.grad(loss, params)
    if best is None:
        best = [p.data for p in params]
    with torch.no_grad():
        for p, g in zip(params, grads):
            p -= 0.3 * g
with torch.no_grad():
    for p, b in zip(params, best):
        p.copy_(b)
""",
        cure=(("p.data for", "p.data.clone() for"),),
        mends=True,
    ),
    Mistake(
        "copied_onto_itself",
        7,
        LINEAR
        + f"""target = model
for i in range(3):
    {CROSS_ENTROPY_STEP}    target.load_state_dict(model.state_dict())
""",
        says={"first": "target", "second": "model", "is_model": "1"},
    ),
    Mistake(
        "copied_onto_itself",
        11,
        LINEAR
        + f"""average = list(model.parameters())
for i in range(3):
    {CROSS_ENTROPY_STEP}    with torch.no_grad():
        for a, p in zip(average, model.parameters()): a.mul_(0.9).add_(p, alpha=0.1)
""",
        says={"first": "a", "second": "p"},
    ),
    Mistake(
        "copied_onto_itself",
        7,
        """class Agent:
    def __init__(self, net):
        self.policy = net.to("cpu")
        self.target = net.to("cpu")
        for old, new in zip(self.target.parameters(), self.policy.parameters()): old.data.copy_(new.data)
        self.opt = torch.optim.SGD(self.policy.parameters(), lr=0.1)
    def learn(self, x):
        self.opt.zero_grad(); self.policy(x).pow(2).mean().backward(); self.opt.step()
agent = Agent(nn.Linear(3, 2))
for i in range(3): agent.learn(torch.randn(4, 3))
""",
        says={"first": "self.target", "second": "self.policy", "is_model": "1", "made": 'net.to("cpu")'},
        cure=(('self.target = net.to("cpu")', "self.target = nn.Linear(3, 2)"),),
    ),
    Mistake(
        "copied_onto_itself",
        7,
        LINEAR
        + f"""target = model.eval()
for i in range(3):
    {CROSS_ENTROPY_STEP}    target.load_state_dict(model.state_dict())
""",
        says={"first": "target", "second": "model", "is_returned": "1"},
    ),
    Mistake(
        "loaded_from_itself",
        11,
        f"{DRIFTING}for i in range(4):\n    loss = net(torch.randn(6, 3)).pow(2).mean()\n{STEP}"
        + "    twin.load_state_dict(twin.state_dict())\n",
        cure=(("(twin.state", "(net.state"),),
    ),
    Mistake(
        "loaded_from_itself",
        11,
        """class Agent:
    def __init__(self):
        self.q, self.target = nn.Linear(3, 2), nn.Linear(3, 2)
        self.opt = torch.optim.Adam(self.q.parameters())
    def learn(self, x):
        self.opt.zero_grad(); (self.q(x) - self.target(x).detach()).pow(2).mean().backward(); self.opt.step()
    def sync(self):
        self.target.load_state_dict(self.target.state_dict())
agent = Agent()
for i in range(3):
    agent.learn(torch.randn(4, 3)); agent.sync()
""",
        cure=(("self.target.state", "self.q.state"),),
    ),
)

RIGHT: tuple[tuple[str, str], ...] = (
    ("state_dict_shared", "import copy\n" + TRAIN + BEST.format(state="copy.deepcopy(model.state_dict())")),
    (
        "state_dict_shared",
        TRAIN
        + LOOP
        + "state = model.state_dict()\nother = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))\nother.load_state_dict(state)\n",
    ),
    (
        "state_dict_shared",
        TRAIN
        + """kept = model.state_dict()
model.load_state_dict(kept)
F.mse_loss(model(x), y).backward(); opt.step()
""",
    ),
    (
        "state_dict_shared",
        TRAIN + LOOP + "    if i == 2:\n        kept = model.state_dict()\nmodel.load_state_dict(kept)\n",
    ),
    (
        "state_dict_shared",
        TRAIN + LOOP + "    if (i + 1) % 1 == 0:\n        kept = model.state_dict()\nmodel.load_state_dict(kept)\n",
    ),
    (
        "state_dict_shared",
        TRAIN
        + """def fit(model, opt):
    for i in range(3):
        opt.zero_grad(); F.mse_loss(model(x), y).backward(); opt.step()
        if i == 2:
            last = model.state_dict()
    model.load_state_dict(last)
other = nn.Linear(2, 1)
fit(model, opt)
fit(other, torch.optim.SGD(other.parameters(), lr=0.1))
""",
    ),
    (
        "copied_onto_itself",
        "import copy\n" + LINEAR + "import copy\n"
        f"target = copy.deepcopy(model)\n{CROSS_ENTROPY_STEP}target.load_state_dict(model.state_dict())\n",
    ),
    (
        "copied_onto_itself",
        "import copy\nnet = nn.Linear(3, 2)\nfast, slow = net.to('cpu'), copy.deepcopy(net).to('cpu')\nopt = torch.optim.SGD(fast.parameters(), lr=0.1)\nfor i in range(3):\n    opt.zero_grad(); fast(torch.randn(4, 3)).pow(2).mean().backward(); opt.step()\n    for a, b in zip(slow.parameters(), fast.parameters()): a.data.copy_(b.data)\n",
    ),
    (
        "copied_onto_itself",
        LINEAR
        + CROSS_ENTROPY_STEP
        + "with torch.no_grad():\n    for p in model.parameters(): p.add_(p, alpha=-0.01)\n",
    ),
)
