"""Numbers autograd nodes: a loop over `next_functions`, every edge kept."""

import threading
from typing import TYPE_CHECKING, Any, TypeAlias

import torch

from engine.events import OMITTED
from engine.worker.functions import backward_place
from engine.worker.saved import read_saved
from engine.worker.tensors import kind_of

if TYPE_CHECKING:
    from engine.worker.record import Ledger

Node: TypeAlias = Any  # PyTorch's nodes have no static type
KEY = "gradgraph"
"""The node's number in `metadata`, used only once threads make sequence numbers ambiguous."""

_NO_SEQUENCE = 2**64 - 1  # AccumulateGrad
_NEAREST = 1_000
_ROOTS = 4


class _Type:
    """What all nodes of one class have in common."""

    __slots__ = ("accumulates", "code", "custom", "name", "saved", "shared")

    def __init__(self, node: Node) -> None:
        cls = type(node)
        self.custom = issubclass(cls, torch.autograd.function.BackwardCFunction)
        self.shared = cls.__name__ == "CppFunction"
        self.name = node.name().rpartition("::")[2] if self.shared else cls.__name__
        self.code = 0
        """Site of the user's own `backward`."""
        self.accumulates = self.name == "AccumulateGrad"
        self.saved = tuple(field for field in dir(cls) if field.startswith("_saved_"))


_devices: dict[torch.device, str] = {}


def _output(meta: Any) -> tuple[tuple[int, ...], str, str]:
    device = _devices.get(meta.device)
    if device is None:
        device = _devices[meta.device] = str(meta.device)
    return tuple(meta.shape), kind_of(meta.dtype).name, device


class Walker:
    """Numbers nodes and tells their facts once, when first met."""

    def __init__(self, ledger: "Ledger") -> None:
        self.ledger = ledger
        self.numbers: dict[int, int] = {}
        """By sequence number, which no two nodes of one thread ever share."""
        self.sinks: dict[int, int] = {}
        """AccumulateGrad of each leaf, by the leaf's first record: however often PyTorch makes it anew, it is one node."""
        self.home = 0
        """The thread whose sequence numbers `numbers` holds."""
        self.threaded = False
        """Another thread has made nodes: new ones carry their number in `metadata`, where a program could see it."""
        self.edges: dict[int, tuple[int, ...]] = {}
        self.types: dict[type | str, _Type] = {}
        """By class; by name where several kinds share a class."""
        self.op = 0
        self.since = 0
        self.made_by = 0
        self.outputs: dict[tuple[int, ...], int] = {}
        """Addresses and shapes of the running op's outputs, to recognise a saved result."""

    def known(self, node: Node) -> int | None:
        """The node's number, if it has one."""
        if self.threaded:
            carried = node.metadata.get(KEY)
            if carried is not None:
                return int(carried)
        sequence = node._sequence_nr()
        if sequence == _NO_SEQUENCE and hasattr(node, "variable"):
            return self.sinks.get(self.ledger.meet(node.variable, "leaf").first)
        if self.threaded and threading.get_ident() != self.home:
            return None  # numbered by the sequence of another thread, if at all
        return self.numbers.get(sequence)

    def _assign(self, node: Node) -> int:
        ledger = self.ledger
        ledger.nodes += 1
        number = ledger.nodes
        sequence = node._sequence_nr()
        if sequence == _NO_SEQUENCE and hasattr(node, "variable"):
            self.sinks[ledger.meet(node.variable, "leaf").first] = number
        elif self.threaded:
            node.metadata[KEY] = number
        else:
            self.numbers[sequence] = number
        return number

    def number(self, root: Node) -> int:
        """The node's number; it and all new nodes behind it are recorded first."""
        known = self.known(root)
        if known is not None:
            return known
        number = self._assign(root)
        todo = [(root, number)]
        rows = []
        numbers, threaded = self.numbers, self.threaded
        room = self._room()
        while todo:
            node, here = todo.pop()
            edges: list[int] = []
            for target, input_nr in node.next_functions:
                if target is None:
                    edges.append(0)
                    edges.append(0)
                    continue
                sequence = target._sequence_nr()
                there = self.known(target) if threaded or sequence == _NO_SEQUENCE else numbers.get(sequence)
                if there is None:
                    if room <= 0:
                        edges.append(OMITTED)
                        edges.append(input_nr)
                        continue
                    room -= 1
                    there = self._assign(target)
                    todo.append((target, there))
                edges.append(there)
                edges.append(input_nr)
            self.edges[here] = tuple(edges)
            rows.append(self._row(node, here))
        rows.reverse()  # targets before the nodes that lead to them
        self.ledger.pending.extend(rows)
        if room <= _NEAREST:
            self.ledger.attention = -1
        return number

    def _room(self) -> int:
        """How many nodes behind a new one may be numbered: up to the limit, then the nearest ones of a few roots."""
        ledger = self.ledger
        left = ledger.limits.nodes - (ledger.nodes - ledger.thin.nodes_forgotten)
        return max(left, min(_NEAREST, left + _ROOTS * _NEAREST))

    def _row(self, node: Node, number: int) -> tuple[object, ...]:
        cls = type(node)
        facts = self.types.get(cls)
        if facts is None:
            facts = self.types[cls] = _Type(node)
            place = backward_place(cls) if facts.custom else None
            facts.code = 0 if place is None else self.ledger.fixed_place(*place)
        elif facts.shared:
            name = node.name()
            facts = self.types.get(name) or self.types.setdefault(name, _Type(node))
        edges = self.edges[number]
        reason = ""
        try:
            outputs = tuple([_output(meta) for meta in node._input_metadata])
        except Exception as error:
            outputs, reason = (), f"{type(error).__name__}: {error}"[:200]
        sequence = node._sequence_nr()
        if facts.accumulates:
            variable = self.ledger.meet(node.variable, "leaf")
            return ("n", number, facts.name, "", 0, edges, outputs, (), variable.first)
        op = self.op if sequence >= self.since else 0
        saved: tuple[object, ...] = ()
        try:
            saved = read_saved(node, facts.saved, facts.custom, self)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"[:200]
        stack = self.ledger.pass_stack
        return (
            "n", number, facts.name, "" if sequence == _NO_SEQUENCE else str(sequence), op, edges, outputs, saved, 0,
            self.made_by if sequence >= self.since else 0, stack[-1] if stack and sequence >= self.since else 0,
            facts.custom, reason, *((facts.code,) if facts.code else ()),
        )  # fmt: skip
