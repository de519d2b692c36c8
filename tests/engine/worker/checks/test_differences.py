"""Gradients beside finite differences: the verdict, and what explains it."""

from dataclasses import dataclass

import msgspec
import pytest

from engine import DEFAULT_LIMITS, run
from engine.laws import broken
from engine.trace import Check, Trace

FUNCTION = """
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * {backward}
"""
MODEL = """
model = torch.nn.Sequential(torch.nn.Linear(4, 8), {layer}, torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
inputs, wanted = torch.randn(6, 4), torch.randn(6, 1)
for _ in range(3):
    optimizer.zero_grad()
    ((model(inputs) - wanted) ** 2).mean().backward()
    optimizer.step()
"""


@dataclass(frozen=True)
class Case:
    """A program whose leaf `x` is checked."""

    code: str
    verdict: str
    reason: str = ""
    x: str = "x = torch.tensor([1.5, -0.5, 2.0], requires_grad=True)"


CASES = {
    "smooth": Case("(x.sin() * x.exp()).sum().backward()", "agrees"),
    "double": Case("(x ** 3).sum().backward()", "agrees", x="x = torch.ones(2, dtype=torch.float64, requires_grad=True)"),
    "vector": Case("(x * x).backward(torch.tensor([1., 0., -2.]))", "agrees"),
    "several roots": Case("torch.autograd.backward([(x * x).sum(), x.exp().sum()])", "agrees"),
    "leaf as root": Case("x.backward(torch.ones(3))", "agrees"),
    "grad": Case("torch.autograd.grad((x ** 2).sum(), x)", "agrees"),
    "inputs": Case("w = torch.ones(3, requires_grad=True)\n(x * w).sum().backward(inputs=[x])", "agrees"),
    "relu beside its kink": Case("torch.relu(x).sum().backward()", "agrees"),
    "relu at its kink": Case(
        "torch.relu(x).sum().backward()", "kink", "kink", "x = torch.tensor([1., 0., -1.], requires_grad=True)"
    ),
    "abs at its kink": Case("x.abs().sum().backward()", "kink", "kink", "x = torch.zeros(2, requires_grad=True)"),
    "max of equals": Case("x.max().backward()", "kink", "kink", "x = torch.tensor([2., 2.], requires_grad=True)"),
    "kinks of several ops": Case(
        "(x.max(0).values * 3 + x.sort(descending=True).values[0]).backward()", "kink", "kink",
        "x = torch.tensor([2., 2.], requires_grad=True)",
    ),
    "jump": Case(
        "torch.where(x > 0, x + 1, x).sum().backward()", "kink", "jump", "x = torch.zeros(2, requires_grad=True)"
    ),
    "jump nowhere near": Case("torch.where(x > 0, x + 1, x).sum().backward()", "agrees"),
    "single precision": Case(
        "(((1 + x) ** 2 - 1 - 2 * x) * 1e6).sum().backward()", "float32", "float32",
        "x = torch.tensor([1.2345e-4, 3.21e-6], requires_grad=True)",
    ),
    "the same in double": Case(
        "(((1 + x) ** 2 - 1 - 2 * x) * 1e6).sum().backward()", "agrees", "",
        "x = torch.tensor([1.2345e-4, 3.21e-6], dtype=torch.float64, requires_grad=True)",
    ),
    "detach": Case("(x * x.detach()).sum().backward()", "cut", "detach"),
    "a number that left and came back": Case("s = (x * 2).sum().item()\n(x * s).sum().backward()", "agrees", "left"),
    "float() of a sum": Case("y = x * 3\n(y * float(y.sum())).sum().backward()", "agrees", "left"),
    "through a list": Case("k = torch.tensor((x * 2).tolist())\n(x * k).sum().backward()", "agrees", "left"),
    "a number that left too late to come back": Case("y = (x * x).sum()\nprint(y.item())\ny.backward()", "agrees"),
    "a number of something else": Case("k = torch.ones(3).sum().item()\n(x * k).sum().backward()", "agrees"),
    "a number of the leaf as it was before": Case(
        "s = x.sum().item()\nwith torch.no_grad():\n    x.add_(1)\n(x * x).sum().backward()", "agrees"
    ),
    "a reentrant checkpoint": Case(
        "from torch.utils.checkpoint import checkpoint\ncheckpoint(torch.sin, x * 2, use_reentrant=True).sum().backward()",
        "agrees",
    ),
    "detach that hides nothing": Case("y = x * x\nprint(y.detach())\ny.sum().backward()", "agrees"),
    "data": Case("(x * x.data).sum().backward()", "cut", "data"),
    "no_grad": Case("with torch.no_grad():\n    y = x * 3\n(x * y).sum().backward()", "cut", "no_grad"),
    "no_grad beside the path": Case("with torch.no_grad():\n    print(x * 3)\n(x * 3).sum().backward()", "agrees"),
    "gradient as a constant": Case(
        "g, = torch.autograd.grad((x ** 3).sum(), x)\n(x * g).sum().backward(inputs=[x])", "agrees"
    ),
    "double backward": Case(
        "g, = torch.autograd.grad((x.prod() ** 2), x, create_graph=True)\n(g ** 2).sum().backward()", "agrees"
    ),
    "wrong backward": Case(FUNCTION.format(backward="x") + "Square.apply(x.sin()).sum().backward()", "differs", "custom"),
    "right backward": Case(FUNCTION.format(backward="2 * x") + "Square.apply(x.sin()).sum().backward()", "agrees"),
    "hook": Case("x.register_hook(lambda g: g * 2)\n(x * x).sum().backward()", "differs", "hook"),
    "hook that looks": Case("x.register_hook(lambda g: print(g))\n(x * x).sum().backward()", "agrees"),
    "node hook": Case(
        "y = x * x\ny.grad_fn.register_hook(lambda left, entered: (left[0] * 3, left[1]))\ny.sum().backward()",
        "differs", "outside",
    ),
    "changed through data": Case("y = (x ** 2).sum()\nx.data.add_(1)\ny.backward()", "differs", "changed"),
    "taken out by Variable": Case("y = torch.autograd.Variable(x * 2)\n(x * y).sum().backward()", "cut", "detach"),
    "changed after backward": Case("(x ** 2).sum().backward()\nwith torch.no_grad():\n    x.add_(1)", "agrees"),
    "written under no_grad before": Case("with torch.no_grad():\n    x.mul_(3)\n(x ** 2).sum().backward()", "agrees"),
    "in place on a result": Case("y = x * 2\ny.mul_(x)\ny += x\ny.sum().backward()", "agrees"),
    "in place through views": Case(
        "out = torch.zeros(2, 3)\nlast = out[1]\nlast.copy_(x * 3)\nout[0] = x * x\n(out * out).sum().backward()", "agrees"
    ),
    "a constant that changes": Case("k = torch.ones(3)\ny = x.exp() + k\nk.mul_(5)\n(y + x * k).sum().backward()", "agrees"),
    "a NumPy array that changes": Case(
        "import numpy\na = numpy.ones(3, 'float32')\nk = torch.from_numpy(a)\ny = x * (k + 0)\na[:] = 7\n"
        "(y + x * k.clone()).sum().backward()", "agrees",
    ),
    "dropout": Case("torch.nn.functional.dropout(x * x, 0.5).sum().backward()", "agrees"),
    "noise": Case("(x * torch.randn(3) + torch.randn_like(x)).pow(2).sum().backward()", "agrees"),
    "rows": Case("total = 0\nfor row in torch.stack([x, x * x]):\n    total = total + row.prod()\ntotal.backward()", "agrees"),
    "split": Case("a, b = (x * 2)[:2].unbind()\n(a * b).backward()", "agrees"),
    "branch of the data": Case("y = x.sum()\n(y * 2 if y > 0 else y * 3).backward()", "agrees"),
    "cat and list": Case("torch.cat([x, x * 2]).pow(2).mean().backward()", "agrees"),
    "matrix kept symmetric": Case(
        "torch.linalg.eigvalsh(x).max().backward()", "differs", "symmetric",
        "x = torch.tensor([[4., 1.], [1., 3.]], requires_grad=True)",
    ),
    "scatter into one place": Case(
        "torch.zeros(2).scatter(0, torch.tensor([0, 0, 1]), x).sum().backward()", "differs", "unknown"
    ),
    "complex": Case(
        "(x * x.conj() + x ** 3).real.sum().backward()", "agrees", "",
        "x = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)",
    ),
    "no elements": Case("x.sum().backward()", "not_checked", "empty", "x = torch.zeros(0, requires_grad=True)"),
    "not a number": Case(
        "(x * float('nan')).sum().backward()", "not_checked", "nonfinite", "x = torch.ones(2, requires_grad=True)"
    ),
    "nan of autograd alone": Case(
        "torch.where(x > 0, x.sqrt(), x * 2).sum().backward()", "differs", "nonfinite",
        "x = torch.tensor([4., -1.], requires_grad=True)",
    ),
    "large": Case("(x * x).sum().backward()", "agrees", "", "x = torch.linspace(0, 1, 300_000, requires_grad=True)"),
    "function transform": Case("torch.func.vmap(torch.sin)(x).sum().backward()", "not_checked", "unseen"),
    "half": Case("(x * x).sum().backward()", "agrees", "", "x = torch.tensor([1.5, 3.], dtype=torch.float16, requires_grad=True)"),
    "sparse gradient": Case(
        "torch.nn.functional.embedding(torch.tensor([0, 2, 0]), x, sparse=True).pow(2).sum().backward()", "agrees", "",
        "x = torch.arange(6.).reshape(3, 2).requires_grad_()",
    ),
    "casts": Case("(x.double() * 2).float().to(torch.float32).pow(2).sum().backward()", "agrees"),
    "autocast": Case(
        "with torch.autocast('cpu', dtype=torch.bfloat16):\n    y = torch.ones(3, 3) @ x.reshape(3, 1)\ny.float().sum().backward()",
        "agrees",
    ),
    "fails after": Case("(x * x).sum().backward()\nraise ValueError('later')", "agrees"),
    "exits": Case("(x * x).sum().backward()\nexit(3)", "agrees"),
    "leaf made of a result": Case(
        "for _ in range(2):\n    g, = torch.autograd.grad((x ** 2).sum(), x)\n    x = (x - 0.1 * g).detach().requires_grad_()\n"
        "(x ** 3).sum().backward()", "agrees",
    ),
}  # fmt: skip


