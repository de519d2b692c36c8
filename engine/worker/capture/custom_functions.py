"""The user's own lines behind a node of an `autograd.Function`."""

import inspect
import linecache
from types import CodeType

import torch

from engine.worker.pytorch.internals import function_of

PROGRAM = "<program>"
Place = tuple[int, int, int, int]


def backward_place(node_class: type) -> Place | None:
    """Line, end line, column and end column of the `backward` (or `vjp`) that nodes of this class run; None for one that
    is not the program's."""
    function = function_of(node_class)
    if function is None:
        return None
    given = function.backward is not torch.autograd.Function.backward
    code = getattr(inspect.unwrap(function.backward if given else function.vjp), "__code__", None)
    if not isinstance(code, CodeType) or code.co_filename != PROGRAM:
        return None
    line, end_line = code.co_firstlineno, _last_line(code)
    text = linecache.getline(PROGRAM, line)
    return line, end_line, len(text) - len(text.lstrip()), len(linecache.getline(PROGRAM, end_line).rstrip())


def _last_line(code: CodeType) -> int:
    last = max((end for _, end, _, _ in code.co_positions() if end is not None), default=code.co_firstlineno)
    return max([last, *(_last_line(inner) for inner in code.co_consts if isinstance(inner, CodeType))])
