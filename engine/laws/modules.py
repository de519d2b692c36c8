"""Laws of module calls and of the hooks that users register."""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from engine.trace import Change, Step
from engine.trace_index import TraceIndex


def modules(index: TraceIndex) -> Iterator[str]:
    """Every breach of these laws."""
    yield from _calls(index)
    yield from _hooks(index)


def _calls(index: TraceIndex) -> Iterator[str]:
    """A module call begins before it ends, and inside the call it names."""
    running: dict[str, int] = {}
    ended: set[str] = set()
    for number, step in enumerate(index.trace.timeline):
        if step.call is None:
            continue
        if step.kind == "call":
            running[step.call] = number
            call = index.calls.get(step.call)
            parent = call.parent if call is not None else None
            if parent is not None and (parent not in running or parent in ended):
                yield f"{step.call} begins inside {parent}, which does not run"
        else:
            if step.call not in running:
                yield f"{step.call} ends before it begins"
            ended.add(step.call)
    for call in index.trace.calls:
        if (call.first_op is None) != (call.last_op is None):
            yield f"{call.id} has a first op or a last one, but not both"


def _hooks(index: TraceIndex) -> Iterator[str]:
    """One step for each firing; those that changed what enters a node lead from what arrived to what entered.

    A hook that changed something stands where it ended, and another may run inside it or in another thread meanwhile.
    Those of one pass run one after the other.
    """
    steps = [step for step in index.trace.timeline if step.hook is not None]
    if _by_pass((step.pass_id, step.hook or "") for step in steps) != _by_pass(
        (hook.pass_id, hook.id) for hook in index.trace.hooks
    ):
        yield "the steps of hooks are not their firings, each once and in the order of their pass"
    chains: dict[tuple[str, int, int], list[Change]] = {}
    for step in steps:
        hook = index.hooks.get(step.hook or "")
        if hook is not None and (hook.before is None) != (hook.after is None):
            yield f"{hook.id} has a before or an after, but not both"
        if hook is not None and step.visit is not None and step.update in index.updates:
            key = (step.pass_id or "", step.visit, step.input_nr if step.input_nr is not None else -1)
            if hook.kind == "tensor":
                chains.setdefault(key, []).append(index.updates[step.update or ""].changes[0])
    yield from _chains(index, chains, steps)


def _by_pass(hooks: Iterable[tuple[str | None, str]]) -> dict[str | None, list[str]]:
    """Ids of hooks by their pass; those of no pass are forward hooks, which run inside each other too: sorted."""
    found: dict[str | None, list[str]] = {}
    for pass_id, hook in hooks:
        found.setdefault(pass_id, []).append(hook)
    found.get(None, []).sort()
    return found


def _chains(index: TraceIndex, chains: dict[tuple[str, int, int], list[Change]], steps: list[Step]) -> Iterator[str]:
    before_nodes = {hook.id for hook in index.trace.hooks if hook.kind == "node_pre"}
    followed = {
        (step.pass_id, step.visit) for step in steps if step.hook in before_nodes
    }  # pre-hooks of the node come after those of its inputs
    for (pass_id, visit, input_nr), changes in chains.items():
        for change, following in pairwise(changes):
            if change.after != following.before:
                yield f"a hook left {change.after}, but the next one was given {following.before}"
        pass_ = index.passes.get(pass_id)
        if pass_ is None or (pass_id, visit) in followed:
            continue
        entered = pass_.visits[visit].entered
        if input_nr < len(entered) and entered[input_nr] != changes[-1].after:
            yield f"hooks left {changes[-1].after} at input {input_nr}, but {entered[input_nr]} entered"