def _checked(code: str) -> Trace:
    trace = run("import torch\n" + code, checks=("finite-difference",))
    assert broken(trace) == []
    return trace


def _of(trace: Trace, name: str) -> Check:
    """The last check of a leaf of this name."""
    named = {tensor.identity or tensor.id for tensor in trace.tensors if name in tensor.names}
    return [check for check in trace.checks if check.tensor in named][-1]


@pytest.mark.parametrize("name", CASES)
def test_the_verdict_and_its_reason(name: str) -> None:
    case = CASES[name]
    trace = _checked(f"{case.x}\n{case.code}\n")
    check = _of(trace, "x")
    assert (check.verdict, check.reason) == (case.verdict, case.reason), check


def test_a_wrong_backward_is_named() -> None:
    trace = _checked(
        "x = torch.ones(2, requires_grad=True)" + FUNCTION.format(backward="x") + "Square.apply(x).sum().backward()\n"
    )
    check = _of(trace, "x")
    (node,) = check.nodes
    assert next(each.type for each in trace.nodes if each.id == node) == "SquareBackward"
    assert check.parameters == {"function": "Square"}
    assert [(element.autograd, round(float(element.difference), 6)) for element in check.elements] == [
        (1.0, 2.0),
        (1.0, 2.0),
    ]


