"""How programs that fail are written down, and the lines that many of them share."""

from typing import NamedTuple

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\nimport numpy as np\n"
"""Four lines: the programs begin on line 5."""

W = "w = torch.tensor([1., 2.], requires_grad=True)\n"
X = "x = torch.ones(2, 3)\n"
NET = "class Net(nn.Module):\n"
INIT = "    def __init__(self):\n        super().__init__()\n"
LAYERS = NET + INIT + "        self.fc1 = nn.Linear(3, 4)\n        self.fc2 = nn.Linear(4, 2)\n"
DATA = "from torch.utils.data import DataLoader, Dataset, TensorDataset\n"
NUMBERS = DATA + "data = TensorDataset(torch.ones(8, 2), torch.ones(8))\n"


class Row(NamedTuple):
    """A failing program and what is expected of its finding."""

    program: str
    parameters: dict[str, str]
    mends: bool = False
