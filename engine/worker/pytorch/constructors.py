"""`torch.FloatTensor(2, 3)` and its kin give memory as they find it, and no mode sees them.

The compiled program hands their results to the recording: `note(torch.FloatTensor(2, 3), torch.FloatTensor)`. A form
that may hold data (`torch.Tensor(values)`) hands its argument along, when that is a name, which can be read twice.
"""

import ast
import re
from typing import Any

import torch

_NAMES = (
    "Tensor", "FloatTensor", "DoubleTensor", "HalfTensor", "BFloat16Tensor", "ByteTensor", "CharTensor", "ShortTensor",
    "IntTensor", "LongTensor", "BoolTensor",
)  # fmt: skip
_MENTIONED = re.compile(r"\b[A-Z][A-Za-z0-9]*Tensor\s*\(|\bTensor\s*\(")
_TYPES = frozenset(id(getattr(torch, name)) for name in _NAMES)

NOTE = ("gradgraph note", 0)
"""Stands for the function in the tree."""


def gives_blank(kind: object, sizes: tuple[object, ...]) -> bool:
    """Whether a call of this type with this first argument gives memory as it finds it."""
    if id(kind) not in _TYPES:
        return False
    return not sizes or isinstance(sizes[0], torch.Size) or type(sizes[0]) is int


def wrap_constructors(tree: ast.Module, source: str) -> None:
    """Hands the results of such calls to the note."""
    if _MENTIONED.search(source):
        _Wrap().visit(tree)


class _Wrap(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        sizes = _sizes(node)
        if not _is_constructor(node.func) or sizes is None:
            return node
        placeholder: Any = NOTE
        note = ast.copy_location(ast.Constant(value=placeholder), node)
        return ast.copy_location(ast.Call(func=note, args=[node, node.func, *sizes], keywords=[]), node)


def _is_constructor(func: ast.expr) -> bool:
    name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
    while isinstance(func, ast.Attribute):
        func = func.value
    return name in _NAMES and isinstance(func, ast.Name)


def _sizes(call: ast.Call) -> list[ast.expr] | None:
    """What must be looked at to know whether sizes were given: nothing when they were, None when nobody can tell."""
    match call.args:
        case [ast.Starred()] | []:
            return None
        case [ast.Constant(value=int())]:
            return []
        case [ast.Name() as name]:
            return [name]
        case [_]:
            return None
        case _:
            return []
