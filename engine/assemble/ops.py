"""Operations, as the trace has them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from engine import events as ev
from engine.assemble.ids import Ids
from engine.assemble.recorded import Recorded
from engine.ops import BROADCASTING
from engine.trace import Argument, Broadcast, Op, Reads, Span

REDUCES_IN_PLACE = frozenset(("all_reduce", "reduce"))

_Key = tuple[int, int, int]
"""Site, function and module."""


def ops(recorded: Recorded, ids: Ids) -> tuple[Op, ...]:
    """All of them, in the order they ran."""
    return tuple(_Ops(recorded, ids).all())


def grad_mode(flags: int) -> Literal["grad", "no_grad", "inference"]:
    """Whether autograd was recording."""
    return "inference" if flags & ev.INFERENCE else "no_grad" if flags & ev.NO_GRAD else "grad"


@dataclass(slots=True)
class _Place:
    """What the ops of one place in the source, function and module have in common."""

    name: str
    function: str
    span: Span | None
    module: str | None
    broadcasts: bool
    ran: int = 0
    """How often, with those that were left out."""


class _Ops:
    def __init__(self, recorded: Recorded, ids: Ids) -> None:
        self.recorded = recorded
        self.ids = ids
        self.nodes_of: dict[int, list[ev.NodeSeen]] = {}
        for node in recorded.nodes.values():
            if node.op:
                self.nodes_of.setdefault(node.op, []).append(node)
        self.saved_storages: set[int] = set()
        """Storages that nodes met so far keep; those of tensors without one are negative."""
        self.texts: dict[tuple[str, str], Argument] = {}

    def all(self) -> Iterator[Op]:
        """The ops, each with how often its place had run it."""
        recorded = self.recorded
        places: dict[_Key, _Place] = {}
        skipped = self._skipped()
        for count, event in enumerate(recorded.ops.values()):
            key = (event.site, event.function, event.module)
            place = places.get(key)
            if place is None:
                place = places[key] = self._place(event)
            if skipped and (gaps := skipped.get(key)):
                while gaps and gaps[0][0] <= count:
                    place.ran += gaps.pop(0)[1]
            op = self._op(event, place)
            yield _with_reads(op, recorded.reads[event.id]) if event.id in recorded.reads else op
            place.ran += 1

    def _skipped(self) -> dict[_Key, list[tuple[int, int]]]:
        """By place: after how many of all recorded ops how many were left out."""
        skipped: dict[_Key, list[tuple[int, int]]] = {}
        for turns in self.recorded.skipped:
            for site, function, module, count in turns.event.places:
                skipped.setdefault((site, function, module), []).append((turns.ops_before, count))
        return skipped

    def _place(self, event: ev.OpRan) -> _Place:
        function = self.recorded.functions.get(event.function)
        return _Place(
            name="" if function is None else function.name,
            function="" if function is None else function.function,
            span=self.recorded.spans.get(event.site),
            module=self.ids.module.among(event.module, self.recorded.modules),
            broadcasts=function is not None and function.name in BROADCASTING,
        )

    def _op(self, event: ev.OpRan, place: _Place) -> Op:
        tensor_id, node_id = self.ids.tensor.__getitem__, self.ids.node
        inputs: list[int] = []
        arguments: list[Argument] = []
        for word in event.arguments:
            if type(word) is int:
                inputs.append(word)
                arguments.append(Argument(tensor=tensor_id(word)))
            else:
                arguments.append(self._argument("", word, inputs))
        for name, word in event.keywords.items() if event.keywords is not None else ():
            arguments.append(self._argument(name, word, inputs))
        nodes: Sequence[ev.NodeSeen] = self.nodes_of.get(event.id, ())
        if len(nodes) > 1:
            nodes = sorted(nodes, key=lambda node: int(node.sequence_nr or 0))
        op = Op(
            id=self.ids.op[event.id],
            name=place.name,
            function=place.function,
            arguments=tuple(arguments),
            inputs=tuple(map(tensor_id, inputs)),
            outputs=tuple(map(tensor_id, event.outputs)),
            nodes=tuple([node_id[node.id] for node in nodes]),
            span=place.span,
            module=place.module,
            iteration=place.ran,
            broadcast=_broadcast(self.recorded.tensors, inputs, event.outputs) if place.broadcasts else (),
            time_us=event.time_us,
            saved_bytes=self._newly_saved(nodes) if nodes else 0,
        )
        if self.recorded.ranks:
            rank = self.recorded.ranks.get(event.thread)
            op = msgspec.structs.replace(
                op,
                rank=rank,
                gave=tuple(map(tensor_id, self._gave(op, rank, inputs, event))) if event.collective else (),
                collective=f"g{event.collective}" if event.collective else None,
                bucket=tuple(map(tensor_id, self.recorded.buckets.get((event.collective, event.thread), ()))),
            )
        if not event.flags and not event.pass_id:
            return op
        return msgspec.structs.replace(
            op,
            grad_mode=grad_mode(event.flags),
            in_place=bool(event.flags & ev.IN_PLACE),
            view=bool(event.flags & ev.VIEW),
            pass_id=self.ids.pass_.optional(event.pass_id),
            raised=bool(event.flags & ev.RAISED),
        )

    def _gave(self, op: Op, rank: int | None, inputs: Sequence[int], event: ev.OpRan) -> Sequence[int]:
        """What a rank gave to a collective: not what was only written into."""
        if op.name in REDUCES_IN_PLACE:
            return inputs
        if op.name == "broadcast" and event.keywords is not None and "src" in event.keywords:
            return inputs if event.keywords["src"] == str(rank) else ()  # DDP writes into the source as well
        written = {self._identity(number) for number in event.outputs}
        return [number for number in inputs if self._identity(number) not in written]

    def _identity(self, number: int) -> int:
        seen = self.recorded.tensors.get(number)
        return number if seen is None else seen.identity or number

    def _argument(self, name: str, word: ev.Word, inputs: list[int]) -> Argument:
        """The argument; its tensors are added to `inputs`."""
        if isinstance(word, int):
            inputs.append(word)
            return Argument(name=name, tensor=self.ids.tensor[word])
        if isinstance(word, tuple):
            inputs += [number for number in word if number]
            return Argument(name=name, tensors=tuple(map(self.ids.tensor.optional, word)))
        known = self.texts.get((name, word))
        if known is None:
            known = self.texts[name, word] = Argument(name=name, text=word)
        return known

    def _newly_saved(self, nodes: Iterable[ev.NodeSeen]) -> int:
        """Bytes that backward alone keeps alive: no leaf's, and no storage twice."""
        total = 0
        for node in nodes:
            for _, number, _, _, size, _ in node.saved:
                seen = self.recorded.tensors.get(number) if number else None
                if seen is None or seen.role in ("leaf", "parameter", "buffer"):
                    continue
                storage = seen.storage or -number
                if storage not in self.saved_storages:
                    self.saved_storages.add(storage)
                    total += size
        return total


def _with_reads(op: Op, reads: Iterable[ev.CellsRead]) -> Op:
    known = tuple(
        Reads(input=read.input, cells=read.cells, output=read.output, position=read.position)
        for read in reads
        if 0 <= read.input < len(op.inputs) and 0 <= read.output < len(op.outputs)
    )
    return msgspec.structs.replace(op, reads=known)


def _broadcast(
    tensors: Mapping[int, ev.TensorSeen], inputs: Sequence[int], outputs: Sequence[int]
) -> tuple[Broadcast, ...]:
    result = tensors.get(outputs[0]) if outputs else None
    if result is None or not result.shape:
        return ()
    shape = result.shape
    found = []
    for index, number in enumerate(inputs):
        given = tensors.get(number)
        if given is None or given.shape == shape or len(given.shape) > len(shape):
            continue
        missing = len(shape) - len(given.shape)
        axes = [*range(missing)]
        axes += [missing + i for i, size in enumerate(given.shape) if size == 1 and shape[missing + i] != 1]
        if axes:
            found.append(Broadcast(input=index, axes=tuple(axes)))
    return tuple(found)
