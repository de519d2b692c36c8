"""Laws of module calls and of the hooks that users register."""

from collections.abc import Iterator
from itertools import pairwise

from engine.trace import Change, HookCall, Pass, Step, Trace


def modules(trace: Trace) -> Iterator[str]:
    """Every breach of these laws."""
    yield from _calls(trace)
    yield from _hooks(trace)


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
