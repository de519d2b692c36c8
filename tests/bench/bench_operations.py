"""Cost of recording small programs: processor time of one operation, plain and recorded, in microseconds.

`run`: what the program's own thread spends, recorded. `total`: all threads, everything recorded, encoded and sent.
Every sample is a fork of one warm process: the program, less the same program without its body. Medians of interleaved
samples."""

import gc
import statistics
import sys
from typing import NamedTuple

from tests.bench.bench_recording import plain_run, processor_s, recorded

HEAD = "import torch\n"
SAMPLES = 5


class Small(NamedTuple):
    """A program whose body makes so many operations."""

    build: str
    body: str
    operations: int


PROGRAMS = {
    "the same op 4,000 times, no graph": Small("x = torch.ones(4)\n", "for _ in range(4_000):\n    y = x * 2\n", 4_000),
    "a chain of 4,000 and back": Small(
        "x = torch.tensor(1.0, requires_grad=True)\n",
        "y = x\nfor _ in range(4_000):\n    y = y * 1.0001\ny.backward()\n",
        4_000,
    ),
    "1,000 leaves, four different ops each": Small(
        "",
        "ends = []\nfor n in range(1_000):\n    w = torch.tensor(n / 1_000, requires_grad=True)\n"
        "    ends.append((w * 2).exp().sin() + 1)\ntorch.stack(ends).sum().backward()\n",
        4_000,
    ),
    "[0.5 * x * x for x in arange(…)]": Small("", "y = [0.5 * x * x for x in torch.arange(-10, 10, 0.01)]\n", 4_000),
    "1,000 gradient steps by hand": Small(
        "w = torch.tensor(0.0, requires_grad=True)\n",
        "for _ in range(1_000):\n    loss = (w - 3) ** 2\n    loss.backward()\n"
        "    with torch.no_grad():\n        w -= 0.01 * w.grad\n    w.grad.zero_()\n",
        5_000,
    ),
}


def main(names: list[str]) -> None:
    """Prints one line a program; `names` are words of those to measure."""
    gc.freeze()  # as in the bench beside it
    print(f"{'per operation':40}{'plain µs':>10}{'run µs':>10}{'total µs':>10}{'run':>8}{'total':>8}")
    for name, (build, body, operations) in PROGRAMS.items():
        if names and not any(word in name for word in names):
            continue
        without, whole = HEAD + build, HEAD + build + body
        rows = []
        for _ in range(SAMPLES):
            plain = processor_s(plain_run(whole))[1] - processor_s(plain_run(without))[1]
            long, short = processor_s(recorded(whole)), processor_s(recorded(without))
            rows.append((plain, long[0] - short[0], long[1] - short[1]))
        plain, own, total = (statistics.median(column) / operations * 1e6 for column in zip(*rows, strict=True))
        print(f"{name:40}{plain:10.1f}{own:10.1f}{total:10.1f}{own / plain:8.1f}{total / plain:8.1f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
