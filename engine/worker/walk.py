"""Numbers autograd nodes: a loop over `next_functions`, every edge kept, the number held in `node.metadata`."""

from typing import TYPE_CHECKING

import torch
from torch.autograd.graph import Node

from engine.worker.saved import read_saved
from engine.worker.tensors import kind_of

if TYPE_CHECKING:
    from engine.worker.record import Ledger

KEY = "gradgraph"
"""The node's number in `metadata`, which lives exactly as long as the node; `id(node)` is reused."""

_NO_SEQUENCE = 2**64 - 1  # AccumulateGrad


class _Type:
    """What all nodes of one class have in common."""

    __slots__ = ("accumulates", "custom", "name", "saved")

    def __init__(self, node: Node) -> None:
        cls = type(node)
        self.custom = issubclass(cls, torch.autograd.function.BackwardCFunction)
        self.name = cls.__name__ if cls.__name__ != "CppFunction" else node.name().rpartition("::")[2]
        self.accumulates = self.name == "AccumulateGrad"
        self.saved = tuple(field for field in dir(cls) if field.startswith("_saved_"))


class Walker:
    """Numbers nodes and tells their facts once, when first met."""

    def __init__(self, ledger: "Ledger") -> None:
        self.ledger = ledger
        self.edges: dict[int, tuple[int, ...]] = {}
        self.types: dict[type, _Type] = {}
        self.sinks: dict[int, int] = {}
        """The newest AccumulateGrad of each leaf."""
        self.op = 0
        self.since = 0
        self.made_by = 0
        self.outputs: dict[tuple[int, ...], int] = {}
        """Addresses and shapes of the running op's outputs, to recognise a saved result."""

    def number(self, root: Node) -> int:
        """The node's number; it and all new nodes behind it are recorded first."""
        known = root.metadata.get(KEY)
        if known is not None:
            return int(known)
        ledger = self.ledger
        ledger.nodes += 1
        number = root.metadata[KEY] = ledger.nodes
        todo = [(root, number)]
        rows = []
        while todo:
            node, here = todo.pop()
            edges: list[int] = []
            for target, input_nr in node.next_functions:
                if target is None:
                    edges.append(0)
                    edges.append(0)
                    continue
                metadata = target.metadata
                there = metadata.get(KEY)
                if there is None:
                    ledger.nodes += 1
                    there = metadata[KEY] = ledger.nodes
                    todo.append((target, there))
                edges.append(there)
                edges.append(input_nr)
            self.edges[here] = tuple(edges)
            rows.append(self._row(node, here))
        rows.reverse()  # targets before the nodes that lead to them
        ledger.pending.extend(rows)
        return number

    def _row(self, node: Node, number: int) -> tuple[object, ...]:
        cls = type(node)
        facts = self.types.get(cls)
        if facts is None:
            facts = self.types[cls] = _Type(node)
        edges = self.edges[number]
        reason = ""
        try:
            outputs = tuple(
                (tuple(int(n) for n in meta.shape), kind_of(meta.dtype).name, str(meta.device))
                for meta in node._input_metadata
            )
        except Exception as error:
            outputs, reason = (), f"{type(error).__name__}: {error}"[:200]
        sequence = node._sequence_nr()
        if facts.accumulates:
            variable = self.ledger.meet(node.variable, "leaf")
            self.sinks[variable.first] = number
            return ("n", number, facts.name, "", 0, edges, outputs, (), variable.first)
        op = self.op if sequence >= self.since else 0
        saved = read_saved(node, facts.saved, facts.custom, self)
        stack = self.ledger.pass_stack
        return (
            "n", number, facts.name, "" if sequence == _NO_SEQUENCE else str(sequence), op, edges, outputs, saved, 0,
            self.made_by if sequence >= self.since else 0, stack[-1] if stack and sequence >= self.since else 0,
            facts.custom, reason,
        )  # fmt: skip
