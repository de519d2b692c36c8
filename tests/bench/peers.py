"""Side by side with tools that draw a model's graph: processor time of forward and backward under each, over plain
PyTorch.

`./run bench --peers`, `./run bench --peers a e` for some models. The tools are installed into a temporary folder,
without their dependencies on PyTorch; nothing of them enters the project's environment. Each sample is a fork of one
warm process, each ratio the median of interleaved samples. None of them takes a program: each gets one module that
returns one loss."""

import importlib
import os
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import torch

from tests.bench.bench_recording import HEAD, MODELS, processor_s, recorded

PACKAGES = ("torchviz==0.0.3", "torchview==0.2.7", "torchlens==2.36.1")
NEEDED = ("graphviz", "safetensors", "tqdm", "pillow", "packaging", "typing_extensions")
"""What they import besides PyTorch and NumPy."""
SAMPLES = 5
LIMIT_S = 60
"""What a tool may take for one model."""

SUBJECTS = {
    "a": ("((x + 2) ** 2 * 3).mean()", "x", ""),
    "b": ("F.cross_entropy(self.model(x), y)", "x, y", "model"),
    "c": ("F.cross_entropy(self.model(x), y)", "x, y", "model"),
    "d": ("F.cross_entropy(self.model(x), y)", "x, y", "model"),
    "e": ("F.cross_entropy(self.model(i).flatten(0, 1), i.flatten())", "i", "model"),
    "f": ("self.loop(x)", "x", ""),
}
"""The loss as an expression, its inputs, the module that holds the parameters."""

SUBJECT = """
class Subject(nn.Module):
    def __init__(self):
        super().__init__()
        {members}
    def loop(self, y):
        for _ in range(10_000):
            y = y * 1.0001
        return y
    def forward(self, {inputs}):
        self.loss = {loss}
        return self.loss
subject, inputs = Subject(), ({inputs},)
"""

Work = Callable[[Any, tuple[torch.Tensor, ...]], None]


def _plain(subject: Any, inputs: tuple[torch.Tensor, ...]) -> None:
    subject(*inputs).backward()


def _torchviz(subject: Any, inputs: tuple[torch.Tensor, ...]) -> None:
    loss = subject(*inputs)
    importlib.import_module("torchviz").make_dot(loss, params=dict(subject.named_parameters()))
    loss.backward()


def _torchview(subject: Any, inputs: tuple[torch.Tensor, ...]) -> None:
    drawn = importlib.import_module("torchview").draw_graph(subject, input_data=inputs, depth=float("inf"))
    assert drawn.visual_graph is not None


def _torchlens(subject: Any, inputs: tuple[torch.Tensor, ...]) -> None:
    importlib.import_module("torchlens").trace(subject, list(inputs))


def _torchlens_backward(subject: Any, inputs: tuple[torch.Tensor, ...]) -> None:
    options = importlib.import_module("torchlens.options")
    capture = options.CaptureOptions(save_grads="all", backward_ready=True)
    log = importlib.import_module("torchlens").trace(subject, list(inputs), capture=capture)
    log.log_backward(subject.loss)


TOOLS: dict[str, tuple[Work, str]] = {
    "torchviz": (_torchviz, "the graph behind the loss as DOT"),
    "torchview": (_torchview, "forward modules and functions, shapes; no backward"),
    "torchlens": (_torchlens, "forward values, without the backward"),
    "torchlens+": (_torchlens_backward, "forward values, all gradients"),
}


def install(folder: str) -> str:
    """Puts the tools into a folder; says what went wrong."""
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder, *PACKAGES, *NEEDED]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    return "" if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


class _Small(torch.nn.Module):
    """What each tool does first: some of them import and wrap much at their first use."""

    loss: torch.Tensor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.loss = (x * x).sum()
        return self.loss


def _spent(work: Work, subject: Any, inputs: tuple[torch.Tensor, ...]) -> float | str:
    """Processor seconds of the work in a fork of its own, which some tools leave changed; a word when it did not end
    well."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            nothing = os.open(os.devnull, os.O_RDWR)
            os.dup2(nothing, 1)
            os.dup2(nothing, 2)
            work(_Small(), (torch.ones(2, requires_grad=True),))
            signal.alarm(LIMIT_S)
            before = time.process_time()
            work(subject, inputs)
            os.write(write, struct.pack("d", time.process_time() - before))
        finally:
            os._exit(0)
    os.close(write)
    said = os.read(read, 8)
    os.close(read)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
        return f"over {LIMIT_S} s"
    return float(struct.unpack("d", said)[0]) if said else "fails"


def measure(letter: str, build: str, step: str) -> None:
    """Prints one line: the ratio of each tool on one model."""
    loss, inputs, member = SUBJECTS[letter]
    names: dict[str, Any] = {"__name__": "__main__"}
    members = f"self.{member} = {member}" if member else "pass"
    exec(HEAD + build + SUBJECT.format(members=members, inputs=inputs, loss=loss), names)
    subject, given = names["subject"], names["inputs"]
    plain: list[float] = []
    ratios: dict[str, list[float]] = {name: [] for name in ("engine", *TOOLS)}
    failed: dict[str, str] = {}
    for _ in range(SAMPLES):
        base = _spent(_plain, subject, given)
        assert isinstance(base, float)
        plain.append(base)
        whole, part = (processor_s(recorded(HEAD + build + times * step))[1] for times in (1, 0))
        ratios["engine"].append((whole - part) / base)
        for name, (work, _) in TOOLS.items():
            if name in failed:
                continue
            spent = _spent(work, subject, given)
            if isinstance(spent, str):
                failed[name] = spent
            else:
                ratios[name].append(spent / base)
    said = "".join(
        f"{failed[name] if name in failed else f'{statistics.median(found):.1f}':>12}" for name, found in ratios.items()
    )
    print(f"{letter:3}{statistics.median(plain) * 1e3:10.2f}{said}", flush=True)


def main(letters: list[str]) -> int:
    """Prints one line for each model, or for those named."""
    with tempfile.TemporaryDirectory() as folder:
        trouble = install(folder)
        if trouble:
            print(f"the tools cannot be installed here: {trouble}")
            return 0
        sys.path.insert(0, folder)
        for name in ("torchviz", "torchview", "torchlens"):
            importlib.import_module(name)
        print(f"{'':3}{'plain ms':>10}" + "".join(f"{name:>12}" for name in ("engine", *TOOLS)))
        for name, (build, step, _) in MODELS.items():
            if not letters or name[0] in letters:
                measure(name[0], build, step)
    print("; ".join(f"{name}: {gives}" for name, (_, gives) in TOOLS.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
