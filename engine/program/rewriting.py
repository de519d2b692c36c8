"""Expressions of a shape that is itself written as code, `NAME.view(...)`, and their parts put into another shape.

Words in capitals stand for any expression, behind a dot for any name, and `...` for all further arguments.
"""

import ast
import re
from functools import lru_cache
from typing import NamedTuple

from engine.program.edits import Edits
from engine.program.source import Source
from engine.program.tree import Tree

_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.List, ast.Tuple, ast.Dict)
_PLACES = (ast.Name, ast.Attribute, ast.Subscript)
"""What can be written to."""
_WORD = re.compile(r"(?P<comma>, )?\.\.\.|\b(?P<word>[A-Z]{2,})\b(?P<bound>\.|\[)?")
_LIBRARY = re.compile(r"\b(torch|nn)\.")
_REST = "..."
_SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}

Part = ast.expr | str | list[ast.expr | ast.keyword]


class Written(NamedTuple):
    """An expression or statement, and what in it stands for each word of a shape."""

    code: Source
    node: ast.expr | ast.stmt
    parts: dict[str, Part]

    @property
    def said(self) -> dict[str, str]:
        """The words as a sentence quotes them, by their names in small letters."""
        named = {word.lower(): part for word, part in self.parts.items() if not isinstance(part, list)}
        return {name: part if isinstance(part, str) else self.code.short(part) for name, part in named.items()}

    @property
    def expressions(self) -> list[ast.expr]:
        """What stands for the words, names behind dots left out."""
        return [part for part in self.parts.values() if isinstance(part, ast.expr)]

    def part(self, word: str) -> ast.expr:
        """The expression that stands for a word."""
        part = self.parts[word]
        assert isinstance(part, ast.expr), f"{word} stands behind a dot"
        return part

    def as_(self, shape: str) -> str:
        """The text of another shape, of the same parts."""
        return _WORD.sub(self._filled, shape)

    def instead(self, shape: str) -> Edits:
        """That text in place of the code; nothing where a result cannot be written to, for a statement that shares its
        line, or when it would need a library by a name that the program lacks."""
        is_known = all(self.code.is_bound(name) for name in _LIBRARY.findall(shape))
        is_read = isinstance(getattr(self.node, "ctx", ast.Load()), ast.Load) or isinstance(_tree(shape), _PLACES)
        is_alone = isinstance(self.node, ast.expr) or self.code.stands_alone(self.node)
        return (self.code.replace(self.node, self.as_(shape)),) if is_known and is_read and is_alone else ()

    def _filled(self, place: re.Match[str]) -> str:
        part, bound = self.parts[place["word"] or _REST], place["bound"] or ""
        if isinstance(part, list):
            return (place["comma"] or "") + ", ".join(map(self.code.text, part)) if part else ""
        if isinstance(part, str):
            return part + bound
        text = self.code.text(part)
        return f"({text}){bound}" if bound and not isinstance(part, _ATOMS) else text + bound


def written(code: Source, node: ast.AST | None, shape: str) -> Written | None:
    """The parts of a node that has a shape; None for one of another."""
    parts: dict[str, Part] = {}
    if not isinstance(node, ast.expr | ast.stmt) or not _fits(node, _tree(shape), parts):
        return None
    return Written(code, node, parts)


def not_in_place(code: Source, node: ast.AugAssign | ast.Expr) -> Edits:
    """`x = x + y` for `x += y`, `x = x.add(y)` for `x.add_(y)`."""
    if isinstance(node, ast.Expr):
        found = written(code, node.value, "NAME.METHOD(...)")
        name = found.said["name"] if found is not None else ""
        if found is None or not name.isidentifier() or name in code.imported or found.said["method"][-1] != "_":
            return ()
        return (code.replace(node, found.as_(f"NAME = NAME.{found.said['method'][:-1]}(...)")),)
    sign, value = _SIGNS.get(type(node.op)), code.text(node.value)
    if sign is None or not isinstance(node.target, ast.Name):
        return ()
    is_plain = isinstance(node.value, ast.Name | ast.Constant | ast.Call | ast.Attribute)
    name = node.target.id
    return (code.replace(node, f"{name} = {name} {sign} {value if is_plain else f'({value})'}"),)


@lru_cache(maxsize=256)
def _tree(shape: str) -> ast.AST:
    (statement,) = Tree(shape).tree.body
    return statement.value if isinstance(statement, ast.Expr) else statement


def _is_word(name: str) -> bool:
    return name.isupper() and len(name) > 1


def _fits(node: ast.AST, shape: ast.AST, parts: dict[str, Part]) -> bool:
    match shape, node:
        case ast.Name(id=word), ast.expr() if _is_word(word) and not isinstance(node, ast.Starred):
            parts[word] = node
            return True
        case ast.Name(id=wanted), ast.Name(id=name):
            return name == wanted
        case ast.Attribute(value=owner, attr=wanted), ast.Attribute(value=value, attr=name):
            parts |= {wanted: name} if _is_word(wanted) else {}
            return (name == wanted or _is_word(wanted)) and _fits(value, owner, parts)
        case ast.Call(func=wanted_function, args=wanted), ast.Call(func=function):
            return _fits(function, wanted_function, parts) and _takes(node, wanted, parts)
        case ast.Subscript(value=owner, slice=wanted_place), ast.Subscript(value=value, slice=place):
            return _fits(value, owner, parts) and _fits(place, wanted_place, parts)
        case ast.BinOp(left=a, right=b, op=wanted_sign), ast.BinOp(left=left, right=right, op=sign):
            return type(sign) is type(wanted_sign) and _fits(left, a, parts) and _fits(right, b, parts)
        case ast.UnaryOp(op=wanted_sign, operand=wanted), ast.UnaryOp(op=sign, operand=operand):
            return type(sign) is type(wanted_sign) and _fits(operand, wanted, parts)
        case ast.Assign(targets=[wanted_target], value=given), ast.Assign(targets=[target], value=value):
            return _fits(target, wanted_target, parts) and _fits(value, given, parts)
        case ast.Constant(value=wanted_value), ast.Constant(value=found):
            return type(found) is type(wanted_value) and found == wanted_value
    return False


def _takes(call: ast.Call, wanted: list[ast.expr], parts: dict[str, Part]) -> bool:
    """Whether a call has the arguments of a shape; further ones are kept when it ends in `...`."""
    is_open = bool(wanted) and isinstance(wanted[-1], ast.Constant) and wanted[-1].value is ...
    named = wanted[:-1] if is_open else wanted
    rest: list[ast.expr | ast.keyword] = [*call.args[len(named) :], *call.keywords]
    if len(call.args) < len(named) or (rest and not is_open):
        return False
    parts |= {_REST: rest} if is_open else {}
    return all(_fits(arg, shape, parts) for arg, shape in zip(call.args, named, strict=False))
