"""PyTorch's own derivative formulas: for each node type the names of its slots and the C++ text of their gradients.

The table `derivatives.txt` is made from the `derivatives.yaml` that ships with PyTorch."""

import re
from functools import cache
from pathlib import Path

from engine.trace import Record

SOURCE = "PyTorch 2.13, derivatives.yaml"
LISTS = frozenset({"tensors"})  # one slot for each tensor of the list
_FOREACH = re.compile(r"Foreach(\w+?Backward\d+)\w*")


class Formula(Record, frozen=True):
    """The gradient for one input as PyTorch's C++ has it."""

    name: str
    """Slot name: `self`, `other`, `weight`."""
    text: str
    """An expression in C++; `grad` is the gradient that enters, `grads[i]` that of output i."""


class Derivative(Record, frozen=True):
    """The official formulas of one node type."""

    type: str
    """Node type: `MulBackward0`."""
    slots: tuple[Formula, ...]
    """One for each differentiable input, in the order of the node's edges."""
    source: str
    """Where they come from."""


def slot_names(node_type: str, slots: int) -> tuple[str, ...]:
    """A name for each slot; empty strings when the node type is not in PyTorch's table or has other slots."""
    names = tuple(formula.name for formula in _formulas(node_type))
    if len(names) == 1 and names[0] in LISTS:
        return tuple(f"{names[0]}[{slot}]" for slot in range(slots))
    return names if len(names) == slots else ("",) * slots


def derivative_of(node_type: str) -> Derivative | None:
    """The official formulas; None for nodes that have none, such as AccumulateGrad and custom Functions."""
    formulas = _formulas(node_type)
    return Derivative(type=node_type, slots=formulas, source=SOURCE) if formulas else None


def _formulas(node_type: str) -> tuple[Formula, ...]:
    return _table().get(_FOREACH.sub(r"\1", node_type.removesuffix("_copy")), ())


@cache
def _table() -> dict[str, tuple[Formula, ...]]:
    rows = [line.split("\t") for line in Path(__file__).with_suffix(".txt").read_text("ascii").splitlines()]
    return {row[0]: tuple(_formula(slot) for slot in row[1:]) for row in rows}


def _formula(slot: str) -> Formula:
    name, _, text = slot.partition("=")
    return Formula(name=name, text=text)
