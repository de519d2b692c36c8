"""Numbers autograd nodes: a loop over `next_functions`, every edge kept."""

import re
import threading
import weakref
from bisect import bisect_left, insort
from collections.abc import Callable
from typing import Any, TypeAlias

import torch

from engine.events import OMITTED, NodeBrief, NodeSeen, SavedWord
from engine.worker.capture.counts import Counts
from engine.worker.capture.custom_functions import backward_place
from engine.worker.capture.lifetimes import Lifetimes
from engine.worker.capture.outbox import Outbox
from engine.worker.capture.saved_tensors import SavedHooks, read_saved
from engine.worker.capture.sites import Sites
from engine.worker.capture.storages import Storages
from engine.worker.capture.tensor_facts import DTYPE_KINDS, TensorFacts, dtype_kind_of
from engine.worker.capture.tensor_state import State
from engine.worker.capture.tensors import Tensors
from engine.worker.capture.thread_state import ThreadState
from engine.worker.pytorch.internals import SAVED_PREFIX

Node: TypeAlias = Any  # PyTorch's nodes have no static type
KEY = "gradgraph"
"""The node's number in `metadata`, used only once threads make sequence numbers ambiguous."""

NO_SEQUENCE = 2**64 - 1  # AccumulateGrad
NEVER = 2**64
_NEAREST = 1_000
_PREFIX = len(SAVED_PREFIX)
_ENCLOSING = 8
"""Stretches that are looked at for one that holds a node."""
_ROOTS = 4


class _Type:
    """What all nodes of one class have in common."""

    __slots__ = ("accumulates", "code", "custom", "name", "saved", "shared", "single")

    def __init__(self, node: Node) -> None:
        cls = type(node)
        self.custom = issubclass(cls, torch.autograd.function.BackwardCFunction)
        self.shared = cls.__name__ == "CppFunction"
        self.name = node.name().rpartition("::")[2] if self.shared else cls.__name__
        self.code = 0
        """Site of the user's own `backward`."""
        self.accumulates = self.name == "AccumulateGrad"
        fixed = not (self.custom or self.shared or _SEVERAL.search(self.name))
        self.single = fixed and _outputs_of(node) == 1
        """Its op has one output, always."""
        self.saved = tuple((field, field[_PREFIX:]) for field in dir(cls) if field.startswith(SAVED_PREFIX))
        """Attributes that say what is kept for backward, and the name of each."""


_SEVERAL = re.compile("Split|Unbind|Chunk|Foreach|Dequantize")
"""Ops that give as many outputs as they are asked for."""


def _outputs_of(node: Node) -> int:
    """How many outputs its op has; 0 when that cannot be read, as of nested tensors."""
    try:
        return len(node._input_metadata)
    except Exception:
        return 0


_devices: dict[torch.device, str] = {}


def _output(meta: Any) -> tuple[tuple[int, ...], str, str]:
    place = meta.device
    device = _devices.get(place)
    if device is None:
        device = _devices[place] = str(place)
    dtype = meta.dtype
    return tuple(meta.shape), (DTYPE_KINDS.get(dtype) or dtype_kind_of(dtype)).name, device


