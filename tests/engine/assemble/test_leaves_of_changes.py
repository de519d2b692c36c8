"""A change of a `.grad` names the leaf whose it is, also where several leaves have one name."""

import pytest

import engine
from engine.trace import Trace

SAME_NAME = """
import torch

def descend(step):
    point = torch.tensor([1.0, 2.0], requires_grad=True)
    optimizer = torch.optim.SGD([point], lr=step)
    for _ in range(2):
        optimizer.zero_grad()
        (point ** 2).sum().backward()
        optimizer.step()

descend(0.1)
descend(0.2)
"""

BY_HAND = """
import torch
x = torch.tensor([1.0], requires_grad=True)
x.sum().backward()
{line}
"""


def test_leaves_of_one_name_have_resets_of_their_own() -> None:
    trace = engine.run(SAME_NAME)
    resets = [update for update in trace.updates if update.kind == "zero_grad" and update.changes]
    assert [change.name for update in resets for change in update.changes] == ["point.grad"] * 2
    leaves = [accumulation.tensor for pass_ in trace.passes for accumulation in pass_.accumulations]
    assert [change.leaf for update in resets for change in update.changes] == [leaves[0], leaves[2]]
    assert leaves[0] != leaves[2]


@pytest.mark.parametrize(
    "line",
    [
        "x.grad = None",
        "x.grad.zero_()",
        "x.grad.mul_(2)",
        "x.grad = torch.ones(1)",
        "x.grad.data = torch.zeros(1)",
        "x.grad.data.zero_()",
        "torch.nn.utils.clip_grad_norm_([x], 0.1)",
        "x.grad.numpy()[0] = 5\nx.sum().backward()",
    ],
)
def test_a_gradient_changed_by_hand_names_its_leaf(line: str) -> None:
    trace = engine.run(BY_HAND.format(line=line))
    assert trace.status == "ok"
    named = {change.leaf for change in _changes(trace) if change.leaf is not None}  # `.data` is a tensor of its own
    assert named == {trace.passes[0].accumulations[0].tensor}


def test_what_is_no_gradient_any_more_names_no_leaf() -> None:
    trace = engine.run(BY_HAND.format(line="kept = x.grad\nx.grad = None\nkept.add_(1)"))
    assert [change.leaf is None for change in _changes(trace)] == [False, True]


def test_a_parameter_that_a_step_moved_is_told_by_its_own_identity() -> None:
    trace = engine.run(SAME_NAME)
    steps = [update for update in trace.updates if update.kind == "step"]
    identities = {tensor.id: tensor.identity or tensor.id for tensor in trace.tensors}
    leaves = [accumulation.tensor for pass_ in trace.passes for accumulation in pass_.accumulations]
    assert [identities[change.before or ""] for update in steps for change in update.changes] == leaves
    assert all(change.leaf is None for update in steps for change in update.changes)


def _changes(trace: Trace) -> list[engine.trace.Change]:
    return [change for update in trace.updates for change in update.changes]
