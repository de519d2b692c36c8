"""How the programs of the silent mistakes are written down, and the lines that many of them share."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

HEAD = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"
"""Three lines: the programs begin on line 4."""

TRAIN = """x, y = torch.randn(8, 2), torch.randn(8, 1)
model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
"""
"""Lines 4 to 6."""

LOOP = """for i in range(3):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
"""

DATA = "x, y = torch.randn(8, 2), torch.randn(8, 1)\nnet = nn.Linear(2, 1)\n"

SGD = DATA + "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"

FIT = "    opt.zero_grad()\n    F.mse_loss(net(x), y).backward()\n    opt.step()\n"

THREE_LINES = "    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"

STEP = "    opt.zero_grad(); loss.backward(); opt.step()\n"

GAN = """G, D = nn.Linear(2, 3), nn.Linear(3, 1)
of_g, of_d = torch.optim.SGD(G.parameters(), lr=0.1), torch.optim.SGD(D.parameters(), lr=0.1)
for i in range(3):
"""
"""Lines 4 to 6."""

NORMED = "nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))"

DRIFTING = (
    f"import copy\nnet = {NORMED}\ntwin = copy.deepcopy(net).eval()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
)

QUANTISER = """enc, dec, book = nn.Linear(4, 2), nn.Linear(2, 4), nn.Embedding(5, 2)
opt = torch.optim.SGD([*enc.parameters(), *dec.parameters(), *book.parameters()], lr=0.1)
for _ in range(3):
    x = torch.randn(8, 4)
    z = enc(x)
    q = book(torch.cdist(z, book.weight).argmin(1))
    made = MADE
    loss = F.mse_loss(dec(made), x) + F.mse_loss(AIM, z.detach())
"""


class Mistake(NamedTuple):
    """A program that runs and is wrong, and the line that its finding names."""

    code: str
    line: int
    program: str
    cure: tuple[tuple[str, str], ...] = ()
    """Replacements that together make a right program of it."""
    cures: tuple[tuple[str, str], ...] = ()
    """Replacements each of which does so by itself."""
    says: Mapping[str, str] = MappingProxyType({})
    """Words that its sentence is given."""
    mends: bool = False
    """Whether its finding has a fix that mends it."""

    def cured(self) -> list[str]:
        """The right programs."""
        assert all(wrong in self.program for wrong, _ in self.cures)
        together = self.program
        for wrong, right in self.cure:
            assert wrong in together
            together = together.replace(wrong, right)
        return [together] * bool(self.cure) + [self.program.replace(wrong, right) for wrong, right in self.cures]
