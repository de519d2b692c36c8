"""NumPy arrays that share memory with tensors, as the program's code says it."""

import ast
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import NamedTuple

from engine.program.names import called, plain_names
from engine.program.source import Source

_SHARES = frozenset(("from_numpy", "as_tensor", "asarray", "frombuffer"))

Binding = ast.Assign | ast.Delete


class Name(NamedTuple):
    """A name of the program or of one of its functions."""

    text: str
    function: ast.AST | None


class Lent(NamedTuple):
    """A name whose array shares memory with a tensor."""

    name: str
    call: ast.Call
    """The call of PyTorch's that made it so."""
    ended: Binding | None
    """The statement that bound the name to something else, or deleted it."""


def bindings(source: Source, not_run: Collection[int]) -> dict[Name, list[Binding]]:
    """The statements that ran and bind or delete a name, by line."""
    bound: dict[Name, list[Binding]] = defaultdict(list)
    found = [node for node in source.nodes if isinstance(node, Binding) and node.lineno not in not_run]
    for binding in sorted(found, key=lambda binding: binding.lineno):
        for name in plain_names(binding.targets):
            bound[Name(name, source.function(binding))].append(binding)
    return bound


def lent(source: Source, not_run: Collection[int]) -> Iterator[Lent]:
    """All such names."""
    bound = bindings(source, not_run)
    for statement in source.nodes:
        if isinstance(statement, ast.Assign):
            for text, call in _lent_by(statement):
                known = bound.get(Name(text, source.function(statement)), [])
                later = bisect_right(known, statement.lineno, key=lambda binding: binding.lineno)
                yield Lent(text, call, known[later] if later < len(known) else None)


def _lent_by(statement: ast.Assign) -> Iterator[tuple[str, ast.Call]]:
    for call in ast.walk(statement.value):
        if isinstance(call, ast.Call) and called(call) in _SHARES:
            yield from ((name, call) for name in plain_names(call.args[:1]))
    if isinstance(statement.value, ast.Call) and called(statement.value) == "numpy":
        yield from ((name, statement.value) for name in plain_names(statement.targets))
