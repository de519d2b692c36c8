"""Long and large runs in full size: how they end, what they cost, how large their traces are on the wire, whether the
laws hold.

The same cases, small, are tests: `tests/engine/worker/compact/test_sampling.py`, `test_large.py`."""

import gzip
import sys
import time

import msgspec

import engine
from engine import laws
from engine.trace import Trace

HEAD = "import torch\nfrom torch import nn\n"
LEAF = "x = torch.tensor(1.0, requires_grad=True)\n"

CASES = {
    "100,000 ops": LEAF + "for i in range(100_000):\n    y = x * 2.0\ny.backward()\n",
    "chain of 100,000": LEAF + "y = x\nfor i in range(100_000):\n    y = y * 1.00001\ny.backward()\n",
    "5,000 backward calls": """
w, x = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([0.5, 0.25])
for i in range(5000):
    loss = ((w * x).sum() - 3.0) ** 2
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
    w.grad = None
""",
    "2,000 training steps": """
x = torch.linspace(-3.14, 3.14, 2000)
model = nn.Sequential(nn.Linear(3, 1), nn.Flatten(0, 1))
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for t in range(2000):
    loss = ((model(x.unsqueeze(-1).pow(torch.tensor([1, 2, 3]))) - torch.sin(x)) ** 2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "10^8 elements": "x = torch.ones(10**8, requires_grad=True)\n(x * 2).sum().backward()\n",
    "50 million parameters": """
model = nn.Sequential(nn.Linear(1000, 5000), nn.ReLU(), nn.Linear(5000, 5000), nn.ReLU(), nn.Linear(5000, 4000))
optimizer = torch.optim.Adam(model.parameters())
for i in range(3):
    optimizer.zero_grad()
    model(torch.randn(8, 1000)).pow(2).mean().backward()
    optimizer.step()
""",
    "10,000 prints": LEAF + "for i in range(10_000):\n    print(i, x * i)\n",
    "10,000 module calls": "model = nn.Linear(2, 2)\nfor i in range(10_000):\n    y = model(torch.ones(1, 2))\n",
    "endless ops": LEAF + "while True:\n    y = x * 2\n",
    "endless training": """
w = torch.ones(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
while True:
    optimizer.zero_grad()
    (w * w).sum().backward()
    optimizer.step()
""",
    "endless memory": "x = torch.ones(1000, 1000, requires_grad=True)\nkept = []\nwhile True:\n    kept.append(x * 2)\n",
}  # fmt: skip


def ended(trace: Trace) -> str:
    """How a run ended, in a word."""
    return trace.status if trace.failure is None else f"{trace.status}: {trace.failure.limit or trace.failure.type}"


def main(names: list[str]) -> None:
    """Prints one line a case."""
    engine.run("")
    print(
        f"{'case':24}{'ended':24}{'seconds':>8}{'assemble':>9}{'MB':>7}{'gzip':>6}{'ops':>7}{'passes':>7}{'curve':>6}  laws"
    )
    for name, code in CASES.items():
        if names and not any(word in name for word in names):
            continue
        began = time.perf_counter()
        trace = engine.run(HEAD + code)
        spent = time.perf_counter() - began
        text = msgspec.json.encode(trace)
        broken = laws.broken(trace)
        print(
            f"{name:24}{ended(trace):24}{spent:8.1f}{trace.timings.assemble_ms / 1e3:9.2f}{len(text) / 1e6:7.1f}"
            f"{len(gzip.compress(text, 6)) / 1e6:6.2f}{len(trace.ops):7}{len(trace.passes):7}{len(trace.curve):6}"
            f"  {broken[0] if broken else 'hold'}",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
