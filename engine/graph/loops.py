"""Loops: the same places of the source run again and again in one list of items."""

import ast
import re
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple

from engine.graph import repetitions
from engine.graph.bundles import Bundle, Item, drafts_in, first_draft, place_of
from engine.graph.draft import Draft
from engine.graph.repetitions import Key
from engine.graph.turns import find_runs
from engine.program.names import called
from engine.program.tree import Scope, Turning
from engine.trace import Span
from engine.trace_index import TraceIndex

REPEATS = 3
FEW = 24  # nodes of one op; what repeats among more is a loop inside PyTorch, as in an unrolled LSTM
MOST_HEADS = 16  # times that the node an iteration begins with may come again within it


def find_loops(index: TraceIndex, items: list[Item]) -> list[Item]:
    """The items with each loop replaced by a group of its iterations: where the text tells its turns, by that, and
    else by what repeats, inner loops before those around them."""
    runs = [run for run in find_runs(index, items) if not _are_different_modules(items, run.starts, run.end)]
    if not runs:
        return _repeating(index, items)
    found: list[Item] = []
    done = 0
    for run in runs:
        found += _repeating(index, items[done : run.starts[0]])
        if _is_test_that_ended(index, items, run.starts, run.end):
            run.end = run.starts.pop()
        turns = [items[first:last] for first, last in pairwise([*run.starts, run.end])]
        if len(turns) < REPEATS:
            found += [item for turn in turns for item in find_loops(index, turn)]
        else:
            found.append(_loop(index, run.loop, turns))
        done = run.end
    return [*found, *_repeating(index, items[done:])]


def _repeating(index: TraceIndex, items: list[Item]) -> list[Item]:
    found = _find(index, items)
    return found if len(found) == len(items) else _repeating(index, found)


def _find(index: TraceIndex, items: list[Item]) -> list[Item]:
    if len(items) < REPEATS:
        return items
    search = _Search(index, items)
    if not search.may_repeat:
        return items
    found: list[Item] = []
    at = done = 0
    while at < len(items):
        repeated = search.steps(at, done) or search.turns(at)
        if repeated is None:
            found.append(items[at])
            at += 1
        else:
            del found[len(found) - repeated.before :]
            found.append(repeated.group)
            at = done = repeated.end
    return found


class _Repeated(NamedTuple):
    """What repeats from an item on."""

    group: Bundle
    before: int
    """How many items before it belong to the first iteration."""
    end: int