def test_a_cut_is_placed() -> None:
    check = _of(
        _checked("x = torch.ones(2, requires_grad=True)\ny = x.exp()\nz = y.detach() * x\nz.sum().backward()\n"), "x"
    )
    assert check.span is not None
    assert (check.span.line, check.span.column, check.parameters) == (4, 4, {"op": "detach"})


@pytest.mark.parametrize(
    "layer", ["torch.nn.ReLU()", "torch.nn.Dropout(0.3)", "torch.nn.BatchNorm1d(8)", "torch.nn.LayerNorm(8)"]
)
def test_a_model_in_a_loop_is_checked_in_its_first_pass(layer: str) -> None:
    trace = _checked(MODEL.format(layer=layer))
    assert {check.pass_id for check in trace.checks} == {"p1"}
    assert len(trace.checks) == sum(len(module.parameters) for module in trace.modules)
    assert {check.verdict for check in trace.checks} <= {"agrees", "float32", "kink"}
    leaf_of = {tensor.id: tensor for tensor in trace.tensors}
    for check in trace.checks:
        count = 1
        for size in leaf_of[check.tensor].shape:
            count *= size
        assert len(check.elements) == count if count <= 16 else 15 <= len(check.elements) <= 16


def test_later_passes_that_reach_new_leaves_are_checked_too() -> None:
    trace = _checked(
        "a = torch.ones(2, requires_grad=True)\nb = torch.ones(2, requires_grad=True)\n"
        "(a * 2).sum().backward()\n(a * b).sum().backward()\n"
    )
    assert [(check.pass_id, check.verdict) for check in trace.checks] == [("p1", "agrees"), ("p2", "agrees")]


