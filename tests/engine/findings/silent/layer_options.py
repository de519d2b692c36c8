"""What `engine/findings/layer_options.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import Mistake

MISTAKES: tuple[Mistake, ...] = (
    Mistake("word_for_sizes", 7, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, stride='same', padding=1)
        self.second = nn.Linear(3, 1)
    def forward(self, x):
        return self.second(x)
print(Net()(torch.ones(2, 3)))
""", cures=(("stride='same', padding=1", "stride=1, padding='same'"), ("'same'", "2")), says={"option": "stride", "is_of_padding": "1"}, mends=True),
    Mistake("word_for_sizes", 7, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(2, 4, 3, dilation='wide')
net = Net()
print(sum(p.numel() for p in net.parameters()))
""", cure=(("'wide'", "2"),), says={"text": "wide", "is_of_padding": "0"}, mends=True),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("word_for_sizes", "net = nn.Sequential(nn.Conv2d(3, 8, 3, stride=1, padding='same', padding_mode='zeros'), nn.MaxPool2d(2))\nprint(net)\n"),
)  # fmt: skip
