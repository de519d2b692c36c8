"""Numbers that a program's author wants played with, and how far: comments such as `# ~ -3..3` or `# ~ lr 0..1 by 0.1`.

The grammar stands in docs/lessons.md; it is read here and nowhere else."""

import ast
import math
import re
from collections.abc import Iterator
from itertools import pairwise

from engine.program.questions import comments, plain, statement_under
from engine.program.source import Source, source_of
from engine.program.tree import Placed, blocks_of, covers
from engine.trace import Slider, SliderProblem, Span

MOST_SLIDERS = 12
NAME_CHARACTERS = 80
_MARK = re.compile(r"#\s*[~～]\s*(?P<ranges>.+(?:\.\.|…).+)")
_SIZE = r"(?:\d+(?:\.\d*)?|\.\d+)"
_RANGE = re.compile(
    rf"\s*(?:(?P<name>[^\W\d]\w*)\s+)?(?P<least>[-−]?{_SIZE})\s*(?:\.\.+|…+)\s*(?P<most>[-−]?{_SIZE})"
    rf"(?:\s+by\s+(?P<step>{_SIZE}))?\s*"
)
_WRITTEN = re.compile(r"-?(?:\d+(?:\.(?P<places>\d*))?|\.(?P<part>\d+))(?:[eE][-+]?\d+)?")
"""Numbers that can be turned: decimal ones."""
_Number = ast.Constant | ast.UnaryOp
_LISTS = (ast.List, ast.Tuple)
_ON_STEP = 1e-6
"""How far off a step rounding may put a number, in steps."""


class _Refused(Exception):
    """A range that cannot be played with; says why."""

    def __init__(self, why: SliderProblem) -> None:
        super().__init__(why)
        self.why: SliderProblem = why


def sliders_in(code: str) -> tuple[Slider, ...]:
    """The numbers to play with, in the order of their comments; of a range that does not hold, the comment."""
    if "~" not in code and "～" not in code:
        return ()
    source = source_of(code)
    found: list[Slider] = []
    for token in comments(code):
        mark = _MARK.match(plain(token))
        if mark is None:
            continue
        line, column = token.start
        here = Span(line=line, end_line=line, column=column, end_column=token.end[1])
        numbers = _numbers(source, line, column if not token.line[:column].strip() else None)
        for written in re.split("[,，]", mark["ranges"]):
            try:
                found += _sliders(source, numbers, written)
            except _Refused as refused:
                name = written.strip()[:NAME_CHARACTERS]
                found.append(Slider(span=here, name=name, least=0, most=0, step=0, problem=refused.why))
            if len(found) >= MOST_SLIDERS:  # to find the statement of each comment is work
                return tuple(found[:MOST_SLIDERS])
    return tuple(found)


def _sliders(source: Source, numbers: list[_Number], written: str) -> list[Slider]:
    """Those of one range."""
    parts = _RANGE.fullmatch(written)
    if parts is None:
        raise _Refused("form")
    return [_slider(source, number, parts) for number in _named(source, numbers, parts["name"])[:MOST_SLIDERS]]


def _slider(source: Source, number: _Number, parts: re.Match[str]) -> Slider:
    text = _WRITTEN.fullmatch(source.text(number))
    if text is None:
        raise _Refused("number")
    is_whole = text[0].lstrip("-").isdecimal()
    bounds = [part.replace("−", "-") for part in (parts["least"], parts["most"], parts["step"] or "0")]
    if is_whole and any("." in bound for bound in bounds):
        raise _Refused("whole")
    value, least, most, step = map(float, (text[0], *bounds))
    if not all(map(math.isfinite, (value, least, most, step))):
        raise _Refused("outside")
    places = max(1, len(text["places"] or text["part"] or ""))
    step = step or (1.0 if is_whole else 10.0**-places)
    if not least <= value <= most:
        raise _Refused("outside")
    if not all(_is_whole((end - least) / step) for end in (value, most)):
        raise _Refused("step")
    name = (parts["name"] or _called(source, number))[:NAME_CHARACTERS]
    return Slider(span=source.span(number), name=name, least=least, most=most, step=step)


