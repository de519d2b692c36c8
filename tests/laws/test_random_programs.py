"""Random small programs obey the laws, and their traces end with PyTorch's own gradients."""

from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import laws
from tests.engine.worker.forked import record

LEAVES = {"a": (2, 3), "b": (3,), "c": (2, 1), "s": ()}
HEAD = "import torch\ntorch.manual_seed(1)\n" + "".join(
    f"{name} = torch.randn({shape}, dtype=torch.float64, requires_grad=True)\n" for name, shape in LEAVES.items()
)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Statements over leaves of different shapes: reuse, broadcasting, views, in-place work, several backward
    passes."""
    lines: list[str] = []
    names = list(LEAVES)
    for number in range(draw(st.integers(1, 7))):
        left, right = draw(st.sampled_from(names)), draw(st.sampled_from(names))
        new = f"v{number}"
        form = draw(st.sampled_from((
            f"{new} = {left} + {right}", f"{new} = {left} * {right}", f"{new} = {left} - {right} * 2",
            f"{new} = torch.tanh({left})", f"{new} = {left} / (2 + {right} * {right})", f"{new} = {left}.detach() * {right}",
            f"{new} = ({left} * 1).mul_(3)", f"{new} = ({left} + 0).reshape(-1)[:1] * {right}",
            f"{new} = torch.where({left} > 0, {left}, {right})", f"{new} = {left}.sum() * {right}",
        )))  # fmt: skip
        lines.append(form)
        names.append(new)
        if draw(st.integers(0, 3)) == 0:
            lines.append(f"{draw(st.sampled_from(names))}.sum().backward(retain_graph=True)")
    used = " + ".join(f"{name}.sum()" for name in draw(st.lists(st.sampled_from(names), min_size=1, max_size=4)))
    return HEAD + "\n".join([*lines, f"loss = {used}", "loss.backward()"]) + "\n"


def gradients(code: str) -> dict[str, list[float] | None]:
    """What plain PyTorch leaves in each leaf; a run that fails leaves what it did until then."""
    scope: dict[str, Any] = {}
    try:
        exec(code, scope)
    except (NameError, RuntimeError):
        pass
    finally:
        torch.manual_seed(0)
    return {name: None if scope[name].grad is None else scope[name].grad.flatten().tolist() for name in LEAVES}


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs())
def test_a_few_replay_to_pytorchsgradients(code: str) -> None:
    replayed(code)


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs())
def test_many_replay_to_pytorchsgradients(code: str) -> None:
    replayed(code)


def replayed(code: str) -> None:
    """Holds a program to the laws, and its gradients to PyTorch's."""
    trace = record(code)
    assert laws.broken(trace) == []
    tensors = {tensor.id: tensor for tensor in trace.tensors}
    leaves = {variable.name: tensors[variable.tensor] for variable in trace.variables if variable.tensor}
    for name, expected in gradients(code).items():
        kept = leaves[name].grad
        assert (None if kept is None else list(tensors[kept].data or ())) == expected, name
