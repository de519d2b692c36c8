"""Tensors and values of two runs by their names."""

from collections.abc import Iterable, Mapping

from engine.compare.types import Named, Plain
from engine.compare.values import difference
from engine.trace import Op, Tensor, Trace
from engine.trace_index import TraceIndex

MOST_NAMES = 1_000
MOST_PLAIN = 100
_REPR_CHARACTERS = 80
_NAMED = frozenset(("leaf", "parameter", "buffer"))


class Names:
    """Tensors that have a name, at the end of both runs. A parameter that has it there only is here what the op that
    corresponds made or filled."""

    def __init__(self, here: TraceIndex, there: TraceIndex, ops: Iterable[tuple[Op, Op]]) -> None:
        self._runs = here, there
        ours, theirs = _by_name(here), _by_name(there)
        renamed = _renamed([name for name in ours if name not in theirs], [name for name in theirs if name not in ours])
        taken = set(renamed.values())
        self.pairs = [(name, renamed.get(name, name)) for name in ours]
        self.pairs += [(name, name) for name in theirs if name not in ours and name not in taken]
        only_there = {name: tensor for name, tensor in theirs.items() if name not in ours}
        self._last = ours | _unnamed(here, there, only_there, ops), theirs

    def rows(self) -> list[Named]:
        """One for each name: leaves and parameters first, then what was made of them."""
        made = [self._row(*pair) for pair in self.pairs]
        return sorted(made, key=lambda row: row.role not in _NAMED)

    def leaves(self) -> dict[str, str]:
        """For each leaf here, by its identity, the one there."""
        ours, theirs = self._last
        return {
            ours[a].identity or ours[a].id: theirs[b].identity or theirs[b].id
            for a, b in self.pairs
            if a in ours and b in theirs
        }

    def _row(self, name: str, name_there: str) -> Named:
        a, b = self._last[0].get(name), self._last[1].get(name_there)
        known = a or b
        assert known is not None  # a name comes from one of the two
        grad_a, grad_b = _grad(a, self._runs[0]), _grad(b, self._runs[1])
        return Named(
            name=name,
            role=known.role,
            here=a.id if a else None,
            there=b.id if b else None,
            name_there=name_there if name_there != name else None,
            value=difference(a, b) if a and b else None,
            gradient_here=grad_a.id if grad_a else None,
            gradient_there=grad_b.id if grad_b else None,
            gradient=difference(grad_a, grad_b) if grad_a and grad_b else None,
        )


def plain(here: Trace, there: Trace) -> tuple[Plain, ...]:
    """Names bound to numbers, strings and the like, whose values differ."""
    ours, theirs = _texts(here), _texts(there)
    differing = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
    return tuple(
        Plain(name=name, here=_short(ours.get(name)), there=_short(theirs.get(name))) for name in differing[:MOST_PLAIN]
    )


def _texts(trace: Trace) -> dict[str, str]:
    return {value.name: value.text for value in trace.variables if value.kind == "value" and value.text is not None}


def _short(text: str | None) -> str | None:
    return text if text is None or len(text) <= _REPR_CHARACTERS else text[: _REPR_CHARACTERS - 1] + "…"


def _grad(tensor: Tensor | None, run: TraceIndex) -> Tensor | None:
    return None if tensor is None else run.tensors.get(tensor.grad or "")


def _by_name(run: TraceIndex) -> dict[str, Tensor]:
    """The last state of the tensor that a name stood for at the end."""
    last = run.last_states
    named: dict[str, str] = {}
    others = {other.name for other in run.trace.variables if other.kind != "tensor"}
    for tensor in run.trace.tensors:
        if tensor.role in _NAMED and tensor.names and tensor.names[0] not in others:
            named[tensor.names[0]] = tensor.identity or tensor.id
    for variable in run.trace.variables:
        if held := run.tensors.get(variable.tensor or ""):
            identity = held.identity or held.id
            if last[identity].role != "parameter":  # which has its module's path
                named[variable.name] = identity
    return {name: last[identity] for name, identity in named.items()}


def _unnamed(
    here: TraceIndex, there: TraceIndex, named: Mapping[str, Tensor], ops: Iterable[tuple[Op, Op]]
) -> dict[str, Tensor]:
    """By their names there, parameters that have none here: the same op made or filled both."""
    made = (pair for a, b in (ops if named else ()) for pair in zip(a.outputs, b.outputs, strict=False))
    known = {there.identity(y): here.identity(x) for x, y in made}
    last = ((name, here.last_states.get(known.get(one.identity or one.id, ""))) for name, one in named.items())
    return {name: one for name, one in last if one is not None and one.role == "parameter" and not here.name(one.id)}


def _renamed(ours: Iterable[str], theirs: Iterable[str]) -> Mapping[str, str]:
    """Members of modules that only the model's own name tells apart."""
    rests = _unique_rests(ours), _unique_rests(theirs)
    return {rests[0][rest]: rests[1][rest] for rest in rests[0] if rest in rests[1]}


def _unique_rests(names: Iterable[str]) -> dict[str, str]:
    """Names by what follows their first dot, where that is unique."""
    found: dict[str, list[str]] = {}
    for name in names:
        if rest := name.partition(".")[2]:
            found.setdefault(rest, []).append(name)
    return {rest: names[0] for rest, names in found.items() if len(names) == 1}
