"""Laws of memory: who shares it, what was written into it, and the bytes held over time."""

from collections.abc import Iterable, Iterator

from engine.derive.memory import MOST_POINTS
from engine.derive.storages import MOST_STORAGES, MOST_WRITES
from engine.trace import Storage, Trace
from engine.trace_index import TraceIndex


def memory(index: TraceIndex) -> Iterator[str]:
    """Every breach of these laws."""
    trace = index.trace
    yield from _storages(index)
    yield from _over_time(trace)
    if trace.status == "ok" and not trace.truncated and trace.memory:
        yield from _at_the_end(index)


def _storages(index: TraceIndex) -> Iterator[str]:
    trace = index.trace
    members: dict[str, set[str]] = {}
    for tensor in trace.tensors:
        if tensor.storage is not None:
            members.setdefault(tensor.storage, set()).add(tensor.identity or tensor.id)
    told = {storage.id for storage in trace.storages}
    if len(told) != len(trace.storages):
        yield "a storage is told twice"
    for name, group in members.items():
        if len(group) > 1 and name not in told and len(told) < MOST_STORAGES:
            yield f"storage {name} is shared by {len(group)} tensors and not told of"
    for storage in trace.storages:
        if set(storage.tensors) != members.get(storage.id, set()):
            yield f"storage {storage.id} names other tensors than those that say they are in it"
        yield from _writes(index, storage)
    for variable in trace.variables:
        if variable.storage is not None and variable.storage not in told and len(told) < MOST_STORAGES:
            yield f"array {variable.name} lies in storage {variable.storage}, which is not told of"


def _writes(index: TraceIndex, storage: Storage) -> Iterator[str]:
    """Versions rise along the writes that raised the counter of the storage's first tensor, and those alone."""
    last = 0
    if len(storage.writes) > MOST_WRITES or (storage.writes_omitted and len(storage.writes) < MOST_WRITES):
        yield f"storage {storage.id} tells {len(storage.writes)} writes and leaves out {storage.writes_omitted}"
    for write in storage.writes:
        tensor = index.tensors.get(write.tensor)
        if tensor is None or tensor.storage != storage.id or tensor.version != write.version:
            yield f"a write into storage {storage.id} names {write.tensor}, which is not what it left"
        elif write.bumped:
            if write.version <= last:
                yield f"storage {storage.id} has version {write.version} after version {last}"
            last = write.version


def _over_time(trace: Trace) -> Iterator[str]:
    last = -1
    if len(trace.memory) > MOST_POINTS:
        yield f"memory has {len(trace.memory)} points"
    for point in trace.memory:
        if not last < point.step < len(trace.timeline):
            yield f"memory tells of step {point.step} after step {last}, of {len(trace.timeline)}"
        last = point.step
        if min(point.parameters, point.gradients, point.optimizer, point.activations) < 0:
            yield f"after step {point.step} less than nothing is held"


def _at_the_end(index: TraceIndex) -> Iterator[str]:
    """The last point holds at least what the program's names lead to, and its gradients are those of the leaves."""
    trace, tensors = index.trace, index.tensors
    last = trace.memory[-1]
    sizes: dict[str, int] = {}
    for tensor in trace.tensors:
        key = tensor.storage or tensor.id
        sizes[key] = max(sizes.get(key, 0), tensor.size_bytes)

    def taken(ids: Iterable[str | None]) -> int:
        held = [tensors[id_] for id_ in ids if id_ in tensors]
        return sum(sizes[key] for key in {tensor.storage or tensor.id for tensor in held})

    named = {variable.module for variable in trace.variables if variable.module is not None}
    reached = [module for module in trace.modules if module.id in named]
    parameters = [member.tensor for module in reached for member in module.parameters]
    if last.parameters < (held := taken(parameters)):
        yield f"{last.parameters} bytes of parameters at the end, but the named modules have {held}"
    grads = [
        tensor.grad for tensor in trace.tensors if tensor.grad is not None and tensor.role in ("leaf", "parameter")
    ]
    ever = {tensor.grad for tensor in trace.tensors} | _ever_gradients(trace)
    if last.gradients > (held := taken(ever)):
        yield f"{last.gradients} bytes of gradients at the end, but all there ever were had {held}"
    of_leaves = taken(set(grads) - set(parameters))
    if last.gradients + last.parameters < of_leaves:
        yield f"{last.gradients} bytes of gradients at the end, but the leaves have {of_leaves}"


def _ever_gradients(trace: Trace) -> set[str | None]:
    """All that were the `.grad` of a leaf: the program may hold them still."""
    kept: set[str | None] = {added.after for pass_ in trace.passes for added in pass_.accumulations}
    for update in trace.updates:
        if update.kind in ("zero_grad", "grad_reset", "grad_set", "collective"):
            kept.update(change.after for change in update.changes)
    return kept
