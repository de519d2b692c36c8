"""Laws of what happens around the graph: gradients of a leaf from pass to pass, sums over broadcast axes, hooks, module calls."""

from collections.abc import Iterator
from itertools import pairwise
from math import prod

from engine.broadcasting import summed_axes
from engine.trace import Accumulation, Change, HookCall, Number, Pass, Reads, Step, Tensor, Trace, Update


def observed(trace: Trace) -> Iterator[str]:
    """Every breach of these laws."""
    yield from _ends(trace)
    yield from _reductions(trace)
    yield from _calls(trace)
    yield from _hooks(trace)
    yield from _reads(trace)
    if not trace.truncated and not _at_once(trace):
        yield from _ledger(trace)


def _ends(trace: Trace) -> Iterator[str]:
    """Every id that a hook call, a module call or a step names exists."""
    tensors = {tensor.id for tensor in trace.tensors}
    nodes = {node.id for node in trace.nodes}
    modules = {module.id for module in trace.modules}
    passes = {one.id for one in trace.passes}
    ops = {op.id for op in trace.ops}
    calls = {call.id for call in trace.calls}
    hooks = {hook.id for hook in trace.hooks}
    for name, ids, count in (("call", calls, len(trace.calls)), ("hook", hooks, len(trace.hooks))):
        if len(ids) != count:
            yield f"{count - len(ids)} {name} ids are used twice"
    named: list[tuple[str, str | None, set[str]]] = []
    for hook in trace.hooks:
        named += [(hook.id, end, tensors) for end in (hook.tensor, hook.before, hook.after)]
        named += [(hook.id, hook.node, nodes), (hook.id, hook.module, modules), (hook.id, hook.pass_id, passes)]
    for call in trace.calls:
        named += [(call.id, call.module, modules), (call.id, call.parent, calls), (call.id, call.pass_id, passes)]
        named += [(call.id, call.first_op, ops), (call.id, call.last_op, ops)]
    for update in trace.updates:
        named += [(update.id, update.pass_id, passes), (update.id, update.hook, hooks)]
        named += [(update.id, change.parameter, tensors) for change in update.state]
    for number, step in enumerate(trace.timeline):
        named += [(f"step {number}", step.hook, hooks), (f"step {number}", step.call, calls)]
    for where, end, known in named:
        if end is not None and end not in known:
            yield f"{where} names {end}, which does not exist"


def _reads(trace: Trace) -> Iterator[str]:
    """A cell that was read holds what came out of it, or is where it is said to be."""
    tensors = {tensor.id: tensor for tensor in trace.tensors}
    for op in trace.ops:
        for reads in op.reads:
            if not (0 <= reads.input < len(op.inputs) and 0 <= reads.output < len(op.outputs)):
                yield f"op {op.id} reads from what is not there"
                continue
            given, made = tensors.get(op.inputs[reads.input]), tensors.get(op.outputs[reads.output])
            if given is None or made is None:
                continue  # another law says so
            if len(reads.cells) != prod(made.shape) or not all(-1 <= cell < prod(given.shape) for cell in reads.cells):
                yield f"op {op.id} does not say of each cell where it came from"
            elif broken := _misread(reads, given, made):
                yield f"op {op.id}: {broken}"


def _misread(reads: Reads, given: Tensor, made: Tensor) -> str:
    if made.data is None or "complex" in made.dtype:
        return ""
    for at, cell in enumerate(reads.cells):
        if cell < 0:
            continue
        if reads.position:
            if made.data[at] not in (cell, *_places(cell, given.shape)):
                return f"cell {at} says {made.data[at]} of cell {cell} in {given.shape}"
        elif given.data is not None and given.dtype == made.dtype and made.data[at] != given.data[cell]:
            return f"cell {at} is {made.data[at]} and came from {given.data[cell]}"
    return ""


def _places(cell: int, shape: tuple[int, ...]) -> Iterator[Number]:
    for size in reversed(shape):
        cell, place = divmod(cell, size)
        yield place