class _Search:
    """Looks for what repeats from one item of a list on."""

    def __init__(self, index: TraceIndex, items: list[Item]) -> None:
        self._index = index
        self._items = items
        self._keys = repetitions.numbered([_key(index, item) for item in items])
        self._places = repetitions.by_key(self._keys)
        self.may_repeat = any(len(places) >= REPEATS for places in self._places.values())
        self._weighted = self._steps_by_weights()
        self._text = _Text(index, items, self._keys)
        self._refused: set[Key] = set()

    def _steps_by_weights(self) -> dict[str, dict[Key, list[int]]]:
        """Of each op that uses the same weights in step after step where it does so."""
        found: dict[str, dict[Key, list[int]]] = {}
        for at, item in enumerate(self._items):
            if isinstance(item, Draft) and item.parameters and item.op is not None and len(item.op.nodes) > FEW:
                found.setdefault(item.op.id, {}).setdefault(self._keys[at], []).append(at)
        often = {op: {key: at for key, at in heads.items() if len(at) >= REPEATS} for op, heads in found.items()}
        return {op: heads for op, heads in often.items() if heads}

    def steps(self, at: int, done: int) -> _Repeated | None:
        """Those of a recurrent module that begin here; what stands before `done` is in a group."""
        op = first_draft(self._items[at]).op if self._weighted else None
        if op is None or op.id not in self._weighted:
            return None
        heads = self._weighted[op.id].get(self._keys[at], [])
        if heads[:1] != [at]:
            return None
        starts, end = repetitions.steps(self._keys, heads, done)
        group = _loop(self._index, None, self._cut(starts, end))
        if len(self._weighted[op.id]) > 1:
            group.type = _layer(first_draft(self._items[at]))
        return _Repeated(group, at - starts[0], end)

    def turns(self, at: int) -> _Repeated | None:
        """Those of a loop, of a call of `sum` or within an op that begin here."""
        key = self._keys[at]
        if key is None or key in self._refused or self._is_of_steps(at) or len(self._places[key]) < REPEATS:
            return None
        summed = _end_of_sum(self._index, self._items, at)
        if summed - at >= REPEATS:
            return _Repeated(_sum(self._index, self._items[at:summed]), 0, summed)
        loop, starts, end = self._turns(at, key)
        if (
            len(starts) < REPEATS
            or _holds_recursion(self._index, self._items[at:end])
            or _are_different_modules(self._items, starts, end)
        ):
            self._refused.add(key)
            return None
        return _Repeated(_loop(self._index, loop, self._cut(starts, end)), 0, end)

    def _is_of_steps(self, at: int) -> bool:
        op = first_draft(self._items[at]).op
        return op is not None and op.id in self._weighted

    def _turns(self, at: int, key: Key) -> tuple[Turning | None, list[int], int]:
        """The loop, where it is known, where its turns start, and where the last one ends."""
        heads = [place for place in self._places[key] if place >= at]
        if len(heads) < REPEATS:
            return None, [], 0
        inside = [place for place in heads[: MOST_HEADS + 1] if _is_one_call(self._items[at], self._items[place])]
        loop = None
        if len(inside) > 1:
            starts, end = repetitions.periods(self._keys, inside)
        else:
            starts, end = repetitions.iterations(self._keys, heads)
            loop, end = self._text.loop_of(starts, end)
            starts = [start for start in starts if start < end]
        if _is_test_that_ended(self._index, self._items, starts, end):
            end = starts.pop()
        return loop, starts, end

    def _cut(self, starts: list[int], end: int) -> list[list[Item]]:
        return [self._items[first:last] for first, last in pairwise([*starts, end])]


def _loop(index: TraceIndex, loop: Turning | None, iterations: list[list[Item]]) -> Bundle:
    first = iterations[0][0]
    span, op = place_of(first), first_draft(first).op
    kind: Literal["loop", "steps"] = "loop"
    if loop is not None:
        title = index.code.head_of(loop)
    elif op is not None and _is_one_call(first, iterations[1][0]):
        kind, title = "steps", op.name
    else:
        title = index.code.line(span.line).removesuffix(":") if span is not None else ""
    whole = index.code.span(loop) if loop is not None else None
    made = Bundle(kind, title=title, call=whole, repeat=len(iterations), span=span)
    head = _HEAD.match(title)
    turn_of = head.group() if head is not None else ""
    values = _values(index, loop, iterations)
    for number, items in enumerate(iterations):
        only = items[0] if len(items) == 1 else None
        span = index.code.without_body(place_of(items[0])) if isinstance(items[0], Bundle) else items[0].span
        turn = values[number] if values else str(number + 1)
        made.items.append(only or Bundle(kind, title=turn, turn_of=turn_of, span=span, items=items))
    return made


def _values(index: TraceIndex, loop: Turning | None, iterations: list[list[Item]]) -> list[str]:
    """What each turn of `for t in range(…)` has `t` at, as `t = 0`; empty where that is not certain: it is where all
    turns are here, or where something that every turn runs was counted by the run."""
    match loop:
        case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=given, keywords=[])):
            pass
        case _:
            return []
    if name == "_" or index.code.is_bound("range"):
        return []
    numbers = [_whole(index, each) for each in given]
    whole = [each for each in numbers if each is not None]
    is_once = isinstance(index.code.parents.get(loop), ast.Module)
    may_skip = any(isinstance(inner, _SKIPS) for inner in ast.walk(loop))
    if len(whole) == len(given) and 0 < len(given) < 4 and 0 not in whole[2:] and (is_once or not may_skip):
        turns = range(*whole)[: len(iterations) + 1]
        if len(turns) == len(iterations):
            return [f"{name} = {turn}" for turn in turns]
    if len(given) > 1 or not is_once or may_skip:
        return []
    counted = [_count(index, loop, items) for items in iterations]
    return [f"{name} = {count}" for count in counted if count is not None] if None not in counted else []


