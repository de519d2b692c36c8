"""Modules and the calls of their forward, as the trace has them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine import events as ev
from engine.assemble.ids import Ids
from engine.assemble.ops import grad_mode
from engine.assemble.recorded import Recorded
from engine.trace import Member, Module, ModuleCall


def modules(recorded: Recorded, ids: Ids, paths: Mapping[int, str]) -> Iterator[Module]:
    """All of them, parents first, with their paths."""

    def members(words: Iterable[ev.MemberWord]) -> tuple[Member, ...]:
        return tuple(
            Member(name=name, tensor=ids.tensor[number], shared=shared)
            for name, number, shared in words
            if number in recorded.tensors  # else said in a turn of a loop that was left out, and not since
        )

    for event in parents_first(recorded.modules):
        yield Module(
            id=ids.module[event.id],
            path=paths[event.id],
            type=event.type,
            parent=ids.module.among(event.parent, recorded.modules),
            parameters=members(event.parameters),
            buffers=members(event.buffers),
            training=event.training,
            text=event.text,
            calls=event.calls,
        )


def parents_first(modules: Mapping[int, ev.ModuleSeen]) -> Iterator[ev.ModuleSeen]:
    """In the order of their numbers, but for what was called before the module that holds it was met."""
    told: set[int] = set()
    for number in modules:
        chain: list[ev.ModuleSeen] = []
        module = modules.get(number)
        while module is not None and module.id not in told:
            told.add(module.id)
            chain.append(module)
            module = modules.get(module.parent)
        yield from reversed(chain)


@dataclass(slots=True)
class _Call:
    event: ev.ModuleCalled
    first_op: int = 0
    last_op: int = 0
    raised: bool = False


def module_calls(recorded: Recorded, ids: Ids) -> Iterator[ModuleCall]:
    """The calls of modules that are known; those of each thread nest."""
    calls = {event.id: _Call(event) for event in recorded.calls.values()}
    running: dict[int, list[_Call]] = {}
    last_op: dict[int, int] = {}
    for event in recorded.timed_events if calls else ():
        if type(event) is ev.OpRan:
            last_op[event.thread] = event.id
            _ran(event.id, running.get(event.thread, ()))
        elif type(event) is ev.ModuleCalled:
            running.setdefault(event.thread, []).append(calls[event.id])
        elif type(event) is ev.ModuleLeft and event.id in calls:
            left = calls[event.id]
            left.raised = event.raised
            _close(running.get(left.event.thread, []), left, last_op)
    for unfinished in running.values():
        _close(unfinished, None, last_op)
    for call in calls.values():
        if call.event.module in recorded.modules:
            yield _record(call, calls, recorded, ids)


def _ran(op: int, running: Sequence[_Call]) -> None:
    """It is the first one of all calls around it that had none."""
    for call in reversed(running):
        if call.first_op:
            return
        call.first_op = op


def _close(running: list[_Call], left: _Call | None, last_op: Mapping[int, int]) -> None:
    """Ends the calls inside the one that was left, and that one."""
    while running:
        call = running.pop()
        if call.first_op:
            call.last_op = last_op[call.event.thread]
        if call is left:
            return


def _record(call: _Call, calls: Mapping[int, _Call], recorded: Recorded, ids: Ids) -> ModuleCall:
    event = call.event
    parent = calls.get(event.parent)
    has_parent = parent is not None and parent.event.module in recorded.modules
    return ModuleCall(
        id=ids.call[event.id],
        module=ids.module[event.module],
        parent=ids.call[event.parent] if has_parent else None,
        training=bool(event.flags & ev.TRAINING),
        grad_mode=grad_mode(event.flags),
        first_op=ids.op.optional(call.first_op),
        last_op=ids.op.optional(call.last_op),
        span=recorded.spans.get(event.site),
        pass_id=ids.pass_.optional(event.pass_id),
        raised=call.raised,
    )


def inner_ends(calls: Iterable[ModuleCall]) -> dict[str, str]:
    """The module by the op with which it ended, where another one around it was called at the same place of the
    program and went on."""
    outermost: dict[str | None, ModuleCall] = {}
    ends: dict[str, str] = {}
    for call in calls:  # parents first
        around = outermost.get(call.parent)
        outer = outermost[call.id] = around if around is not None and around.span == call.span else call
        if outer is not call and call.last_op is not None and (outer.raised or call.last_op != outer.last_op):
            ends[call.last_op] = call.module
    return ends
