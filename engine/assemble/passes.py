"""Passes with their visits, sums, reductions and accumulations, in the order of the engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from engine import events as ev
from engine.assemble.hooks import BEFORE
from engine.assemble.ids import Ids
from engine.assemble.recorded import Recorded
from engine.broadcasting import may_sum, shape_before, summed_axes
from engine.trace import Accumulation, Caught, OutputOf, Pass, Reduction, Root, Sum, Term, Visit

_TELLING = 1000
"""Characters of a message that tell it from others; of a long one the middle is left out."""
_Input = tuple[int, int]
"""A node and which of its inputs."""


class Passes(NamedTuple):
    """The passes of a run."""

    by_number: Mapping[int, Pass]
    implied: Mapping[int, ev.TensorSeen]
    """Tensors that no program held: sums before a hook changed them."""


def passes(recorded: Recorded, ids: Ids) -> Passes:
    """All of them, in the order they began."""
    engine = _Engine(recorded, ids)
    for event in recorded.engine_events:
        engine.take(event)
    return Passes({number: engine.record(running) for number, running in engine.running.items()}, engine.implied)


_Arrival = tuple[int, int, int]
"""A gradient on its way: tensor, the node it came from (0: a seed), slot."""


@dataclass(slots=True)
class _Running:
    """A pass while it is put together."""

    start: ev.PassStarted
    visits: list[Visit] = field(default_factory=list)
    accumulations: list[Accumulation] = field(default_factory=list)
    arrived: dict[_Input, list[_Arrival]] = field(default_factory=dict)
    given: dict[_Input, int] = field(default_factory=dict)
    """What the first hook that changed a gradient was given, since the visit before."""
    end: ev.PassEnded | None = None


class _Engine:
    def __init__(self, recorded: Recorded, ids: Ids) -> None:
        self.recorded = recorded
        self.ids = ids
        self.running: dict[int, _Running] = {}
        self.implied: dict[int, ev.TensorSeen] = {}

    def take(self, event: ev.Event) -> None:
        """Adds what an event tells."""
        if type(event) is ev.Visited:  # nearly all
            self._visited(event)
            return
        match event:
            case ev.Accumulated():
                self._accumulated(event)
            case ev.PassStarted():
                self._started(event)
            case ev.PassEnded() if event.id in self.running:
                self.running[event.id].end = event
            case ev.HookDone():
                self._hook_done(event)

    def record(self, running: _Running) -> Pass:
        """A pass as the trace has it."""
        start, end, ids = running.start, running.end, self.ids
        tensor, nodes = ids.tensor.optional, self.recorded.nodes
        return Pass(
            id=ids.pass_[start.id],
            kind=start.kind,
            roots=tuple(
                Root(
                    node=ids.node.optional(node), input_nr=nr, tensor=tensor(root), seed=tensor(seed), implicit=implicit
                )
                for node, nr, root, seed, implicit in start.roots
            ),
            visits=tuple(running.visits),
            accumulations=tuple(running.accumulations),
            span=self.recorded.spans.get(start.site),
            retain_graph=start.retain_graph,
            create_graph=start.create_graph,
            inputs=None if start.inputs is None else tuple(map(tensor, start.inputs)),
            input_nodes=tuple(
                OutputOf(node=ids.node[node], output_nr=nr) if node in nodes else None
                for node, nr in start.input_nodes or ()
            ),
            results=() if end is None else tuple(map(tensor, end.results)),
            parent=ids.pass_.optional(start.parent),
            module=ids.module.among(start.module, self.recorded.modules),
            failed=end is None or end.failed,
            caught=self._caught(end) if end is not None and end.failed else None,
            omitted=start.omitted,
            rank=self.recorded.ranks.get(start.thread),
        )

    def _caught(self, end: ev.PassEnded) -> Caught | None:
        """What a pass raised, unless it is what ended the program."""
        kind, message = end.error
        last = self.recorded.failed
        is_last = last is not None and (last.type, last.message[:_TELLING]) == (kind, message[:_TELLING])
        return None if is_last or not kind else Caught(type=kind, message=message)

    def _started(self, event: ev.PassStarted) -> None:
        running = self.running.setdefault(event.id, _Running(event))
        for node, input_nr, _, seed, _ in event.roots:
            if seed and node:
                running.arrived.setdefault((node, input_nr), []).append((seed, 0, 0))

    def _visited(self, event: ev.Visited) -> None:
        running = self.running.get(event.pass_id)
        if running is None:
            return
        tensor_ids = self.ids.tensor
        sums = self._sums(running, event)
        node = self.recorded.nodes.get(event.node)
        reduced: tuple[Reduction, ...] = ()
        if node is not None:
            _send_on(running, event, node.edges)
            if may_sum(node.type):
                reduced = self._reductions(event, node)
        running.visits.append(
            Visit(
                node=self.ids.node[event.node],
                entered=tuple([tensor_ids[number] if number else None for number in event.entered]),
                left=tuple([tensor_ids[number] if number else None for number in event.left]),
                sums=sums,
                reduced=reduced,
                time_us=event.time_us,
            )
        )

    def _accumulated(self, event: ev.Accumulated) -> None:
        running = self.running.get(event.pass_id)
        if running is None or not running.visits:
            return
        tensor = self.ids.tensor
        running.accumulations.append(
            Accumulation(
                tensor=tensor[event.leaf],
                node=self.ids.node[event.node],
                visit=len(running.visits) - 1,
                before=tensor.optional(event.before),
                delta=tensor.optional(event.delta),
                after=tensor.optional(event.after),
            )
        )

    def _hook_done(self, event: ev.HookDone) -> None:
        fired = self.recorded.hooks.get(event.id)
        running = self.running.get(fired.pass_id) if fired is not None else None
        if fired is not None and running is not None and fired.kind in BEFORE:
            for input_nr, before, _ in event.changes:
                running.given.setdefault((fired.node, input_nr), before)

    # Sums

    def _sums(self, running: _Running, event: ev.Visited) -> tuple[Sum, ...]:
        """The inputs of a node at which gradients met, or at which one changed."""
        sums = []
        for input_nr, entered in enumerate(event.entered):
            arrived = running.arrived.pop((event.node, input_nr), None)
            if arrived is None or (len(arrived) == 1 and self._is_alike(arrived[0][0], entered)):
                continue
            total, hooked = self._total(running, (event.node, input_nr), arrived, entered)
            sums.append(
                Sum(
                    input_nr=input_nr,
                    terms=tuple(map(self._term, arrived)),
                    total=self.ids.tensor.optional(total),
                    entered=self.ids.tensor.optional(entered),
                    hooked=hooked,
                )
            )
        running.given.clear()
        return tuple(sums)

    def _is_alike(self, arrived: int, entered: int) -> bool:
        """Whether no hook changed it: the engine itself casts a gradient to its node's dtype, which no hook may."""
        tensors = self.recorded.tensors
        before, after = tensors.get(arrived), tensors.get(entered)
        return arrived == entered or (before is not None and after is not None and before.dtype != after.dtype)

    def _term(self, arrival: _Arrival) -> Term:
        number, node, slot = arrival
        tensor = self.ids.tensor[number]
        return Term(tensor=tensor, node=self.ids.node[node], slot=slot) if node else Term(tensor=tensor)

    def _total(self, running: _Running, place: _Input, arrived: Sequence[_Arrival], entered: int) -> tuple[int, bool]:
        """What arrived in one tensor, and whether a hook made what entered of it."""
        if given := running.given.get(place):
            return given, True
        if running.start.omitted:  # from such a node a gradient may arrive unseen
            return entered, False
        if len(arrived) == 1:
            return arrived[0][0], True
        values = self._added(arrived)
        seen = self.recorded.tensors.get(entered)
        if values is None or seen is None or seen.data is None or _close(values, seen.data):
            return entered, False
        return self._imply(seen, values), True

    def _added(self, arrived: Sequence[_Arrival]) -> tuple[float, ...] | None:
        """The sum of small gradients; None when one is large or not finite."""
        rows = []
        for tensor, _, _ in arrived:
            seen = self.recorded.tensors.get(tensor)
            if seen is None or seen.data is None:
                return None
            rows.append(seen.data)
        if len({len(row) for row in rows}) != 1:
            return None
        try:
            return tuple(float(sum(values)) for values in zip(*rows, strict=True))
        except TypeError:
            return None

    def _imply(self, like: ev.TensorSeen, data: tuple[float, ...]) -> int:
        number = self.ids.implied_tensor()
        self.implied[number] = msgspec.structs.replace(like, id=number, identity=0, data=data, node=0)
        return number

    # Reductions

    def _reductions(self, event: ev.Visited, node: ev.NodeSeen) -> tuple[Reduction, ...]:
        """Gradients that were summed over the axes of a broadcast before they left."""
        shape = node.outputs[0][0] if len(node.outputs) == 1 and node.type != "CopySlices" else None
        entered = self.recorded.tensors.get(event.entered[0]) if event.entered else None
        is_whole = entered is not None and entered.shape == shape  # `vmap` hides an axis of what it computes with
        found = []
        for slot, gradient in enumerate(event.left):
            seen = self.recorded.tensors.get(gradient)
            if seen is None or seen.shape == shape or (seen.contents == "unreadable" and not is_whole):
                continue
            outputs = tuple([shape for shape, _, _ in node.outputs])
            before = shape_before(node.type, slot, outputs, self._written(node))
            if before is not None and before != seen.shape and (axes := summed_axes(before, seen.shape)):
                found.append(Reduction(slot=slot, axes=axes, shape=before))
        return tuple(found)

    def _written(self, node: ev.NodeSeen) -> tuple[str, tuple[int, ...]] | None:
        """For a write into a view: the name of the op and the shape of the view."""
        op = self.recorded.ops.get(node.op) if node.type == "CopySlices" else None
        view = self.recorded.tensors.get(op.outputs[0]) if op is not None and op.outputs else None
        function = self.recorded.functions.get(op.function) if op is not None else None
        return (function.name, view.shape) if view is not None and function is not None else None


def _send_on(running: _Running, event: ev.Visited, edges: Sequence[int]) -> None:
    for slot, gradient in enumerate(event.left):
        if gradient and 2 * slot + 1 < len(edges) and edges[2 * slot] > 0:
            target = (edges[2 * slot], edges[2 * slot + 1])
            arrival = (gradient, event.node, slot)
            arrived = running.arrived.get(target)
            if arrived is None:
                running.arrived[target] = [arrival]
            else:
                arrived.append(arrival)


def _close(total: Sequence[float], given: ev.Data) -> bool:
    """Equal up to the rounding of a sum in the lowest precision in use."""
    scale = max((abs(value) for value in total), default=0.0)
    for mine, theirs in zip(total, given, strict=False):
        if isinstance(theirs, str):
            return True  # not finite: nothing can be said
        if abs(mine - theirs) > 1e-5 * abs(theirs) + 1e-6 * scale:
            return False
    return True
