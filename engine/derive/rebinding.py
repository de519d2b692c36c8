"""Names that stood for memory and then for something else: an assignment binds the name anew, it does not write."""

import ast
from collections.abc import Collection, Iterator, Mapping
from typing import Literal

from engine.derive.arrays import Name, lent
from engine.ops import LENDS
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


class _Search:
    def __init__(self, index: TraceIndex, source: Source, not_run: frozenset[int]) -> None:
        self.index = index
        self.source = source
        self.not_run = not_run

    def of_tensors(self, sharing: Collection[str]) -> Iterator[tuple[str, Parted]]:
        """`x = x + 1` after `y = x.view(2)`: the result lies elsewhere, and `y` stays with the old `x`."""
        targets = {self.source.span(binding.value): binding for binding in self.source.bindings}
        by_span: dict[int, tuple[Name, ast.Assign] | None] = {}
        """By the identity of spans, which ops of one place share."""
        stands: dict[Name, tuple[Tensor, int]] = {}
        tensors = self.index.tensors
        for op in self.index.trace.ops:
            span = op.span
            if span is None or len(op.outputs) != 1:
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

    def _named(self, statement: ast.Assign | None) -> tuple[Name, ast.Assign] | None:
        match statement:
            case ast.Assign(targets=[ast.Name(id=text)]):
                return Name(text, self.source.function(statement)), statement
        return None

    def of_arrays(self, still: Mapping[str, Collection[str]]) -> Iterator[tuple[str, Parted]]:
        """`a = a + 1` after `t = torch.from_numpy(a)`: NumPy makes a new array, and `t` stays with the old one."""
        storages: dict[Span, str] = {}
        for op in self.index.trace.ops:
            if op.name in LENDS and op.span is not None:
                record = self.index.tensors.get((*op.outputs, *op.inputs, "")[0])
                if record is not None and record.storage is not None:
                    storages.setdefault(op.span, record.storage)
        for name, call, ended in lent(self.source, self.not_run):
            storage = storages.get(self.source.span(call))
            if storage is not None and ended is not None and name not in still.get(storage, ()):
                how: Literal["rebound", "deleted"] = "deleted" if isinstance(ended, ast.Delete) else "rebound"
                yield storage, Parted(name=name, kind="array", how=how, span=self.source.span(ended))
