"""Cost of recording: processor time of forward and backward over plain PyTorch, in three parts.

`run`: what the program's own thread spends, recorded. `bare`: the same without figures and thumbnails of larger
tensors.
`total`: all threads, everything recorded, encoded and sent. Every sample is a fork of one warm process: the program
with its steps, less the same program without them. Each ratio is the median of interleaved samples."""

import gc
import os
import statistics
import struct
import sys
import time
from collections.abc import Callable
from types import CodeType

import msgspec
import torch

from engine.limits import DEFAULT_LIMITS
from engine.request import RunRequest
from engine.trace import Program
from engine.worker.capture import tensor_facts
from engine.worker.runtime.execute import make_ready, run

_LIMITS = msgspec.structs.replace(DEFAULT_LIMITS, wall_s=60.0, cpu_s=60.0)
"""The time of a busy machine is no finding."""
torch.set_num_threads(1)
import torch._dynamo  # noqa: E402  # constructing modules must not import it inside a sample

HEAD = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"

MODELS: dict[str, tuple[str, str, int]] = {
    "a  scalar expression": (
        "x = torch.ones(2, 4, requires_grad=True)\n",
        "((x + 2) ** 2 * 3).mean().backward()\n",
        100,
    ),
    "b  3-layer MLP": (
        "model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 4))\n"
        "x, y = torch.randn(32, 16), torch.randint(4, (32,))\n",
        "F.cross_entropy(model(x), y).backward()\n",
        50,
    ),
    "c  LeNet": (
        "model = nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),\n"
        "    nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))\n"
        "x, y = torch.randn(8, 1, 28, 28), torch.randint(10, (8,))\n",
        "F.cross_entropy(model(x), y).backward()\n",
        20,
    ),
    "d  ResNet-18": (
        """
class Block(nn.Module):
    def __init__(self, i, o, s):
        super().__init__()
        self.c1, self.b1 = nn.Conv2d(i, o, 3, s, 1, bias=False), nn.BatchNorm2d(o)
        self.c2, self.b2 = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o)
        self.down = nn.Sequential(nn.Conv2d(i, o, 1, s, bias=False), nn.BatchNorm2d(o)) if s != 1 or i != o else nn.Identity()
    def forward(self, x):
        return F.relu(self.b2(self.c2(F.relu(self.b1(self.c1(x))))) + self.down(x))
layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
i = 64
for o, s in ((64, 1), (128, 2), (256, 2), (512, 2)):
    layers += [Block(i, o, s), Block(o, o, 1)]
    i = o
model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))
x, y = torch.randn(2, 3, 64, 64), torch.randint(10, (2,))
""",
        "F.cross_entropy(model(x), y).backward()\n",
        2,
    ),
    "e  GPT, 12 layers": (
        """
class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.n1, self.n2 = h, nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(a.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.n2(x))))
class GPT(nn.Module):
    def __init__(self, n=12, d=256, t=64, v=512):
        super().__init__()
        self.tok, self.pos = nn.Embedding(v, d), nn.Embedding(t, d)
        self.blocks, self.norm = nn.ModuleList(Block(d, 8) for _ in range(n)), nn.LayerNorm(d)
        self.head = nn.Linear(d, v)
    def forward(self, i):
        x = self.tok(i) + self.pos(torch.arange(i.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))
model = GPT()
i = torch.randint(512, (2, 64))
""",
        "F.cross_entropy(model(i).flatten(0, 1), i.flatten()).backward()\n",
        2,
    ),
    "f  10,000 scalar ops": (
        "x = torch.tensor(1.0, requires_grad=True)\n",
        "y = x\nfor _ in range(10_000):\n    y = y * 1.0001\ny.backward()\n",
        1,
    ),
}


def processor_s(work: Callable[[], float]) -> tuple[float, float]:
    """Processor seconds of the program's thread, as the work gives them, and of all threads, in a fork of its own."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 1)
        before = time.process_time()
        thread = work()
        os.write(write, struct.pack("dd", thread, time.process_time() - before))
        os._exit(0)
    os.close(write)
    own, whole = struct.unpack("dd", os.read(read, 16))
    os.close(read)
    os.waitpid(child, 0)
    return own, whole


def plain_run(code: str) -> Callable[[], float]:
    """Runs a program as it is; gives what it spent. For a fork of its own."""

    def work() -> float:
        before = time.thread_time()
        exec(compile(code, "<program>", "exec"), {"__name__": "__main__"})
        return time.thread_time() - before

    return work


def recorded(code: str, bare: bool = False) -> Callable[[], float]:
    """Runs a program recorded; gives what its own thread spent. For a fork of its own."""

    def work() -> float:
        job = make_ready()
        call, spent = job.call, []

        def timed(code: CodeType) -> BaseException | None:
            before = time.thread_time()
            raised = call(code)
            spent.append(time.thread_time() - before)
            return raised

        job.call = timed  # type: ignore[method-assign]
        if bare:
            vars(tensor_facts)["figures"] = lambda array: (0.0, 0.0, 0.0, 0.0, 0.0, 0, 0, 0, 0)
            vars(tensor_facts)["picture"] = lambda array: None
        run(RunRequest(program=Program(code=code), limits=_LIMITS), lambda piece: None, job)
        return spent[0]

    return work


def main(names: list[str]) -> None:
    """Prints one line a model."""
    gc.freeze()  # a collection of all that was imported would fall into one sample and not into another
    samples = 7
    print(f"{'model':24}{'plain ms':>10}{'total ms':>10}{'run':>8}{'bare':>8}{'total':>8}")
    for name, (build, step, repeat) in MODELS.items():
        if names and name[0] not in names:
            continue
        head = HEAD + build
        indented = "".join(f"    {line}\n" for line in step.splitlines())
        whole = f"{head}{step}for _repeat in range({repeat}):\n{indented}"
        part = f"{head}{step}"
        rows = []
        for _ in range(samples):
            plain = (processor_s(plain_run(whole))[1] - processor_s(plain_run(part))[1]) / repeat
            long, short = processor_s(recorded(whole)), processor_s(recorded(part))
            bare = (processor_s(recorded(whole, True))[0] - processor_s(recorded(part, True))[0]) / repeat
            own, total = (long[0] - short[0]) / repeat, (long[1] - short[1]) / repeat
            rows.append((plain * 1e3, total * 1e3, own / plain, bare / plain, total / plain))
        plain_ms, total_ms, *ratios = [statistics.median(column) for column in zip(*rows, strict=True)]
        said = "".join(f"{ratio:8.2f}" for ratio in ratios)
        print(f"{name:24}{plain_ms:10.2f}{total_ms:10.2f}{said}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