def _reductions(trace: Trace) -> Iterator[str]:
    """What left is what is left of the shape before, and each sum over broadcast axes is a step."""
    shapes = {tensor.id: tensor.shape for tensor in trace.tensors}
    told = {(step.pass_id, step.visit, step.slot) for step in trace.timeline if step.kind == "reduce"}
    found = set()
    for one in trace.passes:
        for index, visit in enumerate(one.visits):
            for reduction in visit.reduced:
                found.add((one.id, index, reduction.slot))
                left = visit.left[reduction.slot] if reduction.slot < len(visit.left) else None
                if left is None or summed_axes(reduction.shape, shapes.get(left, ())) != reduction.axes:
                    yield f"pass {one.id}, visit {index}: {reduction} does not give {left}"
    if told != found:
        yield f"the steps of {sorted(told ^ found, key=str)} and what visits say of sums over broadcast axes differ"


def _calls(trace: Trace) -> Iterator[str]:
    """A module call begins before it ends, and inside the call it names."""
    running: dict[str, int] = {}
    ended: set[str] = set()
    parents = {call.id: call.parent for call in trace.calls}
    for number, step in enumerate(trace.timeline):
        if step.call is None:
            continue
        if step.kind == "call":
            running[step.call] = number
            parent = parents.get(step.call)
            if parent is not None and (parent not in running or parent in ended):
                yield f"{step.call} begins inside {parent}, which does not run"
        else:
            if step.call not in running:
                yield f"{step.call} ends before it begins"
            ended.add(step.call)
    for call in trace.calls:
        if (call.first_op is None) != (call.last_op is None):
            yield f"{call.id} has a first op or a last one, but not both"


def _hooks(trace: Trace) -> Iterator[str]:
    """One step for each firing; those that changed what enters a node lead from what arrived to what entered."""
    steps = [step for step in trace.timeline if step.hook is not None]
    if [step.hook for step in steps] != [hook.id for hook in trace.hooks]:
        yield "the steps of hooks are not their firings, each once and in order"
    hooks = {hook.id: hook for hook in trace.hooks}
    passes = {one.id: one for one in trace.passes}
    updates = {update.id: update for update in trace.updates}
    chains: dict[tuple[str, int, int], list[Change]] = {}
    for step in steps:
        hook = hooks.get(step.hook or "")
        if hook is not None and (hook.before is None) != (hook.after is None):
            yield f"{hook.id} has a before or an after, but not both"
        if hook is not None and step.visit is not None and step.update in updates:
            key = (step.pass_id or "", step.visit, step.input_nr if step.input_nr is not None else -1)
            if hook.kind == "tensor":
                chains.setdefault(key, []).append(updates[step.update or ""].changes[0])
    yield from _chains(chains, passes, hooks, steps)


def _chains(
    chains: dict[tuple[str, int, int], list[Change]],
    passes: dict[str, Pass],
    hooks: dict[str, HookCall],
    steps: list[Step],
) -> Iterator[str]:
    followed = {
        (step.pass_id, step.visit) for step in steps if step.hook in hooks and hooks[step.hook or ""].kind == "node_pre"
    }  # pre-hooks of the node come after those of its inputs
    for (pass_id, visit, input_nr), changes in chains.items():
        for one, two in pairwise(changes):
            if one.after != two.before:
                yield f"a hook left {one.after}, but the next one was given {two.before}"
        one_pass = passes.get(pass_id)
        if one_pass is None or (pass_id, visit) in followed:
            continue
        entered = one_pass.visits[visit].entered
        if input_nr < len(entered) and entered[input_nr] != changes[-1].after:
            yield f"hooks left {changes[-1].after} at input {input_nr}, but {entered[input_nr]} entered"


def _at_once(trace: Trace) -> bool:
    """Whether passes of several threads ran at once: two may add to one leaf before the first is told."""
    running: list[str] = []
    parents = {one.id: one.parent for one in trace.passes}
    for step in trace.timeline:
        if step.kind == "pass" and step.pass_id is not None:
            if running and parents.get(step.pass_id) != running[-1]:
                return True
            running.append(step.pass_id)
        elif step.kind == "pass_end" and step.pass_id in running:
            running.remove(step.pass_id)
    return False


def _ledger(trace: Trace) -> Iterator[str]:
    """What a leaf's `.grad` is before an accumulation is what the last accumulation or update left there."""
    kept = _Kept()
    by_op: dict[str, list[Update]] = {}
    for update in trace.updates:
        if update.op is not None:
            by_op.setdefault(update.op, []).append(update)
    updates = {update.id: update for update in trace.updates}
    passes = {one.id: one for one in trace.passes}
    for step in trace.timeline:
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