def _whole(index: TraceIndex, node: ast.expr) -> int | None:
    """The whole number that is written there, or that the name there is bound to once."""
    if isinstance(node, ast.Name):
        bound = [each for each in index.code.nodes if isinstance(each, ast.Name) and each.id == node.id]
        values = index.code.values(node.id)
        node = values[0] if len(values) == sum(isinstance(each.ctx, ast.Store) for each in bound) == 1 else node
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if type(value) is int else None


def _count(index: TraceIndex, loop: ast.For, items: list[Item]) -> int | None:
    """How many turns of a loop that the program runs once came before this one."""
    for draft in (draft for item in items for draft in drafts_in(item)):
        at = index.code.at(draft.span) if draft.op is not None else None
        around = [at, *index.code.around(at)] if at is not None else []
        between = around[: around.index(loop)] if loop in around else []
        if draft.op is not None and between and not any(isinstance(each, _AT_TIMES) for each in between):
            return draft.op.iteration
    return None


_AT_TIMES = Turning | ast.IfExp | ast.BoolOp | Scope
"""What may run what is in it more or less than once."""

_SKIPS = (ast.If, ast.Continue, ast.Try, ast.Match)
"""What may keep a turn from running all of its body."""


_HEAD = re.compile(r"while\b|(?:async )?for .+?(?= in\b)|\w+$")
"""What a loop is called in short: `for x, y`, `while`, the op that PyTorch loops in."""


def _end_of_sum(index: TraceIndex, items: Sequence[Item], at: int) -> int:
    """Where the additions of one call of Python's `sum` end, each of which takes in what the one before it made."""
    head = items[at]
    call = index.code.call_at(head.span) if isinstance(head, Draft) else None
    if call is None or called(call) != "sum" or not isinstance(call.func, ast.Name) or index.code.is_bound("sum"):
        return at
    for item in items[at + 1 :]:
        at += 1
        last, op = first_draft(items[at - 1]).op, first_draft(item).op
        if place_of(item) != place_of(head) or op is None or last is None or not set(last.outputs) & set(op.inputs):
            return at
    return at + 1


def _sum(index: TraceIndex, additions: list[Item]) -> Bundle:
    span = place_of(additions[0])
    return Bundle("steps", title=index.code.excerpt(span), repeat=len(additions), span=span, items=additions)


class _Text:
    """What the program's text says of the loops that ran a list of items."""

    def __init__(self, index: TraceIndex, items: Sequence[Item], keys: Sequence[Key]) -> None:
        self._code = index.code
        self._items = items
        self._keys = keys
        self._innermost: dict[frozenset[Span | None], Turning | None] = {}

    @cached_property
    def _spans(self) -> list[Span | None]:
        return [None if key is None else place_of(item) for item, key in zip(self._items, self._keys, strict=True)]

    def loop_of(self, starts: Sequence[int], end: int) -> tuple[Turning | None, int]:
        """The one loop that ran iterations, where that is known, and where what it ran ends."""
        found: Turning | None = None
        alike: set[frozenset[Span | None]] = set()
        for first, last in zip(starts, [*starts[1:], end], strict=True) if starts else ():
            places = frozenset(self._spans[first:last])
            if places in alike:
                continue
            loop = self._loop_around(places)
            found = found or loop
            if found is None:
                continue
            alike.add(places)
            outside = next((at for at in range(first, last) if self._is_outside(self._spans[at], found)), None)
            if outside is not None:
                return found, outside
            if loop is not None and loop is not found and found not in self._code.around(loop):
                return found, first
        return found, end

    def _loop_around(self, asked: frozenset[Span | None]) -> Turning | None:
        """The innermost loop around all places of the program's own level, or else of the one function that has such a
        loop: the others are called from there."""
        if asked not in self._innermost:
            within: dict[Scope | None, list[list[Turning]]] = {}
            for _, scope, loops in (self._code.standing(span) for span in asked if span is not None):
                within.setdefault(scope, []).append(loops)
            if None in within:
                within = {None: within[None]}
            found = {_common(loops) for loops in within.values()} - {None}
            self._innermost[asked] = found.pop() if len(found) == 1 else None
        return self._innermost[asked]

    def _is_outside(self, span: Span | None, loop: Turning) -> bool:
        if span is None:
            return False
        _, scope, loops = self._code.standing(span)
        return loop not in loops and scope in (None, self._code.scope(loop))


