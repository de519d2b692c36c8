"""Names that stood for memory and then for something else: an assignment binds the name anew, it does not write."""

import ast
from collections.abc import Collection, Iterator, Mapping
from typing import Literal, NamedTuple

from engine.derive.arrays import lent
from engine.ops import LENDS
from engine.program.tree import parse
from engine.trace import Parted, Span, Tensor
from engine.trace_index import TraceIndex

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
Place = tuple[int, int, int, int]


def parted(
    looked: TraceIndex, sharing: Collection[str], arrays: Mapping[str, Collection[str]], lines_not_run: Collection[int]
) -> dict[str, list[Parted]]:
    """By storage, the names of its tensors and arrays that were bound anew; `sharing` are storages of several tensors, `arrays`
    the arrays that still lie in each at the end."""
    if not sharing and not any(op.name in LENDS for op in looked.trace.ops):
        return {}
    if (tree := parse(looked.trace.program.code)) is None:
        return {}
    found: dict[str, list[Parted]] = {}
    search = _Search(looked, tree, frozenset(lines_not_run))
    for storage, one in (*search.of_tensors(frozenset(sharing)), *search.of_arrays(arrays)):
        known = found.setdefault(storage, [])
        if one not in known:
            known.append(one)
    return found


class _Name(NamedTuple):
    """A name of the program or of one of its functions."""

    text: str
    function: ast.AST | None


class _Search:
    def __init__(self, looked: TraceIndex, tree: ast.Module, not_run: frozenset[int]) -> None:
        self.looked = looked
        self.tree = tree
        self.lines = looked.trace.program.code.split("\n")
        self.not_run = not_run
        self.above = {inner: node for node in ast.walk(tree) for inner in ast.iter_child_nodes(node)}
        self.bound = [one for one in ast.walk(tree) if isinstance(one, ast.Assign | ast.Delete)]

    def of_tensors(self, sharing: Collection[str]) -> Iterator[tuple[str, Parted]]:
        """`x = x + 1` after `y = x.view(2)`: the result lies elsewhere, and `y` stays with the old `x`."""
        targets = {
            self._place(one.value): one
            for one in self.bound
            if isinstance(one, ast.Assign) and len(one.targets) == 1 and isinstance(one.targets[0], ast.Name)
        }
        by_span: dict[int, tuple[_Name, ast.Assign] | None] = {}
        """By the identity of spans, which ops of one place share."""
        stands: dict[_Name, tuple[Tensor, int]] = {}
        tensors = self.looked.tensors
        for op in self.looked.trace.ops:
            span = op.span
            if span is None or len(op.outputs) != 1:
                continue
            if id(span) not in by_span:
                by_span[id(span)] = self._named(targets.get((span.line, span.end_line, span.column, span.end_column)))
            here = by_span[id(span)]
            if here is None or op.outputs[0] not in tensors:
                continue
            name, statement = here
            made = tensors[op.outputs[0]]
            old, line = stands.get(name, (made, 0))
            is_same_run = name.function is None or statement.lineno > line  # else a function may have been called again
            if old.storage != made.storage and old.storage in sharing and is_same_run:
                yield old.storage or "", Parted(name=name.text, kind="tensor", span=self._span(statement))
            stands[name] = made, statement.lineno

    def _named(self, statement: ast.Assign | None) -> "tuple[_Name, ast.Assign] | None":
        match statement:
            case ast.Assign(targets=[ast.Name(id=text)]):
                return _Name(text, self._function(statement)), statement
        return None

    def of_arrays(self, still: Mapping[str, Collection[str]]) -> Iterator[tuple[str, Parted]]:
        """`a = a + 1` after `t = torch.from_numpy(a)`: NumPy makes a new array, and `t` stays with the old one."""
        storages: dict[Place, str] = {}
        for op in self.looked.trace.ops:
            if op.name in LENDS and op.span is not None:
                record = self.looked.tensors.get((*op.outputs, *op.inputs, "")[0])
                if record is not None and record.storage is not None:
                    span = op.span
                    storages.setdefault((span.line, span.end_line, span.column, span.end_column), record.storage)
        for name, call, statement in lent(self.tree):
            storage = storages.get(self._place(call))
            if storage is None or name in still.get(storage, ()):
                continue
            function = self._function(statement)
            later = [
                one
                for one in self.bound
                if one.lineno > statement.lineno and one.lineno not in self.not_run and self._function(one) is function
                and any(isinstance(each, ast.Name) and each.id == name for each in one.targets)
            ]  # fmt: skip
            if later:
                first = min(later, key=lambda one: one.lineno)
                how: Literal["rebound", "deleted"] = "deleted" if isinstance(first, ast.Delete) else "rebound"
                yield storage, Parted(name=name, kind="array", how=how, span=self._span(first))

    def _function(self, node: ast.AST) -> ast.AST | None:
        while node in self.above:
            node = self.above[node]
            if isinstance(node, _FUNCTIONS):
                return node
        return None

    def _place(self, node: ast.expr | ast.stmt) -> Place:
        span = self._span(node)
        return span.line, span.end_line, span.column, span.end_column

    def _span(self, node: ast.expr | ast.stmt) -> Span:
        end_line = node.end_lineno or node.lineno
        return Span(
            line=node.lineno, end_line=end_line, column=self._points(node.lineno, node.col_offset),
            end_column=self._points(end_line, node.end_col_offset or 0),
        )  # fmt: skip

    def _points(self, line: int, offset: int) -> int:
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        return offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore"))
