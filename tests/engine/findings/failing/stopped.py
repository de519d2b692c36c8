"""What `engine/findings/failing/stopped.py` explains, and programs near to it. `#<` ends the line a finding names."""

from tests.engine.findings.failures import LAYERS, Row, X

TRIGGERS: dict[str, list[Row]] = {
    "raised_by_program": [
        Row("def check(n):\n    if n > 1:\n        raise ValueError('too many') #<\ncheck(2)\n", {"type": "ValueError"}),
        Row("class Odd(Exception):\n    pass\nraise Odd() #<\n", {"type": "Odd"}),
    ],
    "assertion_failed": [
        Row(X + "assert x.shape == (3, 2) #<\n", {"line": "6"}),
        Row("def f(n):\n    assert n > 3, n #<\nf(1)\n", {"type": "AssertionError"}),
    ],
    "op_refused": [
        Row(X + "torch.linalg.inv(x) #<\n", {"op": "linalg_inv"}),
        Row(LAYERS + "        self.bag = nn.EmbeddingBag(9, 2)\n    def forward(self, words, offsets=None):\n        return self.bag(words, offsets) #<\nnet = Net()\nnet(torch.tensor([1, 2]))\n", {"missing": "offsets", "caller": "net(torch.tensor([1, 2]))", "caller_line": "14"}),
        Row(LAYERS + "        self.bag = nn.EmbeddingBag(9, 2)\n    def forward(self, words, offsets=None):\n        return self.bag(words, offsets) #<\nnet = Net()\nnet(torch.tensor([1, 2]), None)\n", {"is_left_out": "0", "is_open": "1"}),
        Row(X + "F.binary_cross_entropy(x, 1) #<\n", {"values": "1: int; x: float32 [2, 3]"}),
        Row("y = torch.zeros(4).long()\nF.cross_entropy(torch.ones(4, 3), y, label_smoothing=2.0) #<\n", {"op": "cross_entropy"}),
        Row("norm = nn.Sequential(nn.BatchNorm1d(3, eps=0))\nx = torch.randn(4, 3)\nnorm(x) #<\n", {"argument": "eps", "refused": "0", "argument_line": "5"}),
    ],
    "call_refused": [
        Row("import random\ndef pick(rows, count=None):\n    return random.sample(rows, count) #<\npick([1, 2])\n", {"missing": "count", "caller": "pick([1, 2])", "is_left_out": "1"}),
        Row("memory = [1, 2]\nimport random\nrandom.sample(memory, 5) #<\n", {"values": "memory: list"}),
        Row("text = 'three'\nint(text) #<\n", {"type": "ValueError"}),
        Row("memory, count = [1, 2], 3\nimport random\nrandom.sample(memory, abs(count)) #<\n", {"values": "memory: list"}),
    ],
    "line_stopped": [
        Row("import json\njson.loads('{') #<\n", {"type": "JSONDecodeError"}),
        Row("next(iter([])) #<\n", {"type": "StopIteration"}),
    ],
}  # fmt: skip

NEAR_MISSES: dict[str, str] = {
    "raised_by_program": "torch.ones(2) @ torch.ones(3)\n",
    "assertion_failed": X + "assert x.shape == (2, 3)\n",
    "op_refused": "torch.linalg.inv(torch.eye(2))\n",
    "call_refused": "int('3')\n",
    "line_stopped": "next(iter([1]))\n",
}  # fmt: skip
