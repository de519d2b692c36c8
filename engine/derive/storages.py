"""Memory that tensors and arrays share, and what was written into it."""

from collections import defaultdict
from collections.abc import Iterator

from engine.derive.rebinding import parted
from engine.derive.side_facts import SideFacts
from engine.derive.storage_sizes import StorageSizes
from engine.ops import WRITES_SILENTLY
from engine.trace import Change, Op, Storage, Tensor, Write
from engine.trace_index import TraceIndex

MOST_WRITES = 200
"""Of one storage: the first half of them and the last."""
MOST_PARTED = 8
MOST_STORAGES = 2_000


def storages(index: TraceIndex, facts: SideFacts, sizes: StorageSizes) -> tuple[Storage, ...]:
    """The storages that more than one tensor or array shares, or that were written into, in the order of meeting."""
    return tuple(_Memory(index, facts, sizes).storages())


class _Memory:
    def __init__(self, index: TraceIndex, facts: SideFacts, sizes: StorageSizes) -> None:
        self.trace = index.trace
        self.tensors = index.tensors
        self.ops = index.ops
        self.sizes = sizes
        self.arrays: dict[str, list[str]] = defaultdict(list)
        for name, shared in facts.arrays:
            for storage in shared:
                self.arrays[storage].append(name)
        sharing = [storage for storage in sizes.first if sizes.is_shared(storage)]
        self.parted = parted(index, sharing, self.arrays, facts.lines_not_run)
        self.shares: dict[tuple[str | None, str], bool] = {}
        """Whether a tensor shares the counter of the first one in a storage."""
        self.makers: dict[str, Op] = {}
        for op in self.trace.ops:
            if op.view:
                for made in op.outputs:
                    self.makers.setdefault(made, op)

    def storages(self) -> Iterator[Storage]:
        """Those worth telling of."""
        writes = self._writes()
        for storage in self.sizes.first:
            written = writes.get(storage, ())
            ended = self.parted.get(storage, ())
            if written or ended or storage in self.arrays or self.sizes.is_shared(storage):
                in_order = sorted(written, key=lambda write: int(write.tensor[1:]))
                kept = in_order
                if len(in_order) > MOST_WRITES:
                    kept = [*in_order[: MOST_WRITES // 2], *in_order[-MOST_WRITES // 2 :]]
                yield Storage(
                    id=storage,
                    tensors=tuple(self.sizes.members(storage)),
                    arrays=tuple(self.arrays.get(storage, ())),
                    parted=tuple(ended[:MOST_PARTED]),
                    size_bytes=self.sizes.bytes.get(storage, 0),
                    writes=tuple(kept),
                    writes_omitted=len(in_order) - len(kept),
                )

    # Writes

    def _writes(self) -> dict[str, list[Write]]:
        writes: dict[str, list[Write]] = defaultdict(list)
        for storage, write in (*self._of_updates(), *self._of_passes(), *self._of_kernels()):
            writes[storage].append(write)
        return writes

    def _of_updates(self) -> Iterator[tuple[str, Write]]:
        for update in self.trace.updates:
            op = self.ops.get(update.op or "")
            # an op that writes gives the tensor memory where it has too little
            moved = op is not None and op.name != "set_"
            written = [change for change in (*update.changes, *update.state) if self._same_memory(change, moved=moved)]
            if op is not None:  # the other changes are what other tensors saw of it
                written = [change for change in written if change.before in op.inputs] or written[:1]
            met = set()
            for change in written:
                after = self.tensors[change.after or ""]
                if after.storage in met:  # the value written may lie in the same memory
                    continue
                met.add(after.storage)
                yield (
                    after.storage or "",
                    Write(
                        tensor=after.id,
                        version=after.version,
                        bumped=update.kind != "outside" and self._bumped(change) and self._is_first_counter(after),
                        op=update.op,
                        update=update.id,
                        span=update.span,
                    ),
                )

    def _of_passes(self) -> Iterator[tuple[str, Write]]:
        """A `.grad` that a pass added to where it lay."""
        for pass_ in self.trace.passes:
            for added in pass_.accumulations:
                change = Change(before=added.before, after=added.after)
                if self._same_memory(change):
                    after = self.tensors[added.after or ""]
                    bumped = self._bumped(change)
                    write = Write(tensor=after.id, version=after.version, bumped=bumped, span=pass_.span)
                    yield after.storage or "", write

    def _of_kernels(self) -> Iterator[tuple[str, Write]]:
        """Running statistics: the next record of a buffer that went into such an op is what the op left."""
        writers = [op for op in self.trace.ops if op.name in WRITES_SILENTLY]
        if not writers:
            return
        later: dict[str, list[Tensor]] = defaultdict(list)
        for tensor in self.trace.tensors:
            if tensor.role == "buffer":
                later[tensor.identity or tensor.id].append(tensor)
        for op in writers:
            for number in op.inputs:
                before = self.tensors.get(number)
                if before is None or before.role != "buffer":
                    continue
                states = later[before.identity or before.id]
                after = next((state for state in states if int(state.id[1:]) > int(before.id[1:])), None)
                if after is not None and after.storage is not None and after.version == before.version:
                    yield (
                        after.storage,
                        Write(tensor=after.id, version=after.version, bumped=False, op=op.id, span=op.span),
                    )

    def _same_memory(self, change: Change, *, moved: bool = False) -> bool:
        """Whether one tensor holds other values than before where they were before, or where they were `moved`."""
        before, after = self.tensors.get(change.before or ""), self.tensors.get(change.after or "")
        if before is None or after is None or before.id == after.id or after.storage is None:
            return False
        is_one = (before.identity or before.id) == (after.identity or after.id)
        return is_one and (moved or before.storage == after.storage)

    def _bumped(self, change: Change) -> bool:
        return self.tensors[change.after or ""].version > self.tensors[change.before or ""].version

    # Counters

    def _is_first_counter(self, tensor: Tensor) -> bool:
        """Whether it raises the version of the tensor met first in that memory: views and `.detach()` share the counter
        of what they were made of, `.data` and another `from_numpy` have one of their own."""
        members = self.sizes.members(tensor.storage or "")
        first = next(iter(members))
        path = []
        number = tensor.identity or tensor.id
        while (known := self.shares.get((tensor.storage, number))) is None:
            path.append(number)
            source = None if number == first else self._source(members.get(number), tensor.storage)
            if source is None or source in path:
                known = number == first
                break
            number = source
        self.shares.update(((tensor.storage, passed), known) for passed in path)
        return known

    def _source(self, record: Tensor | None, storage: str | None) -> str | None:
        """The tensor in the same memory whose counter it shares."""
        if record is None or record.identity is not None:  # it came here by `x.data = …`
            return None
        maker = self.makers.get(record.id)
        if maker is None:  # `nn.Parameter(t)` shares it too
            shares = record.role in ("parameter", "saved", "buffer")
            return next(iter(self.sizes.members(storage or ""))) if shares else None
        if maker.name == "data":
            return None
        sources = (self.tensors[source] for source in maker.inputs if source in self.tensors)
        return next((source.identity or source.id for source in sources if source.storage == storage), None)