def _is_whole(steps: float) -> bool:
    return abs(steps - round(steps)) < _ON_STEP


def _named(source: Source, numbers: list[_Number], name: str | None) -> list[_Number]:
    """The numbers that a range speaks of: that of a name, or the only one, or all of the only list."""
    if name is not None:
        named = [number for number in numbers if _name_of(source, number) == name]
        if len(named) != 1:
            raise _Refused("none")
        return named
    if not numbers:
        raise _Refused("none")
    lists = {_list_around(source, number) for number in numbers}
    if len(numbers) > 1 and (len(lists) > 1 or None in lists):
        raise _Refused("which")
    return numbers


def _numbers(source: Source, line: int, margin: int | None) -> list[_Number]:
    """All of the statement that a comment stands beside, or under where it has a margin of its own; of one with a
    block those above the block. Places in brackets and parts of f-strings are none."""
    if margin is not None:
        statement = statement_under(source, line, margin)
    else:
        around = [node for node in source.nodes if isinstance(node, ast.stmt) and covers(node, line)]
        statement = max(around, key=lambda node: (node.lineno, node.col_offset), default=None)
    if statement is None:
        return []
    parts: list[ast.AST] = [child for block in blocks_of(statement) for child in block]
    for node in ast.walk(statement):
        if isinstance(node, ast.Subscript):
            parts.append(node.slice)
        elif isinstance(node, ast.JoinedStr):  # whose parts have no place of their own before Python 3.12
            parts.append(node)
    elsewhere = {node for part in parts for node in ast.walk(part)}
    numbers = [
        _signed(source, node)
        for node in ast.walk(statement)
        if isinstance(node, ast.Constant) and type(node.value) in (int, float) and node not in elsewhere
    ]
    return sorted(numbers, key=lambda node: (node.lineno, node.col_offset))


def _signed(source: Source, number: ast.Constant) -> _Number:
    """A number with the minus before it."""
    above = source.parents[number]
    return above if isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.USub) else number


def _name_of(source: Source, number: _Number) -> str:
    """The argument or variable that a number is given to; empty for any other."""
    above = source.parents[number]
    match above, source.parents.get(above):
        case ((ast.keyword(arg=str(name)) | ast.Assign(targets=[ast.Name(id=name)])), _):
            return name
        case ast.Tuple(elts=values), ast.Assign(targets=[ast.Tuple(elts=names)]) if len(names) == len(values):
            return ast.unparse(names[values.index(number)])
        case ast.arguments(args=arguments, defaults=defaults), _ if number in defaults:
            return arguments[len(arguments) - len(defaults) + defaults.index(number)].arg
        case _:
            return ""


def _called(source: Source, number: _Number) -> str:
    """What readers see it by: its own name; that of what its statement makes of it, or of the call it is given to, with
    its place in a list; else the code it stands in."""
    if name := _name_of(source, number):
        return name
    row = [number, *_above(source, number)]
    taker = next(node for node in row[1:] if not isinstance(node, _LISTS))
    match row[-1]:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
            *row, _, _ = row
            made = ast.unparse(names[values.index(row[-1])]) if row[-1] in values else ""
        case ast.Assign(targets=[target, *_]) if not isinstance(target, ast.Tuple):
            made = ast.unparse(target)
        case _:
            made = ""
    if isinstance(taker, ast.Call):
        made = made or ast.unparse(taker.func)
    elif not isinstance(taker, ast.Assign):
        return source.short(taker) if isinstance(taker, Placed) else ""
    at = [
        str(outer.elts.index(inner))
        for inner, outer in pairwise(row)
        if isinstance(outer, _LISTS) and isinstance(inner, ast.expr)
    ]
    return f"{made}[{', '.join(reversed(at))}]" if at else made


def _list_around(source: Source, number: _Number) -> ast.AST | None:
    """The outermost list that holds a number."""
    lists = [node for node in _above(source, number) if isinstance(node, _LISTS)]
    return lists[-1] if lists else None


def _above(source: Source, node: ast.AST) -> Iterator[ast.AST]:
    """What a part of a statement stands in, up to the statement."""
    while not isinstance(node, ast.stmt):
        node = source.parents[node]
        yield node
