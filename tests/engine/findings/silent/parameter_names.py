"""What `engine/findings/parameter_names.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import STEP, Mistake

MISTAKES: tuple[Mistake, ...] = (
    Mistake("part_taken_for_name", 6, f"""net = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 1))
plain = ["bias", "1.weight"]
decayed = [p for name, p in net.named_parameters() if name not in plain]
others = [p for name, p in net.named_parameters() if name in plain]
opt = torch.optim.AdamW([{{"params": decayed}}, {{"params": others, "weight_decay": 0.0}}])
for _ in range(3):
    loss = net(torch.randn(8, 3)).pow(2).mean()
{STEP}""", cure=(("name not in plain", "not any(word in name for word in plain)"), ("name in plain", "any(word in name for word in plain)"))),
    Mistake("part_taken_for_name", 12, f"""class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(3, 4), nn.Linear(4, 1)
    def forward(self, x):
        return self.head(torch.tanh(self.body(x)))
def freeze(model):
    for name, p in model.named_parameters():
        if name in ("body", "stem"):
            p.requires_grad = False
net = Net()
freeze(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = net(torch.randn(8, 3)).pow(2).mean()
{STEP}""", cure=(('("body", "stem")', '("body.weight", "body.bias")'),)),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("part_taken_for_name", f"net = nn.ModuleList([nn.Linear(3, 2), nn.Linear(2, 1)])\ndef plain(part):\n    return [p for n, p in part.named_parameters() if n not in ['bias']]\nkept = plain(net[0]) + plain(net[1])\nfor part in net:\n    kept += [p for n, p in part.named_parameters() if n in ['bias']]\nopt = torch.optim.SGD(kept, lr=0.1)\nfor _ in range(2):\n    loss = net[1](net[0](torch.ones(2, 3))).mean()\n{STEP}"),
    ("part_taken_for_name", f"net = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1))\nfor n, p in net.named_parameters():\n    if n in ['bias'] or n.endswith('.bias'):\n        p.requires_grad = False\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor _ in range(2):\n    loss = net(torch.ones(2, 3)).mean()\n{STEP}"),
    ("part_taken_for_name", f"net = nn.Linear(3, 1)\nno_decay = ['bias', 'LayerNorm.weight']\ngroups = [{{'params': [p for n, p in net.named_parameters() if n in no_decay], 'weight_decay': 0.0}}, {{'params': [p for n, p in net.named_parameters() if n not in no_decay]}}]\nopt = torch.optim.SGD(groups, lr=0.1)\nfor _ in range(2):\n    loss = net(torch.ones(2, 3)).mean()\n{STEP}"),
    ("part_taken_for_name", f"net = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1))\nfor n, m in net.named_children():\n    for _, p in m.named_parameters():\n        p.requires_grad = n not in ['0']\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor _ in range(2):\n    loss = net(torch.ones(2, 3)).mean()\n{STEP}"),
)  # fmt: skip
