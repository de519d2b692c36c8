"""Surfaces, walks over modules and calls of the program's own functions: events of their own to records of the trace."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from engine import events as ev
from engine.trace import Assigned, Moved, PythonCall, Span, Statement, Surface, SurfaceAxis, Walk, WalkVisit


class PythonCalls:
    """Calls of the program's own functions, put together as their parts come."""

    def __init__(self) -> None:
        self._all: dict[int, _Call] = {}

    def enter(self, event: ev.FunctionEntered, span: Span | None) -> None:
        self._all[event.id] = _Call(event, span)

    def ran(self, event: ev.StatementRan) -> None:
        call = self._all.get(event.call)
        if call is not None:
            statement = Statement(line=event.line, at=event.at, done=event.done, assigned=_assigned(event.assigned))
            call.statements.append(statement)

    def leave(self, event: ev.FunctionLeft) -> None:
        call = self._all.get(event.id)
        if call is not None:
            call.left = event

    def finish(self) -> tuple[PythonCall, ...]:
        """All of them, in the order of entering."""
        return tuple(call.record(self._all) for call in self._all.values())


@dataclass(slots=True)
class _Call:
    entered: ev.FunctionEntered
    span: Span | None
    statements: list[Statement] = field(default_factory=list)
    left: ev.FunctionLeft | None = None

    def record(self, known: Collection[int]) -> PythonCall:
        event = self.entered
        call = PythonCall(
            id=f"f{event.id}",
            function=event.function,
            line=event.line,
            at=event.at,
            parent=f"f{event.parent}" if event.parent in known else None,
            span=self.span,
            through=event.through,
            arguments=_assigned(event.arguments),
            statements=tuple(sorted(self.statements, key=lambda one: one.at)),
        )
        if self.left is None:
            return call
        return msgspec.structs.replace(call, left=self.left.at, returned=self.left.returned, raised=self.left.raised)


def _assigned(words: Iterable[ev.AssignedWord]) -> tuple[Assigned, ...]:
    return tuple(Assigned(target=target, text=text) for target, text in words)


def walk(event: ev.Walked, span: Span | None, modules: Collection[int], tensors: Collection[int]) -> Walk:
    """One walk over modules."""
    return Walk(
        visits=tuple(_visit(word, modules, tensors) for word in event.visits),
        span=span,
        omitted=event.omitted,
        raised=event.raised,
    )


def _visit(word: ev.VisitWord, modules: Collection[int], tensors: Collection[int]) -> WalkVisit:
    path, kind, module, parent, left, moved = word
    return WalkVisit(
        path=path,
        type=kind,
        module=f"m{module}" if module in modules else None,
        parent=None if parent < 0 else parent,
        left=left,
        moved=tuple(_moved(one, tensors) for one in moved),
    )


def _moved(word: ev.MovedWord, tensors: Collection[int]) -> Moved:
    kind, name, shape, dtype, device, dtype_after, device_after, same_object, same_memory, tensor = word
    return Moved(
        kind=kind,
        name=name,
        shape=shape,
        dtype=dtype,
        device=device,
        dtype_after=dtype_after,
        device_after=device_after,
        same_object=same_object,
        same_memory=same_memory,
        tensor=f"t{tensor}" if tensor in tensors else None,
    )


def surface(event: ev.SurfaceSeen, tensors: Mapping[int, object]) -> Surface | None:
    """A function of two numbers; none when it names leaves that nobody met."""
    axes = [None if word is None else _axis(word, tensors) for word in (event.across, event.up)]
    if event.across is not None and None in axes:
        return None
    return Surface(
        pass_id=f"p{event.pass_id}" if event.pass_id else None,
        across=axes[0],
        up=axes[1],
        values=event.values,
        numbers=event.numbers,
        compared=event.compared,
        fitting=event.fitting,
        reason=event.reason,
        parameters=event.parameters,
    )


def _axis(word: ev.AxisWord, tensors: Mapping[int, object]) -> SurfaceAxis | None:
    tensor, place, values = word
    return SurfaceAxis(tensor=f"t{tensor}", place=place, values=values) if tensor in tensors else None
