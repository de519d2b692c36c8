"""Laws of gradients on their way: what a leaf has from pass to pass, and sums over broadcast axes."""

from collections.abc import Iterator

from engine.broadcasting import summed_axes
from engine.trace import Accumulation, Change, Update
from engine.trace_index import TraceIndex


def accumulation(index: TraceIndex) -> Iterator[str]:
    """Every breach of these laws."""
    yield from _reductions(index)
    if not index.trace.truncated and not _at_once(index):
        yield from _ledger(index)


def _reductions(index: TraceIndex) -> Iterator[str]:
    """What left is what is left of the shape before, and each sum over broadcast axes is a step."""
    told = {(step.pass_id, step.visit, step.slot) for step in index.trace.timeline if step.kind == "reduce"}
    found = set()
    for pass_ in index.trace.passes:
        for number, visit in enumerate(pass_.visits):
            for reduction in visit.reduced:
                found.add((pass_.id, number, reduction.slot))
                left = visit.left[reduction.slot] if reduction.slot < len(visit.left) else None
                record = index.tensors.get(left or "")
                if record is None or summed_axes(reduction.shape, record.shape) != reduction.axes:
                    yield f"pass {pass_.id}, visit {number}: {reduction} does not give {left}"
    if told != found:
        yield f"the steps of {sorted(told ^ found, key=str)} and what visits say of sums over broadcast axes differ"


def _at_once(index: TraceIndex) -> bool:
    """Whether passes of several threads ran at once: two may add to one leaf before the first is told."""
    running: list[str] = []
    for step in index.trace.timeline:
        if step.kind == "pass" and step.pass_id is not None:
            pass_ = index.passes.get(step.pass_id)
            if running and (pass_.parent if pass_ is not None else None) != running[-1]:
                return True
            running.append(step.pass_id)
        elif step.kind == "pass_end" and step.pass_id in running:
            running.remove(step.pass_id)
    return False


def _ledger(index: TraceIndex) -> Iterator[str]:
    """What a leaf's `.grad` is before an accumulation is what the last accumulation or update left there."""
    kept = _Kept()
    by_op: dict[str, list[Update]] = {}
    for update in index.trace.updates:
        if update.op is not None:
            by_op.setdefault(update.op, []).append(update)
    updates, passes = index.updates, index.passes
    for step in index.trace.timeline:
        if step.kind == "accumulate" and step.pass_id in passes and step.accumulation is not None:
            yield from kept.added(passes[step.pass_id].accumulations[step.accumulation])
        for update in [updates[step.update]] if step.update in updates else by_op.get(step.op or "", ()):
            for change in update.changes:
                kept.changed(change)


class _Kept:
    """The `.grad` of each leaf as the timeline goes on."""

    def __init__(self) -> None:
        self.grads: dict[str, str | None] = {}
        self.leaves: dict[str, str] = {}
        self.given: set[str | None] = {None}
        """Gradients that came where there were none."""

    def added(self, accumulation: Accumulation) -> Iterator[str]:
        """An accumulation, and what is wrong with it."""
        leaf, before, after = accumulation.tensor, accumulation.before, accumulation.after
        last = self.grads.get(leaf)
        if leaf in self.grads and before != last and not (last is None and before in self.given):
            yield f"the .grad of {leaf} was {last}, but {before} is added to"
        self._put(leaf, after)

    def changed(self, change: Change) -> None:
        """An update."""
        if change.before is None:
            self.given.add(change.after)
        elif change.before in self.leaves:
            self._put(self.leaves.pop(change.before), change.after)

    def _put(self, leaf: str, grad: str | None) -> None:
        self.grads[leaf] = grad
        if grad is not None:
            self.leaves[grad] = leaf
