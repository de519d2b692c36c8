"""Sums over broadcast axes, against each node's own formula run by hand: what it gives before the engine sums it."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from engine import laws
from engine.trace import Trace
from tests.engine.worker.forked import record

SHAPES = {"m": (3, 4), "r": (4,), "c": (3, 1), "s": (), "o": (1, 1)}
PAIRS = ["m, r", "r, m", "m, c", "m, s", "s, m", "r, c", "c, r", "o, r", "r, o", "m, m", "s, s"]
BINARY = [
    "{} + {}", "{} - {}", "{} * {}", "{} / {}", "{} ** {}", "rsub({}, {})", "maximum({}, {})", "minimum({}, {})", "fmax({}, {})",
    "atan2({}, {})", "fmod({}, {})", "remainder({}, {})", "hypot({}, {})", "copysign({}, {})", "logaddexp({}, {})",
    "xlogy({}, {})", "lerp({}, {}, 0.3)", "where(torch.tensor([[[True]], [[False]]]), {}, {})", "addcmul({}, {}, r)", "addcdiv(c, {}, {})",
    "clamp_min({}, {})", "clamp(m, {}, {})", "polar({}, {}).abs()", "complex({}, {}).abs()", "div({}, {}, rounding_mode='trunc') * m",
    "special.xlog1py({}, {})",
]  # fmt: skip
OTHERS = """
torch.addmm(r, c, leaf(1, 4))
torch.addmm(leaf(3, 4), c, leaf(1, 4))
torch.addmm(s, m, leaf(4, 2), beta=2)
torch.addmv(s, m, r)
torch.addr(r, leaf(3), r)
torch.addbmm(r, leaf(2, 3, 5), leaf(2, 5, 4))
torch.baddbmm(r, leaf(2, 3, 5), leaf(2, 5, 4), alpha=3)
torch.lerp(m, m, r)
torch.nn.functional.linear(m, leaf(2, 4), leaf(2))
torch.nn.functional.linear(leaf(2, 3, 4), leaf(2, 4), leaf(2))
torch.nn.functional.layer_norm(m, (4,), r, leaf(4))
torch.nn.functional.batch_norm(m, None, None, r, leaf(4), training=True)
torch.nn.functional.conv2d(leaf(1, 2, 4, 4), leaf(3, 2, 2, 2), leaf(3))
torch.nn.functional.prelu(m - 0.5, leaf(4))
torch.nn.functional.mse_loss(m, r.expand(3, 4))
torch.nn.functional.scaled_dot_product_attention(leaf(2, 3, 4), leaf(2, 3, 4), leaf(2, 3, 4), attn_mask=leaf(3, 3))
r.expand(3, 4) * 2
m.sum(0, keepdim=True) * r
m.mean(1, keepdim=True) + r
m @ r
leaf(5, 3, 4) @ leaf(4, 2)
r.masked_fill(torch.tensor([[True], [False], [True]]), 0.0)
m.masked_fill(torch.tensor([[True], [False], [True]]), s)
torch._foreach_mul([m, r], [r, s])[0] + torch._foreach_add([m, r], [c, r])[1]
torch.linalg.cross(leaf(5, 3), leaf(1, 3))
torch.broadcast_to(r, (3, 4)) - torch.outer(leaf(3), r)
torch.autograd.grad((r * m).pow(2).sum(), r, create_graph=True)[0] * c
(m * r).to(torch.float64) * r
torch.view_as_complex(leaf(3, 4, 2)).abs() * r
m.clone().add_(r)
m.clone()[:2].mul_(r)[0]
write(lambda y: y[:2].add_(s))
write(lambda y: y[0].copy_(s))
write(lambda y: y[:2].copy_(r))
write(lambda y: y.__setitem__(slice(0, 2), r))
write(lambda y: y.__setitem__(0, s))
write(lambda y: y[1].fill_(s))
write(lambda y: y[:, 1:3].div_(leaf(2)))
m[torch.tensor([0, 0, 1])] * r
torch.cat([m * r, c * r])
torch.einsum("ij,j->i", m, r) * s
(m * 1).squeeze() + r.unsqueeze(0)
""".strip().splitlines()
HEAD = """
import torch
torch.manual_seed(1)
def leaf(*shape): return torch.rand(shape).add_(0.1).requires_grad_()
def write(edit):
    y = m * 1
    edit(y)
    return y