class Nodes:
    """Numbers nodes and tells their facts once, when first met."""

    def __init__(
        self, counts: Counts, outbox: Outbox, sites: Sites, thread: ThreadState, lifetimes: Lifetimes,
        storages: Storages, tensors: Tensors, saved_hooks: SavedHooks,
    ) -> None:  # fmt: skip
        self._counts = counts
        self._outbox = outbox
        self._sites = sites
        self._thread = thread
        self._lifetimes = lifetimes
        self._storages = storages
        self.tensors = tensors
        self.saved_hooks = saved_hooks
        self.numbers: dict[int, int] = {}
        """By sequence number, which no two nodes of one thread ever share."""
        self.sinks: dict[int, int] = {}
        """AccumulateGrad of each leaf, by the leaf's first record: however often PyTorch makes it anew, it is one
        node."""
        self.leaves: dict[int, State] = {}
        """The leaf of each AccumulateGrad."""
        self.hook: Callable[..., None] | None = None
        """What runs after every node; set on a node twice it runs once."""
        self.home = 0
        """The thread whose sequence numbers `numbers` holds."""
        self.threaded = False
        """Another thread has made nodes: new ones carry their number in `metadata`, where a program could see it."""
        self.edges: dict[int, tuple[int, ...]] = {}
        self.types: dict[type | str, _Type] = {}
        """By class; by name where several kinds share a class."""
        self.has_custom_code = False
        """A custom Function or a subclass of Tensor was met: code of the program's may run in a pass."""
        self.op = 0
        self.since = 0
        self.made_by = 0
        self.results: list[tuple[torch.Tensor, int]] = []
        """The running op's outputs and their records."""
        self.outliving: list[torch.Tensor] = []
        """What nodes keep of them, as objects of their own."""
        self.recomputed: list[tuple[weakref.ref[Any], weakref.ref[torch.Tensor]]] = []
        """What a checkpoint computed again in the running op, behind what it is kept for."""
        self._aside: list[tuple[int, int, bool, int, int]] = []
        """Where an op or a pass made nodes that its results do not lead to: from which sequence number, to which
        (negative), whether it is no op, the op, the pass. Of those that hold a node the innermost comes last."""
        self._places: dict[tuple[int, ...], int] = {}
        self._placed = 0
        """How many of the results `_places` holds, by address and shape."""

    # What others tell

    def watch(self, hook: Callable[..., None]) -> None:
        """Has a function run after every node."""
        self.hook = hook

    def be_home(self) -> None:
        """The program runs on this thread, and maybe on others it starts."""
        self.home = threading.get_ident()

    def meet_threads(self) -> None:
        """The program starts a thread."""
        self.threaded = True

    def meet_custom_code(self) -> None:
        """Code of the program's may run in a pass from here on."""
        self.has_custom_code = True

    def made(self, tensor: torch.Tensor, number: int) -> None:
        """The running op gave this tensor, with this record."""
        self.results.append((tensor, number))

    def forget_op(self) -> None:
        """Nodes that are met from here on are not the running op's."""
        self.op = 0

    def end_visit(self) -> None:
        """Nodes that are met from here on are not made by the node that ran."""
        self.made_by = 0

    def note_recomputed(self, holder: object, tensor: torch.Tensor) -> None:
        """A checkpoint computed a tensor again; the op that made it still runs, and its results have no records yet."""
        self.recomputed.append((weakref.ref(holder), weakref.ref(tensor)))

    def forget_leaf(self, leaf: int, number: int) -> None:
        """Lets go of an AccumulateGrad."""
        self.sinks.pop(leaf, None)
        self.leaves.pop(number, None)
        self.edges.pop(number, None)

    def forget(self, sequence: int | None, number: int) -> None:
        """Lets go of any other node; it is numbered anew should it be met again."""
        if sequence is not None:
            self.numbers.pop(sequence, None)
        self.edges.pop(number, None)

    # Numbers

    def known(self, node: Node) -> int | None:
        """The node's number, if it has one."""
        if self.threaded:
            carried = node.metadata.get(KEY)
            if carried is not None:
                return int(carried)
        sequence = node._sequence_nr()
        if sequence == NO_SEQUENCE and hasattr(node, "variable"):
            return self.sinks.get(self.tensors.meet(node.variable, "leaf").first)
        if self.threaded and threading.get_ident() != self.home:
            return None  # numbered by the sequence of another thread, if at all
        return self.numbers.get(sequence)

    def result(self, saved: torch.Tensor) -> int:
        """The record of the running op's output that a node saved as another object; 0 when it is none."""
        if not self.results or saved.layout is not torch.strided:
            return 0
        places = self._places
        while len(self.results) > self._placed:
            tensor, number = self.results[self._placed]
            places[(tensor.data_ptr(), *tensor.shape)] = number
            self._placed += 1
        return places.get((saved.data_ptr(), *saved.shape), 0)

    def begin(self, op: int, since: int, made_by: int = 0) -> None:
        """Nodes numbered from here on that are as new as `since` come from this op, or from this node's backward."""
        self.op, self.since, self.made_by = op, since, made_by

    def made_aside(self, since: int, until: int, op: int, pass_id: int) -> None:
        """Notes that an op or a pass made nodes that its results may not lead to, such as the tangents of
        forward-mode AD."""
        insort(self._aside, (since, -until, not op, op, pass_id))

    def _made_by_what(self, sequence: int) -> tuple[int, int]:
        """The innermost op and pass that made a node aside; 0 for none."""
        at = bisect_left(self._aside, (sequence + 1,))
        around = reversed(self._aside[max(0, at - _ENCLOSING) : at])
        return next(((op, pass_id) for _, until, _, op, pass_id in around if sequence < -until), (0, 0))

    def end(self) -> None:
        """The op is recorded: lets go of its outputs. Nodes that are met from here on are not its own."""
        self.op, self.since, self.made_by = 0, NEVER, 0
        if self.recomputed:
            self.hold_recomputed()
        if self.results:
            self.results.clear()
            while self.outliving:
                self._outlives(self.outliving.pop())
            if self._placed:
                self._placed = 0
                self._places.clear()

    def hold_recomputed(self) -> None:
        """Says what is held of what a checkpoint computed again, now that the results of the op have records."""
        found, self.recomputed = self.recomputed, []
        for holder, kept in found:
            tensor, holding = kept(), holder()
            if tensor is not None and holding is not None:
                self._lifetimes.hold(holding, (self.record_of(tensor),), by_nodes=False)

    def record_of(self, kept: torch.Tensor, *, scratch: bool = False) -> int:
        """The record of a tensor that is kept for backward, maybe as an object that nobody else has."""
        state = self.tensors.state(kept)
        if state is not None:
            return state.id
        number = self.result(kept)
        if number:
            self.outliving.append(kept)  # its storage is not entered yet
            return number
        number = self.tensors.keep_scratch(kept) if scratch else self.tensors.keep_saved(kept)
        self._outlives(kept)
        return number

    def _outlives(self, kept: torch.Tensor) -> None:
        storage = self._storages.of(kept)
        if storage is not None and (storage.kept is None or storage.kept() is None):
            storage.kept = weakref.ref(kept.untyped_storage())

    def _assign(self, node: Node, sequence: int) -> int:
        number = self._counts.new_node()
        if sequence == NO_SEQUENCE and hasattr(node, "variable"):
            leaf = self.tensors.meet(node.variable, "leaf")
            self.sinks[leaf.first] = number
            self.leaves[number] = leaf
        elif self.threaded:
            node.metadata[KEY] = number
        else:
            self.numbers[sequence] = number
        if self.hook is not None:
            node.register_hook(self.hook)
        return number

    def number(self, root: Node, result: TensorFacts | None = None) -> int:
        """The node's number; it and all new nodes behind it are recorded first. `result`: its first output, just
        made."""
        sequence = root._sequence_nr()
        sought = self.threaded or sequence == NO_SEQUENCE
        known = self.known(root) if sought else self.numbers.get(sequence)
        if known is not None:
            if sequence == NO_SEQUENCE:
                self._rehook(root)
            return known
        number = self._assign(root, sequence)
        todo = [(root, number, sequence)]
        rows = []
        room = self._room()
        while todo:
            node, here, sequence = todo.pop()
            waiting = len(todo)
            edges = self.edges[here] = self._targets(node, todo, room)
            room -= len(todo) - waiting
            rows.append(self._row(node, here, sequence, edges, result if node is root else None))
        rows.reverse()  # targets before the nodes that lead to them
        self._outbox.pending.extend(rows)
        if room <= _NEAREST:
            self._counts.attend(asks=True)
        return number

    def _targets(self, node: Node, todo: list[tuple[Node, int, int]], room: int) -> tuple[int, ...]:
        """The edges of a node; new nodes they lead to, at most `room`, get numbers and are added to `todo`."""
        edges: list[int] = []
        for target, input_nr in node.next_functions:
            if target is None:
                edges += (0, 0)
                continue
            sequence = target._sequence_nr()
            sought = self.threaded or sequence == NO_SEQUENCE
            number = self.known(target) if sought else self.numbers.get(sequence)
            if number is not None:
                if sequence == NO_SEQUENCE:
                    self._rehook(target)
            elif room > 0:
                room -= 1
                number = self._assign(target, sequence)
                todo.append((target, number, sequence))
            else:
                number = OMITTED
            edges += (number, input_nr)
        return tuple(edges)

    def _room(self) -> int:
        """How many nodes behind a new one may be numbered: up to the limit, then the nearest ones of a few roots."""
        counts = self._counts
        left = counts.limits.nodes - counts.nodes + counts.nodes_forgotten
        return left if left >= _NEAREST else min(_NEAREST, left + _ROOTS * _NEAREST)

    def _rehook(self, node: Node) -> None:
        """Hooks an AccumulateGrad that PyTorch may have made anew."""
        if self.hook is not None:
            node.register_hook(self.hook)

    def _row(
        self, node: Node, number: int, sequence: int, edges: tuple[int, ...], result: TensorFacts | None
    ) -> NodeBrief:
        facts = self.types.get(type(node)) or self._learn(node)
        if facts.shared:
            name = node.name()
            facts = self.types.get(name) or self.types.setdefault(name, _Type(node))
        reason = ""
        outputs: tuple[tuple[tuple[int, ...], str, str], ...]
        if result is not None and facts.single and result.rest is None:
            outputs = ((result.shape, result.dtype, "cpu"),)
        else:
            try:
                outputs = tuple([_output(meta) for meta in node._input_metadata])
                if self.has_custom_code and any(type(size) is not int for shape, _, _ in outputs for size in shape):
                    outputs, reason = (), "ragged sizes"
            except Exception as error:
                outputs, reason = (), f"{type(error).__name__}: {error}"[:200]
        if facts.accumulates:
            variable = self.tensors.meet(node.variable, "leaf")
            return NodeSeen(number, facts.name, "", 0, edges, outputs, (), variable.first)
        saved: tuple[SavedWord, ...] = ()
        if facts.custom or facts.saved:
            try:
                saved = read_saved(node, facts.saved, facts.custom, self)
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"[:200]
        said = "" if sequence == NO_SEQUENCE else str(sequence)
        if sequence >= self.since:
            passes = self._thread.passes
            op, made_by, pass_id = self.op, self.made_by, passes[-1] if passes else 0
        else:
            made_by = 0
            op, pass_id = self._made_by_what(sequence) if self._aside and not self.threaded else (0, 0)
        if not (facts.custom or reason or made_by or pass_id):
            return NodeBrief(number, facts.name, said, op, edges, outputs, saved)
        return NodeSeen(
            number, facts.name, said, op, edges, outputs, saved, 0, made_by, pass_id, facts.custom, reason, facts.code
        )

    def _learn(self, node: Node) -> _Type:
        cls = type(node)
        facts = self.types[cls] = _Type(node)
        self.has_custom_code = self.has_custom_code or facts.custom
        place = backward_place(cls, self._sites) if facts.custom else None
        facts.code = 0 if place is None else self._sites.fixed(place)
        return facts
