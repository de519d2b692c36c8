"""The user's own lines behind a node of an `autograd.Function`."""

import inspect
import linecache
from types import CodeType

import torch

from engine.worker.capture.sites import Position, Sites
from engine.worker.pytorch.internals import function_of


def backward_place(node_class: type, sites: Sites) -> Position | None:
    """Line, end line, column and end column of the `backward` (or `vjp`) that nodes of this class run; None for one
    that is not the user's."""
    function = function_of(node_class)
    if function is None:
        return None
    given = function.backward is not torch.autograd.Function.backward
    code = getattr(inspect.unwrap(function.backward if given else function.vjp), "__code__", None)
    if not isinstance(code, CodeType) or not sites.is_users(code):
        return None
    line, end_line = code.co_firstlineno, _last_line(code)
    text, last = linecache.getline(code.co_filename, line), linecache.getline(code.co_filename, end_line)
    return line, end_line, len(text) - len(text.lstrip()), len(last.rstrip())


def _last_line(code: CodeType) -> int:
    last = max((end for _, end, _, _ in code.co_positions() if end is not None), default=code.co_firstlineno)
    return max([last, *(_last_line(inner) for inner in code.co_consts if isinstance(inner, CodeType))])
