"""Places in a program's text: lines as Python counts them, columns in code points, and the text of a span."""

import re
from collections.abc import Iterable, Iterator
from itertools import accumulate, groupby

from engine.trace import Span

EXCERPT_CHARACTERS = 48  # a header of the graph holds about this much at the widest
LINE_END = re.compile(r"\r\n?|\n")
"""What ends a line for Python's parser. `str.splitlines` also splits at form feeds and at U+2028 inside strings."""
OPENING, CLOSING = ("(", "[", "{"), (")", "]", "}")
FOLDED = "..."
"""What stands for the inside of brackets that there is no room for."""
MOST_NESTED = 6
_SPACE = re.compile(r"\s+")
_TOKEN = re.compile(
    r"""[bfru]{0,2}(?:\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
    r"|\#[^\r\n]*|\w+(?:\.\w+)*|\.\w+|\s+|.",
    re.DOTALL | re.IGNORECASE,
)
"""Texts, comments, names with their dots, and single marks: code that is not finished is read too."""


def lines_of(code: str) -> list[str]:
    """The lines without their ends; the last one is empty when the text ends with a line end."""
    return LINE_END.split(code)


def code_points(line: str, offset: int) -> int:
    """A column in code points, from one in bytes of UTF-8 as Python gives it."""
    return offset if line.isascii() else sum(_begins_code_point(line)[:offset])


def _begins_code_point(line: str) -> list[bool]:
    """For each byte of a line in UTF-8, whether it is the first one of its code point."""
    return [byte & 0xC0 != 0x80 for byte in line.encode("utf-8", "surrogatepass")]


def margin_of(line: str) -> str:
    """The white space that a line begins with."""
    return line[: len(line) - len(line.lstrip())]


def shorten(text: str) -> str:
    """Code on one line of at most `EXCERPT_CHARACTERS` characters, without comments. Brackets are folded where there is
    no room for their inside, the innermost first; what is too long even so ends after a whole token."""
    if "#" in text:
        text = "".join(token for token in _TOKEN.findall(text) if not token.startswith("#"))
    text = _SPACE.sub(" ", text).strip()
    if len(text) <= EXCERPT_CHARACTERS:
        return text
    tokens = list(_with_depth(_TOKEN.findall(text)))
    for deepest in range(MOST_NESTED, -1, -1):
        folded = list(_folded(tokens, deepest))
        if sum(map(len, folded)) <= EXCERPT_CHARACTERS:
            break
    said = "".join(folded)
    return said if len(said) <= EXCERPT_CHARACTERS else _begun(folded)


def _with_depth(tokens: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Each token with in how many brackets it stands; the brackets themselves stand outside."""
    depth = 0
    for token in tokens:
        depth -= token in CLOSING
        yield depth, token
        depth += token in OPENING


def _folded(tokens: Iterable[tuple[int, str]], deepest: int) -> Iterator[str]:
    """The tokens, what stands in more than so many brackets as one."""
    for is_inside, group in groupby(tokens, lambda token: token[0] > deepest):
        parts = [part for _, part in group]
        is_long = is_inside and sum(map(len, parts)) > len(FOLDED)
        yield from [FOLDED] if is_long else parts


def _begun(tokens: list[str]) -> str:
    """As many whole tokens as there is room for, no bracket open; of one long name its beginning."""
    said, before = "", ""
    for depth, token in _with_depth(tokens):
        before += token
        if len(before) > EXCERPT_CHARACTERS - 2:
            break
        said = before if not depth and token not in OPENING else said
    return f"{said.rstrip()} …" if said else tokens[0][: EXCERPT_CHARACTERS - 1] + "…"


def holds(outer: Span, inner: Span) -> bool:
    """Whether one span lies in the other, or is the same."""
    begins = (outer.line, outer.column) <= (inner.line, inner.column)
    return begins and (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)


class Lines:
    """A text by its lines."""

    def __init__(self, code: str) -> None:
        self.lines = lines_of(code)
        self._columns: dict[int, list[int]] = {}

    @property
    def count(self) -> int:
        """How many lines there are; an end of line at the end begins none."""
        return len(self.lines) - (not self.lines[-1])

    def column(self, line: int, offset: int) -> int:
        """A column in code points, from one in bytes; a line of other letters is counted once."""
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        if text.isascii():
            return offset
        if line not in self._columns:
            self._columns[line] = [0, *accumulate(_begins_code_point(text))]
        columns = self._columns[line]
        return columns[min(offset, len(columns) - 1)]

    def written(self, span: Span) -> str:
        """What is written in a span; empty for one that is not in the text."""
        if not 1 <= span.line <= span.end_line <= len(self.lines):
            return ""
        if span.line == span.end_line:
            return self.lines[span.line - 1][span.column : span.end_column]
        first, *inner, last = self.lines[span.line - 1 : span.end_line]
        return "\n".join([first[span.column :], *inner, last[: span.end_column]])

    def excerpt(self, span: Span | None) -> str:
        """The same on one line, shortened; of a statement with a body only its head."""
        if span is None or not 1 <= span.line <= len(self.lines):
            return ""
        first = self.lines[span.line - 1][span.column :].rstrip()
        if span.line < span.end_line and first.endswith(":"):
            return shorten(first.removesuffix(":"))
        return shorten(self.written(span))

    def line(self, number: int) -> str:
        """One whole line without its margin, shortened."""
        return shorten(self.lines[number - 1]) if 1 <= number <= len(self.lines) else ""