def _common(loops: Sequence[Sequence[Turning]]) -> Turning | None:
    """The first that is in all of these."""
    return next((loop for loop in loops[0] if all(loop in other for other in loops)), None)


def _is_one_call(first: Item, second: Item) -> bool:
    """Whether PyTorch made both within one op, where no text says what an iteration is."""
    op, other = first_draft(first).op, first_draft(second).op
    return op is not None and other is not None and op.id == other.id


def _is_test_that_ended(index: TraceIndex, items: Sequence[Item], starts: list[int], end: int) -> bool:
    """Whether what looks like the last iteration is only the test of a `while`, which runs once more than the body."""
    if len(starts) < REPEATS:
        return False
    head = _line(items[starts[0]])
    last, first = items[starts[-1] : end], items[starts[0] : starts[1]]
    return (
        head is not None
        and index.code.line(head).startswith("while ")
        and all(_line(item) == head for item in last)
        and any(_line(item) != head for item in first)
    )


def _line(item: Item) -> int | None:
    span = place_of(item)
    return span.line if span is not None else None


def _key(index: TraceIndex, item: Item) -> Key:
    """Which place of the source an item comes from; of a module that library code called, the call and itself. What one
    call of a function made may lie apart, with whole calls of it between: such places tell nothing."""
    if _holds_recursion(index, [item]):
        return None
    module = None
    if not isinstance(item, Draft):
        if item.kind == "loop" and item.call is not None:
            return (item.call, item.title)
        if item.kind != "module":
            return None
        module = item.module
        item = first_draft(item)
    if item.span is None or item.op is None:
        return None
    if module is not None and index.is_inside_library(item.op):
        return (module, item.span)
    nodes = item.op.nodes
    ordinal = nodes.index(item.id) if 1 < len(nodes) <= FEW and item.id in nodes else 0
    weights = tuple([parameter.tensor for parameter in item.parameters]) if len(nodes) > FEW else ()
    return (item.span, item.title, ordinal, module is not None, weights)


def _holds_recursion(index: TraceIndex, items: Sequence[Item]) -> bool:
    """Whether a function that calls itself made one of these: turns that take it in would cut through its calls."""
    recursive = index.code.recursive
    return bool(recursive) and any(index.code.scope_at(place_of(item)) in recursive for item in items)


def _layer(step: Draft) -> str:
    """Which of several layers and directions has the weights of a step, as PyTorch names them: `l0_reverse`."""
    found = re.search(r"_(l\d+(?:_reverse)?)$", step.parameters[0].name)
    return found.group(1) if found is not None else ""


def _are_different_modules(items: Sequence[Item], starts: list[int], end: int) -> bool:
    """A list of layers, each called once: they are better seen as the modules they are."""
    if end - starts[0] != len(starts):
        return False
    modules = [None if isinstance(item, Draft) else item.module for item in items[starts[0] : end]]
    return None not in modules and len(set(modules)) == len(modules)
