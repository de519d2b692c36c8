"""Questions that a program asks its reader, written as comments: `# ? x.grad` and, below it, `# ! why`.

The grammar stands in docs/lessons.md; it is read here and nowhere else."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from typing import NamedTuple

from engine.program.source import Source, source_of
from engine.program.tree import parse
from engine.trace import Span

MOST_QUESTIONS = 40
_ASKS = re.compile(
    r"#\s*[?？]\s*(?P<what>[^:：@＠]+?)\s*(?:[@＠]\s*(?P<visit>[1-9]\d{0,3})\s*)?(?:[:：]\s*(?P<choices>.+?))?\s*$"
)
_TELLS = re.compile(r"#\s*[!！]\s*(?:(?P<lang>zh|en)\s*[:：]\s*)?(?P<words>.+?)\s*$")
_ATTRIBUTES = ("grad.shape", "grad.dtype", *"grad shape dtype requires_grad is_leaf _version".split())
_OF_THE_RUN = {"error.line": "line", "grad.flow": "flow"}


class Asked(NamedTuple):
    """One question as its author wrote it."""

    span: Span
    """The comment."""
    text: str
    """What is asked for."""
    name: str
    """The variable, or a parameter by its path (`net.0.weight`); empty when what is asked for is none of the forms."""
    attribute: str
    """What of it: empty for its value, `grad`, `grad.shape` …; without a variable `line` for that which fails, `flow`
    for where the gradient goes."""
    is_none: bool
    """Whether the question is only if that is None."""
    choices: tuple[str, ...]
    why: dict[str, str]
    """Words for after the answer, by language; under "" those for every language."""
    statement: ast.stmt | None
    """The statement that the comment stands beside or under: its effect is what the reader foresees."""
    may_repeat: bool
    """Whether that stands in a loop or function."""
    visit: int
    """Which time the statement runs, from 1."""
    is_beside: bool
    """Whether the comment stands beside its statement, not under it."""


def questions_in(code: str) -> list[Asked]:
    """All questions of a program, in order."""
    if "?" not in code and "？" not in code:
        return []
    source = source_of(code)
    found: list[Asked] = []
    for token in comments(code):
        text = plain(token)
        asks, tells = _ASKS.match(text), _TELLS.match(text)
        if asks is not None and len(found) < MOST_QUESTIONS:
            found.append(_asked(source, token, asks))
        elif tells is not None and found:
            found[-1].why.setdefault(tells["lang"] or "", tells["words"])
    return found


def comments(code: str) -> Iterator[tokenize.TokenInfo]:
    """All comments of a program, in order."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.COMMENT:
                yield token
    except (tokenize.TokenError, SyntaxError):
        return  # the program did not compile either: its failure says so


def plain(comment: tokenize.TokenInfo) -> str:
    """Its text without the width of its gaps, which a pattern would try again and again."""
    return " ".join(comment.string.split())


def _asked(source: Source, token: tokenize.TokenInfo, asks: re.Match[str]) -> Asked:
    line, column = token.start
    name, attribute, is_none = _parts(asks["what"])
    is_beside = bool(token.line[:column].strip())
    statement = _statement_ending(source, line) if is_beside else statement_under(source, line, column)
    return Asked(
        span=Span(line=line, end_line=line, column=column, end_column=token.end[1]),
        text=asks["what"],
        name=name,
        attribute=attribute,
        is_none=is_none,
        choices=tuple(
            dict.fromkeys(choice.strip() for choice in re.split("[|｜]", asks["choices"] or "") if choice.strip())
        ),
        why={},
        statement=statement,
        may_repeat=statement is not None and (source.in_loop(statement) or source.is_in_function(statement)),
        visit=int(asks["visit"] or 1),
        is_beside=is_beside,
    )


def _parts(text: str) -> tuple[str, str, bool]:
    """The variable, what of it, and whether only None matters; empty names for every other form."""
    if text in _OF_THE_RUN:
        return "", _OF_THE_RUN[text], False
    tree = parse(text)
    match tree.body if tree is not None else []:
        case [ast.Expr(value=node)]:
            is_none = False
        case _:
            return "", "", False
    match node:
        case ast.Compare(left=left, ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            node, is_none = left, True
    path = _path(node) if not isinstance(node, ast.Subscript) else ""
    attribute = next((each for each in _ATTRIBUTES if path.endswith(f".{each}")), "")
    if not path or (is_none and attribute != "grad"):
        return "", "", False
    return path.removesuffix(f".{attribute}"), attribute, is_none


def _path(node: ast.AST) -> str:
    """`net.0.weight` of `net[0].weight`, empty for what is no path."""
    match node:
        case ast.Name(id=name):
            return name
        case (
            ast.Attribute(value=inner, attr=str(last))
            | ast.Subscript(value=inner, slice=ast.Constant(value=int() | str() as last))
        ):
            return f"{before}.{last}" if (before := _path(inner)) else ""
    return ""


def _statement_ending(source: Source, line: int) -> ast.stmt | None:
    """The one that ends on a line."""
    return _last(node for node in source.nodes if isinstance(node, ast.stmt) and node.end_lineno == line)


def statement_under(source: Source, line: int, column: int) -> ast.stmt | None:
    """The one above a comment that has a line of its own, in the same block."""
    statements = (node for node in source.nodes if isinstance(node, ast.stmt) and node.col_offset == column)
    return _last(node for node in statements if (node.end_lineno or 0) < line)


def _last(statements: Iterator[ast.stmt]) -> ast.stmt | None:
    return max(statements, key=lambda node: (node.end_lineno or 0, node.lineno), default=None)
