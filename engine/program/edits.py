"""Edits to a program's text, and the text after them."""

from collections.abc import Iterable

from engine.program.spans import LINE_END
from engine.trace import Edit, Span

Edits = tuple[Edit, ...]


def insertion(line: int, column: int, text: str) -> Edit:
    """An edit that only adds."""
    return in_line(line, column, column, text)


def in_line(line: int, column: int, end_column: int, text: str) -> Edit:
    """Writes something else in a part of one line."""
    return Edit(span=Span(line=line, end_line=line, column=column, end_column=end_column), text=text)


def applied(code: str, edits: Iterable[Edit]) -> str:
    """The program with all edits made; what is inserted at one place stands in the order of the edits, last first."""
    starts = [0, *(end.end() for end in LINE_END.finditer(code))]
    for edit in sorted(edits, key=lambda edit: (edit.span.line, edit.span.column), reverse=True):
        start = starts[edit.span.line - 1] + edit.span.column
        end = starts[edit.span.end_line - 1] + edit.span.end_column
        code = code[:start] + edit.text + code[end:]
    return code