def test_more_leaves_than_the_limit_are_named_unchecked() -> None:
    trace = _checked(
        "xs = [torch.ones(2, requires_grad=True) for _ in range(12)]\nsum((x ** 2).sum() for x in xs).backward()\n"
    )
    verdicts = [(check.verdict, check.reason) for check in trace.checks]
    assert verdicts.count(("agrees", "")) == 8
    assert verdicts.count(("not_checked", "limit")) == 4


def test_threads_are_not_checked() -> None:
    trace = _checked(
        "import threading\nx = torch.ones(2, requires_grad=True)\n"
        "t = threading.Thread(target=lambda: (x * x).sum().backward())\nt.start()\nt.join()\n"
    )
    assert _of(trace, "x").reason == "threads"


@pytest.mark.parametrize(
    "code",
    [
        "print(1)",
        "x = torch.ones(2, requires_grad=True)\ny = x * 2",
        "x = torch.ones(2)\nx.sum().backward()",
        "x = (",
        "1 / 0",
    ],
)
def test_without_a_pass_there_is_nothing_to_check(code: str) -> None:
    assert _checked(code + "\n").checks == ()


def test_values_too_large_to_keep_are_not_checked() -> None:
    limits = msgspec.structs.replace(DEFAULT_LIMITS, memory_bytes=128 << 20)
    code = "import torch\nx = torch.ones(5_000_000, requires_grad=True)\n(x * 2).sum().backward()\n"
    trace = run(code, limits, ("finite-difference", "jacobian"))
    assert (trace.status, _of(trace, "x").reason, trace.jacobians) == ("ok", "memory", ())


def test_what_a_forward_prints_while_it_is_repeated_is_not_the_programs() -> None:
    code = FUNCTION.format(backward="2 * x").replace(
        "return x * x", "print('forward')\n        calls.append(1)\n        return x * x"
    )
    trace = _checked(
        "calls = []\nx = torch.ones(2, requires_grad=True)"
        + code
        + "Square.apply(x).sum().backward()\nprint(len(calls))\n"
    )
    assert "".join(each.text for each in trace.output) == "forward\n1\n"
    assert next(variable.text for variable in trace.variables if variable.name == "calls") == "[1]"


@pytest.mark.slow
def test_a_check_that_has_no_time_says_so() -> None:
    limits = msgspec.structs.replace(DEFAULT_LIMITS, wall_s=60.0, cpu_s=5.0)
    code = """import torch
x = torch.full((300, 300), 0.01, requires_grad=True)
y = x
for _ in range(200): y = torch.tanh(y @ x)
y.sum().backward()
print('end')
"""
    trace = run(code, limits, ("finite-difference",))
    assert (trace.status, trace.output[-1].text) == ("ok", "end\n")
    assert _of(trace, "x").reason == "time"
