"""The user's source as the graph needs it: the text of a span, the loop around a line."""

import ast
import re
from functools import lru_cache

from engine.program.tree import parse
from engine.trace import Span

NAME_CHARACTERS = 48  # a header holds about this much at the widest
_SPACE = re.compile(r"\s+")


class Source:
    """Look-ups in one program."""

    def __init__(self, code: str, *, parsed_in_sandbox: bool) -> None:
        self._lines = code.split("\n")
        self._loops = _loops(code) if parsed_in_sandbox else ()
        self._forwards = _forwards(code) if parsed_in_sandbox else ()

    def text(self, span: Span | None) -> str:
        """The code of a span on one line, shortened."""
        if span is None or not 1 <= span.line <= span.end_line <= len(self._lines):
            return ""
        first_line = self._lines[span.line - 1]
        if span.line == span.end_line:
            text = first_line[span.column : span.end_column]
        elif first_line.rstrip().endswith(":"):
            text = first_line.rstrip().removesuffix(":")  # a statement with a body: its head says enough
        else:
            inner = self._lines[span.line : span.end_line - 1]
            first, last = first_line[span.column :], self._lines[span.end_line - 1][: span.end_column]
            text = " ".join([first, *inner, last])
        return shorten(text)

    def line(self, number: int) -> str:
        """One whole line without its indentation, shortened."""
        return shorten(self._lines[number - 1]) if 1 <= number <= len(self._lines) else ""

    def loop_head(self, number: int) -> str:
        """The `for` or `while` around a line; the line itself when it is in none."""
        inside = [(last - first, first) for first, last in self._loops if first < number <= last]
        head = self.line(min(inside)[1]) if inside else self.line(number)
        return head.removesuffix(":")

    def is_in_function_forward(self, number: int) -> bool:
        """Whether a line is in the `forward` of a custom `autograd.Function`, which PyTorch runs without recording."""
        return any(first <= number <= last for first, last in self._forwards)


def shorten(text: str) -> str:
    """One line of at most `NAME_CHARACTERS` characters."""
    text = _SPACE.sub(" ", text).strip()
    return text if len(text) <= NAME_CHARACTERS else text[: NAME_CHARACTERS - 1] + "…"


@lru_cache(maxsize=16)
def _loops(code: str) -> tuple[tuple[int, int], ...]:
    tree = parse(code)
    return tuple(
        (node.lineno, node.end_lineno or node.lineno)
        for node in (ast.walk(tree) if tree else ())
        if isinstance(node, ast.For | ast.While | ast.AsyncFor)
    )


@lru_cache(maxsize=16)
def _forwards(code: str) -> tuple[tuple[int, int], ...]:
    tree = parse(code)
    return tuple(
        (method.lineno, method.end_lineno or method.lineno)
        for node in (ast.walk(tree) if tree else ())
        if isinstance(node, ast.ClassDef) and any(_is_function(base) for base in node.bases)
        for method in node.body
        if isinstance(method, ast.FunctionDef) and method.name == "forward"
    )


def _is_function(base: ast.expr) -> bool:
    return (base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")) == "Function"
