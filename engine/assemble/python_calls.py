"""Calls of the program's own functions, as the trace has them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from engine import events as ev
from engine.assemble.ids import Ids
from engine.assemble.recorded import Recorded
from engine.trace import Assigned, PythonCall, Statement


def python_calls(recorded: Recorded, ids: Ids) -> Iterator[PythonCall]:
    """All of them, in the order of entering."""
    known = {event.id for event in recorded.functions_entered}
    left = {event.id: event for event in recorded.functions_left}
    statements: dict[int, list[Statement]] = defaultdict(list)
    for event in recorded.statements:
        statements[event.call].append(_statement(event))
    for entered in recorded.functions_entered:
        call = PythonCall(
            id=ids.python_call[entered.id],
            function=entered.function,
            line=entered.line,
            at=entered.at,
            parent=ids.python_call.among(entered.parent, known),
            span=recorded.spans.get(entered.site),
            through=entered.through,
            arguments=_assigned(entered.arguments),
            statements=_in_order(statements.get(entered.id, ())),
        )
        yield call if entered.id not in left else _ended(call, left[entered.id])


def _ended(call: PythonCall, event: ev.FunctionLeft) -> PythonCall:
    return msgspec.structs.replace(call, left=event.at, returned=event.returned, raised=event.raised)


def _statement(event: ev.StatementRan) -> Statement:
    return Statement(line=event.line, at=event.at, done=event.done, assigned=_assigned(event.assigned))


def _in_order(statements: Sequence[Statement]) -> tuple[Statement, ...]:
    return tuple(sorted(statements, key=lambda statement: statement.at))


def _assigned(words: Iterable[ev.AssignedWord]) -> tuple[Assigned, ...]:
    return tuple(Assigned(target=target, text=text) for target, text in words)
