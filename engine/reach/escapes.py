"""Numbers that left PyTorch through `item()` and came back into an op as plain Python numbers."""

import ast
import re
from functools import lru_cache

from engine.ops import READS
from engine.program.tree import parse
from engine.trace import Op, Span, Trace

LOOK_AHEAD = 200  # ops; a number used later than that is another story

ENOUGH = 3  # reads at one place that nobody used; the others of a long loop are like them


def escapes(trace: Trace) -> dict[str, tuple[str, ...]]:
    """Op to the reads whose number it was given: written inside its call, or through a variable."""
    tracked = {tensor.id for tensor in trace.tensors if tensor.requires_grad}
    reads = [(at, op) for at, op in enumerate(trace.ops) if op.name in READS and tracked.intersection(op.inputs)]
    if not reads:
        return {}
    found: dict[str, tuple[str, ...]] = {}
    unused: dict[Span | None, int] = {}
    for at, read in reads:
        if unused.get(read.span, 0) >= ENOUGH:
            continue
        user = user_of(trace, at, read)
        if user is None:
            unused[read.span] = unused.get(read.span, 0) + 1
        else:
            found[user] = (*found.get(user, ()), read.id)
    return found


def user_of(trace: Trace, at: int, read: Op) -> str | None:
    """The op that the number or array of a read was given to."""
    if read.span is None or any(span == read.span or _holds(span, read.span) for span in _choices(trace.program.code)):
        return None
    names = _bound_names(trace.program.code, read.span)
    mention = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b") if names else None
    lines = trace.program.code.split("\n")
    for op in trace.ops[at + 1 : at + 1 + LOOK_AHEAD]:
        if op.span is None or op.name in READS:
            continue
        if _holds(op.span, read.span):
            return op.id
        if mention is not None and op.outputs and mention.search(_text(lines, op.span)):
            return op.id
    return None


def _holds(outer: Span, inner: Span) -> bool:
    begins = (outer.line, outer.column) <= (inner.line, inner.column)
    return begins and (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column) and outer != inner


def _text(lines: list[str], span: Span) -> str:
    if span.line == span.end_line:
        return lines[span.line - 1][span.column : span.end_column]
    return "\n".join(lines[span.line - 1 : span.end_line])


def _bound_names(code: str, span: Span) -> tuple[str, ...]:
    """Variables that the statement around a span assigns."""
    return next((names for first, last, names in _assignments(code) if first <= span.line <= last), ())


@lru_cache(maxsize=16)
def _choices(code: str) -> tuple[Span, ...]:
    """Expressions whose numbers choose something and go no further: comparisons, tests, what `max(…, key=…)` orders by."""
    tree = parse(code)
    found: list[ast.expr] = []
    for node in ast.walk(tree) if tree else ():
        match node:
            case ast.Compare():
                found.append(node)
            case ast.IfExp(test=test):
                found.append(test)
            case ast.comprehension(ifs=ifs):
                found += ifs
            case ast.keyword(arg="key", value=value):
                found.append(value)
    lines = code.split("\n")
    return tuple([_span(node, lines) for node in found])


def _span(node: ast.expr, lines: list[str]) -> Span:
    last = node.end_lineno or node.lineno
    return Span(
        line=node.lineno,
        end_line=last,
        column=_points(lines, node.lineno, node.col_offset),
        end_column=_points(lines, last, node.end_col_offset or 0),
    )


def _points(lines: list[str], number: int, offset: int) -> int:
    """Code points before a place that Python gives in bytes."""
    line = lines[number - 1] if number <= len(lines) else ""
    return offset if line.isascii() else len(line.encode()[:offset].decode("utf-8", "ignore"))


@lru_cache(maxsize=16)
def _assignments(code: str) -> tuple[tuple[int, int, tuple[str, ...]], ...]:
    tree = parse(code)
    found = []
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = tuple(one.id for one in targets if isinstance(one, ast.Name))
            found.append((node.lineno, node.end_lineno or node.lineno, names))
    return tuple(found)