"""
EXPRESSIONS = [
    *("torch." * (not form.startswith("{}")) + form.format(*pair.split(", ")) for form in BINARY for pair in PAIRS),
    *OTHERS,
]


def _program(expressions: list[str]) -> str:
    lines = [f"{name} = leaf(*{shape})" for name, shape in SHAPES.items()]
    for number, expression in enumerate(expressions):
        lines.append(f"y{number} = {expression}")
    return HEAD + "\n".join(lines) + "\n"


def _nodes(root: Any) -> list[Any]:
    found, todo = [], [root]
    while todo:
        node = todo.pop()
        if node not in found:
            found.append(node)
            todo += [target for target, _ in node.next_functions if target is not None]
    return found


def _by_hand(root: Any) -> Iterator[tuple[str, tuple[tuple[int, tuple[int, ...]], ...]]]:
    """For each node that runs: its type, and the slots whose gradient its formula gives in another shape than
    leaves."""
    seen: list[tuple[Any, Any, Any]] = []
    handles = []
    for node in _nodes(root):

        def hook(left: Any, entered: Any, node: Any = node) -> None:
            seen.append((node, left, [None if one is None else one.clone() for one in entered]))

        handles.append(node.register_hook(hook))
    torch.autograd.backward([y_of(root)], retain_graph=True)
    for handle in handles:
        handle.remove()
    for node, left, entered in seen:
        name = node.name().rpartition("::")[2]
        if name == "AccumulateGrad":
            yield name, ()
            continue
        raw = node(*entered)
        raws = raw if isinstance(raw, tuple) else (raw,)
        yield (
            name,
            tuple(
                (slot, tuple(before.shape))
                for slot, (before, after) in enumerate(zip(raws, left, strict=True))
                if before is not None and after is not None and before.shape != after.shape
            ),
        )


ROOTS: dict[Any, torch.Tensor] = {}


def y_of(root: Any) -> torch.Tensor:
    """The tensor a root belongs to."""
    return ROOTS[root]


def _expected(code: str, count: int) -> list[list[tuple[str, tuple[tuple[int, tuple[int, ...]], ...]]]]:
    scope: dict[str, Any] = {}
    exec(code, scope)
    passes = []
    for number in range(count):
        total = scope[f"y{number}"].abs().sum()
        ROOTS[total.grad_fn] = total
        passes.append(list(_by_hand(total.grad_fn)))
    ROOTS.clear()
    return passes


def _said(trace: Trace) -> list[list[tuple[str, tuple[tuple[int, tuple[int, ...]], ...]]]]:
    types = {node.id: node.type for node in trace.nodes}
    return [
        [(types[visit.node], tuple((one.slot, one.shape) for one in visit.reduced)) for visit in pass_.visits]
        for pass_ in trace.passes
        if pass_.kind == "backward"
    ]


GROUPS = [EXPRESSIONS[start : start + 30] for start in range(0, len(EXPRESSIONS), 30)]


@pytest.mark.parametrize("number", range(len(GROUPS)))
def test_reductions_are_what_the_formulas_leave_to_the_engine(number: int) -> None:
    expressions = GROUPS[number]
    code = _program(expressions)
    calls = [f"y{n}.abs().sum().backward(retain_graph=True)" for n in range(len(expressions))]
    trace = record(code + "\n".join(calls) + "\n")
    assert trace.failure is None, trace.failure
    for expression, expected, said in zip(expressions, _expected(code, len(expressions)), _said(trace), strict=True):
        assert said == expected, expression
    assert laws.broken(trace) == []


def test_a_reduction_is_a_step_right_after_its_visit() -> None:
    trace = record(HEAD + "m, r = leaf(3, 4), leaf(4)\n(m * r).sum().backward()\n")
    steps = trace.timeline
    (place,) = [place for place, step in enumerate(steps) if step.kind == "reduce"]
    before, step = steps[place - 1], steps[place]
    assert (before.kind, before.visit, step.slot) == ("visit", step.visit, 1)
    (reduction,) = trace.passes[0].visits[step.visit or 0].reduced
    assert (reduction.slot, reduction.axes, reduction.shape) == (1, (0,), (3, 4))


@pytest.mark.parametrize(("expression", "axes"), [
    ("leaf(2, 1, 4) * leaf(3, 1)", {0: (1,), 1: (0, 2)}),
    ("leaf(2, 3) * leaf(())", {1: (0, 1)}),
    ("leaf(1, 3) + leaf(2, 1)", {0: (0,), 1: (1,)}),
    ("leaf(2, 3) * leaf(2, 3)", {}),
    ("leaf(0, 3) * leaf(3)", {1: (0,)}),
    ("leaf(1) * leaf(())", {1: (0,)}),
    ("leaf(3) * 2.0", {}),
])  # fmt: skip
def test_axes_are_those_of_the_stretched_shape(expression: str, axes: dict[int, tuple[int, ...]]) -> None:
    trace = record(
        HEAD.replace("*shape", "*shape") + f"({expression}).sum().backward()\n".replace("leaf(())", "leaf()")
    )
    found = {one.slot: one.axes for visit in trace.passes[0].visits for one in visit.reduced}
    assert found == axes
