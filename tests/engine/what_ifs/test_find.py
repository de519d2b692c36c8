"""What-ifs against plain PyTorch: each edited program runs, and does otherwise what its switch says."""

from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from engine.program.edits import applied
from engine.trace import Trace
from engine.what_ifs import WhatIf, what_ifs

GALLERY = sorted((Path(__file__).parents[3] / "gallery").glob("*.py"))

LEAVES = """import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([3.0, 4.0], requires_grad=True)
y = (x * w).detach() + x * x
z = (y * 2).sum()
z.backward()
"""
TRAINING = """import torch
from torch import nn
torch.manual_seed(1)
model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    loss = model(torch.ones(1, 2)).sum()
    loss.backward()
with torch.no_grad():
    quiet = model(torch.ones(1, 2))
"""


def offered(trace: Trace, code: str, name: str = "") -> WhatIf:
    """The one what-if of a kind, or that of a name."""
    found = [each for each in what_ifs(trace).what_ifs if each.code == code and name in ("", each.name)]
    assert len(found) == 1, found
    return found[0]


def ran(code: str, seed: int = 0) -> SimpleNamespace:
    """A program's names after plain PyTorch ran it."""
    names: dict[str, object] = {"__name__": "__main__"}
    default = torch.get_default_dtype()
    torch.manual_seed(seed)
    try:
        with redirect_stdout(StringIO()):
            exec(compile(code, "<program>", "exec"), names)
    finally:
        torch.set_default_dtype(default)
    return SimpleNamespace(**names)


def after(trace: Trace, chosen: WhatIf) -> SimpleNamespace:
    """What the program is with a what-if."""
    return ran(applied(trace.program.code, chosen.edits), chosen.seed or 0)


def test_a_detach_is_gone(once: Callable[[str], Trace]) -> None:
    recorded = once(LEAVES)
    got = after(recorded, offered(recorded, "not_detached"))
    assert ran(LEAVES).w.grad is None
    assert got.w.grad.tolist() == [2.0, 4.0]
    assert got.z.tolist() == ran(LEAVES).z.tolist()


def test_a_gradient_is_doubled_at_one_operation(once: Callable[[str], Trace]) -> None:
    recorded = once(LEAVES)
    plain = ran(LEAVES)
    doubled = after(recorded, offered(recorded, "gradient_doubled", "x * x"))
    assert plain.x.grad.tolist() == [4.0, 8.0]
    assert (doubled.x.grad.tolist(), doubled.z.tolist()) == ([8.0, 16.0], plain.z.tolist())


def test_a_cut_operation_keeps_its_value(once: Callable[[str], Trace]) -> None:
    recorded = once(LEAVES.replace("x * x", "x * x + w.exp()"))
    cut = after(recorded, offered(recorded, "gradient_cut", "w.exp()"))
    plain = ran(recorded.program.code)
    assert plain.w.grad is not None
    assert (cut.w.grad, cut.z.tolist(), cut.x.grad.tolist()) == (None, plain.z.tolist(), plain.x.grad.tolist())


def test_a_reset_is_left_out(once: Callable[[str], Trace]) -> None:
    recorded = once(TRAINING)
    plain, got = ran(TRAINING), after(recorded, offered(recorded, "not_reset"))
    assert torch.allclose(got.model[1].bias.grad, 2 * plain.model[1].bias.grad)


def test_a_block_without_recording_records(once: Callable[[str], Trace]) -> None:
    recorded = once(TRAINING)
    got = after(recorded, offered(recorded, "recorded"))
    assert ran(TRAINING).quiet.grad_fn is None
    assert got.quiet.grad_fn is not None


def test_a_seed_is_another(once: Callable[[str], Trace]) -> None:
    recorded = once(TRAINING)
    chosen = offered(recorded, "other_seed")
    assert (chosen.seed, chosen.name) == (None, "2")
    assert after(recorded, chosen).quiet.tolist() != ran(TRAINING).quiet.tolist()
    unseeded = once("import torch\nx = torch.randn(3)\n")
    other = offered(unseeded, "other_seed")
    assert (other.seed, other.edits) == (1, ())
    assert after(unseeded, other).x.tolist() != ran(unseeded.program.code).x.tolist()


def test_numbers_are_double(once: Callable[[str], Trace]) -> None:
    recorded = once(TRAINING)
    got = after(recorded, offered(recorded, "float64"))
    assert ran(TRAINING).loss.dtype == torch.float32
    assert got.loss.dtype == got.model[0].weight.grad.dtype == torch.float64


def test_leaves_are_frozen(once: Callable[[str], Trace]) -> None:
    code = LEAVES.replace(".detach()", "")
    recorded = once(code)
    got = after(recorded, offered(recorded, "frozen", "w"))
    assert (got.w.grad, got.x.grad.tolist()) == (None, ran(code).x.grad.tolist())
    training = once(TRAINING)
    weights = after(training, offered(training, "frozen", "model.0.weight")).model
    assert weights[0].weight.grad is None
    assert weights[0].bias.grad is not None


@pytest.mark.parametrize(
    ("code", "program"),
    [
        ("float64", "import torch\nx = torch.ones(2, dtype=torch.float32)\n"),
        ("float64", "import torch as t\nx = t.ones(2)\n"),
        ("other_seed", "import torch\nx = torch.ones(2)\n"),
        ("not_detached", "import torch\nx = torch.ones(2)\ny = torch.detach(x)\n"),
        ("recorded", "import torch\nwith torch.no_grad():\n    x = 1\n"),
        ("frozen", "import torch\nx = torch.ones(2, requires_grad=True)\nx.sum().backward()\n"),
        ("gradient_doubled", "import torch\nx = torch.ones(2)\ny = x * 2\n"),
        (
            "gradient_doubled",
            "import torch\nw = torch.ones(2, requires_grad=True)\ny = w * 2\nw.backward(y.detach())\n",
        ),
        ("gradient_cut", "import torch\nx = torch.ones(2)\nx.requires_grad_()\ny = f'{x * 2}'\n"),
    ],
)
def test_nothing_is_offered_where_it_is_not_certain(once: Callable[[str], Trace], code: str, program: str) -> None:
    assert code not in {each.code for each in what_ifs(once(program)).what_ifs}


@pytest.mark.parametrize("lesson", GALLERY, ids=lambda file: file.stem)
def test_the_edited_lessons_are_python(once: Callable[[str], Trace], lesson: Path) -> None:
    recorded = once(lesson.read_text("utf-8"))
    told = what_ifs(recorded)
    for each in told.what_ifs:
        compile(applied(recorded.program.code, each.edits), "<program>", "exec")
    assert told.what_ifs or recorded.failure is not None or not recorded.passes


def test_they_stand_in_the_order_of_the_program(trace: Callable[[str], Trace]) -> None:
    found = what_ifs(trace(LEAVES)).what_ifs
    assert len({each.code for each in found}) > 2
    lines = [each.span.line if each.span is not None else 0 for each in found]
    assert lines == sorted(lines)
