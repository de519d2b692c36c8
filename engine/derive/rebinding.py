"""Names that stood for memory and then for something else: an assignment binds the name anew, it does not write."""

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Literal, NamedTuple

from engine.derive.arrays import lent
from engine.ops import LENDS
from engine.program.names import plain_names
from engine.program.source import Source, source_of
from engine.trace import Parted, Span, Tensor
from engine.trace_index import TraceIndex


def parted(
    index: TraceIndex, sharing: Collection[str], arrays: Mapping[str, Collection[str]], lines_not_run: Collection[int]
) -> dict[str, list[Parted]]:
    """By storage, the names of its tensors and arrays that were bound anew; `sharing` are storages of several tensors,
    `arrays` the arrays that still lie in each at the end."""
    if not sharing and not any(op.name in LENDS for op in index.trace.ops):
        return {}
    found: dict[str, list[Parted]] = {}
    search = _Search(index, source_of(index.trace.program.code), frozenset(lines_not_run))
    for storage, parting in (*search.of_tensors(frozenset(sharing)), *search.of_arrays(arrays)):
        known = found.setdefault(storage, [])
        if parting not in known:
            known.append(parting)
    return found


class _Name(NamedTuple):
    """A name of the program or of one of its functions."""

    text: str
    function: ast.AST | None


class _Search:
    def __init__(self, index: TraceIndex, source: Source, not_run: frozenset[int]) -> None:
        self.index = index
        self.source = source
        self.bound: dict[_Name, list[ast.Assign | ast.Delete]] = defaultdict(list)
        """The statements that ran and bind or delete a name, by line."""
        bindings = [node for node in source.nodes if isinstance(node, ast.Assign | ast.Delete)]
        for binding in sorted(bindings, key=lambda binding: binding.lineno):
            if binding.lineno not in not_run:
                for name in plain_names(binding.targets):
                    self.bound[_Name(name, source.function(binding))].append(binding)

    def of_tensors(self, sharing: Collection[str]) -> Iterator[tuple[str, Parted]]:
        """`x = x + 1` after `y = x.view(2)`: the result lies elsewhere, and `y` stays with the old `x`."""
        targets = {self.source.span(binding.value): binding for binding in self.source.bindings}
        by_span: dict[int, tuple[_Name, ast.Assign] | None] = {}
        """By the identity of spans, which ops of one place share."""
        stands: dict[_Name, tuple[Tensor, int]] = {}
        tensors = self.index.tensors
        for op in self.index.trace.ops:
            span = op.span
            if span is None or op.inside or len(op.outputs) != 1:
                continue
            if id(span) not in by_span:
                by_span[id(span)] = self._named(targets.get(span))
            here = by_span[id(span)]
            if here is None or op.outputs[0] not in tensors:
                continue
            name, statement = here
            made = tensors[op.outputs[0]]
            old, line = stands.get(name, (made, 0))
            is_same_run = name.function is None or statement.lineno > line  # else a function may have been called again
            if old.storage != made.storage and old.storage in sharing and is_same_run:
                yield old.storage or "", Parted(name=name.text, kind="tensor", span=self.source.span(statement))
            stands[name] = made, statement.lineno

    def _named(self, statement: ast.Assign | None) -> "tuple[_Name, ast.Assign] | None":
        match statement:
            case ast.Assign(targets=[ast.Name(id=text)]):
                return _Name(text, self.source.function(statement)), statement
        return None

    def of_arrays(self, still: Mapping[str, Collection[str]]) -> Iterator[tuple[str, Parted]]:
        """`a = a + 1` after `t = torch.from_numpy(a)`: NumPy makes a new array, and `t` stays with the old one."""
        storages: dict[Span, str] = {}
        for op in self.index.trace.ops:
            if op.name in LENDS and op.span is not None:
                record = self.index.tensors.get((*op.outputs, *op.inputs, "")[0])
                if record is not None and record.storage is not None:
                    storages.setdefault(op.span, record.storage)
        for name, call, statement in lent(self.source):
            storage = storages.get(self.source.span(call))
            if storage is None or name in still.get(storage, ()):
                continue
            function = self.source.function(statement)
            later = (each for each in self.bound.get(_Name(name, function), ()) if each.lineno > statement.lineno)
            if (first := next(later, None)) is not None:
                how: Literal["rebound", "deleted"] = "deleted" if isinstance(first, ast.Delete) else "rebound"
                yield storage, Parted(name=name, kind="array", how=how, span=self.source.span(first))
