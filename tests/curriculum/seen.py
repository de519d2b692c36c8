"""What a learner sees of a program: its trace, and the graph and the diagnoses that the page draws."""

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import cast

import msgspec
import numpy as np
import numpy.typing as npt

from engine.graph import Box, Graph, Group, Link, view
from engine.limits import DEFAULT_LIMITS
from engine.request import CheckKind
from engine.trace import Node, Op, Tensor, Update, Variable
from engine.trace_index import TraceIndex
from tests.engine.worker.forked import record

_WORDS = Path(__file__).parents[2] / "frontend" / "words"

Numbers = npt.NDArray[np.float64]


class Seen:
    """A run of a program, by the names the program gives things."""

    def __init__(
        self,
        code: str,
        *,
        checks: tuple[CheckKind, ...] = (),
        imports: str = "import torch\n",
        wall_s: float = DEFAULT_LIMITS.wall_s,
    ) -> None:
        self.trace = record(imports + code, msgspec.structs.replace(DEFAULT_LIMITS, wall_s=wall_s), checks)
        self.index = TraceIndex(self.trace)

    @cached_property
    def graph(self) -> Graph:
        """The graph that the page opens with."""
        return view(self.trace)

    @property
    def printed(self) -> str:
        return "".join(piece.text for piece in self.trace.output)

    @property
    def told(self) -> dict[str, dict[str, str]]:
        """Diagnoses by code, with what their sentences name."""
        return {finding.code: finding.parameters for finding in self.trace.findings}

    def variable(self, name: str) -> Variable:
        return next(variable for variable in self.trace.variables if variable.name == name)

    def tensor(self, name: str) -> Tensor:
        """Its last state; of an attribute or an item the last that had this name."""
        for variable in self.trace.variables:
            if variable.name == name and variable.tensor is not None:
                return self.index.tensors[variable.tensor]
        return next(tensor for tensor in reversed(self.trace.tensors) if name in tensor.names)

    def value(self, name: str) -> Numbers:
        return numbers(self.tensor(name))

    def grad(self, name: str) -> Numbers | None:
        """Its `.grad` at the end."""
        grad = self.tensor(name).grad
        return None if grad is None else numbers(self.index.tensors[grad])

    def states(self, name: str) -> list[Numbers]:
        """Its values one after another."""
        identity = self.index.identity(self.tensor(name).id)
        return [numbers(tensor) for tensor in self.trace.tensors if self.index.identity(tensor.id) == identity]

    def op(self, name: str, at: int = 0) -> Op:
        return [op for op in self.trace.ops if op.name == name][at]

    def node(self, type_: str, at: int = 0) -> Node:
        return [node for node in self.trace.nodes if node.type == type_][at]

    def types(self) -> list[str]:
        """Of all nodes but the leaves'."""
        return [node.type for node in self.trace.nodes if node.variable is None]

    def update(self, kind: str, at: int = 0) -> Update:
        return self.updates(kind)[at]

    def updates(self, kind: str) -> list[Update]:
        return [update for update in self.trace.updates if update.kind == kind]

    def box(self, name: str) -> Box:
        return next(box for box in self.graph.boxes if box.name == name)

    def group(self, title: str) -> Group:
        return next(group for group in self.graph.groups if group.title == title)

    def links_to(self, name: str) -> list[Link]:
        target = self.box(name).id
        return [link for link in self.graph.links if link.target == target]

    def received(self, name: str) -> Numbers:
        """The gradient that arrived at the box in the pass on show."""
        node = self.box(name).node
        visit = next(visit for visit in self.trace.passes[-1].visits if visit.node == node)
        return numbers(self.index.tensors[cast("str", visit.entered[0])])

    def memory_of(self, name: str) -> set[str]:
        """All names of tensors and arrays that lie in the memory of one."""
        storage = self.variable(name).storage or self.tensor(name).storage
        shared = next((shared for shared in self.trace.storages if shared.id == storage), None)
        if shared is None:
            return {name}
        return {*shared.arrays, *(name for tensor in shared.tensors for name in self.index.tensors[tensor].names)}

    def kinds(self) -> list[str]:
        """What happened, step by step."""
        return [step.kind for step in self.trace.timeline]


def numbers(tensor: Tensor) -> Numbers:
    assert tensor.data is not None, f"{tensor.id} {tensor.names} is not kept whole"
    return np.array([float(number) for number in tensor.data]).reshape(tensor.shape)


def words(*keys: str) -> None:
    """What the page says stands in both languages."""
    for language in ("zh", "en"):
        known = json.loads((_WORDS / f"{language}.json").read_text(encoding="utf-8"))
        known |= json.loads((_WORDS / "findings" / f"{language}.json").read_text(encoding="utf-8"))
        assert [key for key in keys if not known.get(key)] == []


def same(got: npt.ArrayLike | None, wanted: Sequence[object] | float) -> bool:
    """Equal in shape, and in value up to the rounding of single precision."""
    if got is None:
        return False
    given, asked = np.asarray(got), np.asarray(wanted)
    return given.shape == asked.shape and bool(np.allclose(given, asked, rtol=1e-4, atol=1e-6))
