"""Names in a program's syntax tree: dotted names, what a call calls, names that are read and names that are bound."""

import ast
from collections.abc import Iterable

MOST_PARTS = 40

ALIASES = {"F": "torch.nn.functional", "nn": "torch.nn", "optim": "torch.optim", "np": "numpy"}
"""The modules that these names stand for by custom."""


def dotted(node: ast.AST | None) -> str:
    """`a.b.c` of names and attributes; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def called(call: ast.Call) -> str:
    """The last name of what is called: `softmax` of `F.softmax(x)` and of `x.softmax(1)`."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def taker_of(call: ast.Call | None, op: str) -> str:
    """What a program takes a tensor's number out with: `float` of `float(x)`, which asks for `item` itself."""
    return dotted(call.func) if call is not None and called(call) != op and dotted(call.func) else op


def keyword(call: ast.Call, name: str) -> ast.keyword | None:
    """One of a call's keywords."""
    return next((word for word in call.keywords if word.arg == name), None)


def names_read(node: ast.AST) -> frozenset[str]:
    """The names that are read in a node."""
    names = (inner for inner in ast.walk(node) if isinstance(inner, ast.Name))
    return frozenset(name.id for name in names if isinstance(name.ctx, ast.Load))


def plain_names(nodes: Iterable[ast.expr]) -> tuple[str, ...]:
    """Those of some expressions that are nothing but a name."""
    return tuple(node.id for node in nodes if isinstance(node, ast.Name))


def is_reference(node: ast.expr) -> bool:
    """Whether it is a name, an attribute or an item with a constant index, of a length that somebody would read."""
    for _ in range(MOST_PARTS):
        match node:
            case ast.Name():
                return True
            case ast.Attribute(value=inner) | ast.Subscript(value=inner, slice=ast.Constant()):
                node = inner
            case _:
                return False
    return False


def is_grad_of(node: ast.AST, name: str) -> bool:
    """Whether it is `name.grad`."""
    return isinstance(node, ast.Attribute) and node.attr == "grad" and bool(name) and dotted(node.value) == name


def is_grad(node: ast.AST) -> bool:
    """Whether it is the `.grad` of something, and not the function `torch.autograd.grad`."""
    return isinstance(node, ast.Attribute) and node.attr == "grad" and not dotted(node).endswith("autograd.grad")


def name_written(statement: ast.stmt | None) -> str:
    """The name of what a statement writes into: `g[i] = 0`, `g *= 2`, `g.mul_(2)`."""
    match statement:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name() as name)]):
            return name.id
        case ast.AugAssign(target=ast.Name() as name) | ast.AugAssign(target=ast.Subscript(value=ast.Name() as name)):
            return name.id
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name() as name, attr=method))):
            return name.id if method.endswith("_") else ""
    return ""
