"""Which statements of the program ran: the compiled program marks each one as it begins.

A tracer (`sys.settrace`, also one in C) makes Python 3.11 leave its quick paths everywhere, in recording too: measured,
pure Python loops take several times as long. A mark is three instructions, `LOAD_CONST True, LOAD_CONST mark,
STORE_ATTR`, that call nothing, add no name to any namespace, no frame and no line.
"""

import ast
import re
import warnings
from collections.abc import Callable
from types import CodeType
from typing import Any, cast

import torch

from engine.worker.pytorch.constructors import NOTE, gives_blank, wrap_constructors
from engine.worker.runtime.program_name import PROGRAM

_KEY = "gradgraph mark"
_ATTRIBUTE = "ran"
_LOOKS_AT_ITSELF = re.compile(
    r"__code__|co_code|co_consts|co_names|f_code|f_lasti|f_trace|\bdis\b|marshal|settrace|setprofile"
    r"|get_objects|getsizeof"
    r"|\bopcode\b|\bjit\b|cloudpickle|\bbdb\b|\bpdb\b|breakpoint|tracemalloc|cProfile"
)


class Mark:
    """Of one statement."""

    __slots__ = ("line", "ran")

    def __init__(self, line: int) -> None:
        self.line = line
        self.ran = False


class Lines:
    """The marks of one program."""

    def __init__(self, found: Callable[[torch.Tensor], None] | None = None) -> None:
        self.marks: list[Mark] = []
        self.found = found
        """Told of a tensor over memory that nothing was written into."""

    def compile(self, source: str) -> CodeType:
        """The program's code with marks; without any for one whose code is looked at, or run by something else than
        Python.

        Raises as `compile` does."""
        plain = compile(source, PROGRAM, "exec", dont_inherit=True)
        if _LOOKS_AT_ITSELF.search(source):
            return plain
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # those of the program were shown just now
                tree = ast.parse(source, PROGRAM)
                wrap_constructors(tree, source)
                self._mark(tree, source.encode().splitlines())
                return self._bind(compile(tree, PROGRAM, "exec", dont_inherit=True))
        except (RecursionError, MemoryError, SyntaxError, ValueError):  # nested too deep for a tree
            self.marks = []
            return plain

    def not_run(self) -> tuple[int, ...]:
        """Lines where statements begin none of which ran."""
        marks = tuple(self.marks)
        return tuple(sorted({mark.line for mark in marks} - {mark.line for mark in marks if mark.ran}))

    def _mark(self, tree: ast.Module, lines: list[bytes]) -> None:
        todo: list[ast.AST] = [tree]
        while todo:
            node = todo.pop()
            if isinstance(node, ast.For | ast.AsyncFor):  # as of Python 3.12: before, its whole body gives the items
                ast.copy_location(node, node.iter)
            for name, value in ast.iter_fields(node):
                if not isinstance(value, list):
                    continue
                todo.extend(item for item in value if isinstance(item, ast.stmt | ast.excepthandler | ast.match_case))
                if value and isinstance(value[0], ast.stmt):
                    setattr(node, name, self._marked(value, _has_docstring(node, name), lines))

    def _marked(self, body: list[ast.stmt], has_docstring: bool, lines: list[bytes]) -> list[ast.stmt]:
        made: list[ast.stmt] = body[:1] if has_docstring else []
        for statement in body[len(made) :]:
            if not isinstance(statement, ast.Global | ast.Nonlocal) and not _is_future(statement):
                made.append(self._store(statement, lines))
            made.append(statement)
        return made

    def _store(self, statement: ast.stmt, lines: list[bytes]) -> ast.stmt:
        """The mark stands where its statement does, or the first line of one of several: a program may be stopped at
        it, and that line must be the one it counts as."""
        first = _first(statement)
        number: Any = (_KEY, len(self.marks))
        self.marks.append(Mark(first.lineno))
        target = ast.Attribute(value=ast.Constant(value=number), attr=_ATTRIBUTE, ctx=ast.Store())
        store = ast.Assign(targets=[target], value=ast.Constant(value=True))
        end = first.end_col_offset if first.end_lineno == first.lineno else len(lines[first.lineno - 1])
        for part in (store, target, target.value, store.value):
            ast.copy_location(part, first)
            part.end_lineno, part.end_col_offset = first.lineno, end  # a store counts as the last line of its target
        return store

    def _bind(self, code: CodeType) -> CodeType:
        """The code with the marks themselves where the tree could only have their numbers."""
        return code.replace(co_consts=tuple([self._constant(constant) for constant in code.co_consts]))

    def _constant(self, constant: object) -> object:
        if isinstance(constant, CodeType):
            return self._bind(constant)
        if type(constant) is tuple and len(constant) == 2 and type(constant[0]) is str and constant[0] == _KEY:
            return self.marks[cast(int, constant[1])]
        if type(constant) is tuple and constant == NOTE:
            return self._note
        return constant

    def _note(self, made: object, kind: object, *sizes: object) -> object:
        """Stands around a call of `torch.FloatTensor` and its kin."""
        if type(made) is torch.Tensor and self.found is not None and gives_blank(kind, sizes):
            self.found(made)
        return made


def _first(statement: ast.stmt) -> ast.stmt | ast.expr:
    """What is written first: a decorator stands before the statement it belongs to."""
    decorators = getattr(statement, "decorator_list", None)
    return decorators[0] if decorators else statement


def _has_docstring(node: ast.AST, field: str) -> bool:
    if field != "body" or not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    first = node.body[0]
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
