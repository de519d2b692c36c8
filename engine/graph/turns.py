"""Turns of a loop as the program's text tells them: a turn begins where what ran goes back up the loop's body. What a
function made belongs to the turn whose part of the body may call it."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from engine.graph.bundles import Bundle, Item, first_draft, place_of
from engine.program.names import called
from engine.program.tree import Scope, Standing, Turning
from engine.trace_index import TraceIndex

_DRIVERS = {"sum", "prod", "reduce", "accumulate", "map", "starmap", "list", "tuple", "max", "min", "sorted", "zip"}
"""What may run one op several times in a single call."""

_NOWHERE = Standing(None, None, [])


@dataclass(slots=True)
class Run:
    """A stretch of a list that a loop ran."""

    loop: Turning
    starts: list[int] = field(default_factory=list)
    end: int = 0


def find_runs(index: TraceIndex, items: Sequence[Item]) -> list[Run]:
    """Those of outermost loops, two turns or more each, in order."""
    places = [_place(index, item) for item in items]
    outermost = {place.loops[-1]: place.scope for place in places if place.loops}
    found: list[Run] = []
    for loop, scope in outermost.items():
        if scope not in index.code.recursive:
            found += _Body(index, loop, scope, items, places).runs()
    kept: list[Run] = []
    for run in sorted((run for run in found if len(run.starts) > 1), key=lambda run: (run.starts[0], -run.end)):
        if kept and run.starts[0] < kept[-1].end:
            if run.end - run.starts[0] <= kept[-1].end - kept[-1].starts[0]:
                continue
            kept.pop()
        kept.append(run)
    return kept


def _place(index: TraceIndex, item: Item) -> Standing:
    """Where in the text an item was made."""
    op, span = first_draft(item).op, place_of(item)
    if op is None or span is None:
        return _NOWHERE
    place = index.code.standing(span)
    if place.node is None or (isinstance(item, Bundle) and item.kind == "module" and _is_nested(index, item)):
        return _NOWHERE
    if isinstance(item, Bundle) and item.kind != "module" and item.call is None:  # whole calls of a function
        return place._replace(loops=[])
    return place


def _is_nested(index: TraceIndex, item: Bundle) -> bool:
    """Whether library code called the module: the place is that of the whole call."""
    op = first_draft(item).op
    return op is not None and item.module is not None and "." in item.module and index.is_inside_library(op)


class _Body:
    """One loop, and what a list has of it."""

    def __init__(
        self, index: TraceIndex, loop: Turning, scope: Scope | None, items: Sequence[Item], places: Sequence[Standing]
    ) -> None:
        self._index = index
        self._loop = loop
        self._scope = scope
        self._items = items
        self._places = places
        self._nodes = index.code.in_order(loop)
        self._at = index.code.places_in(loop)
        self._begins: dict[ast.AST, int] = {}
        self._reach = index.code.reach
        self._before: dict[int, frozenset[Scope]] = {}
        self._after: dict[int, frozenset[Scope]] = {}

    def runs(self) -> Iterator[Run]:
        """What it ran, cut where something that it does not run stands between."""
        own: list[int] = []
        past = 0
        for at, place in enumerate(self._places):
            if place.node is None:
                continue
            if place.scope is self._scope and self._loop in place.loops:
                own.append(at)
            elif place.scope is self._scope or place.scope not in self._inside:
                if own:
                    yield self._run(own, past, at)
                own, past = [], at + 1
        if own:
            yield self._run(own, past, len(self._items))

    @cached_property
    def _inside(self) -> frozenset[Scope]:
        """The functions that it may call."""
        return self._reach.of(self._nodes)

    def _run(self, own: Sequence[int], past: int, until: int) -> Run:
        """Turns, given its own items and how far at most it may reach to both sides."""
        firsts, lasts = [own[0]], []
        for before, now in pairwise(own):
            if self._goes_back(before, now):
                lasts.append(before)
                firsts.append(now)
        lasts.append(own[-1])
        if len(firsts) == 1:
            return Run(self._loop, firsts)
        cuts: list[int | None] = []
        for last, first in zip(lasts, firsts[1:], strict=False):
            ends, begins = self._tail(last, first), self._lead(first, last + 1)
            cuts.append(max(begins, last + 1) if ends >= begins and self._is_certain(last, first) else None)
        leads = [first - cut for cut, first in zip(cuts, firsts[1:], strict=True) if cut is not None]
        starts = [self._first(firsts[0], past, leads, firsts[1:])]
        for cut, last, first in zip(cuts, lasts, firsts[1:], strict=False):
            starts.append(cut if cut is not None else self._likely(last, first, firsts[0] - starts[0], firsts[0]))
        tails = [start - last - 1 for start, last in zip(starts[1:], lasts, strict=False)]
        most = self._tail(lasts[-1], until)
        end = min(most, lasts[-1] + 1 + max(tails, default=0)) if self._is_called_after(lasts[-1], most) else most
        return Run(self._loop, starts, end)

    def _goes_back(self, before: int, now: int) -> bool:
        (_, last), (_, this) = self._stretch(before), self._stretch(now)
        if this != last:
            return this < last
        node, op = self._places[now].node, first_draft(self._items[before]).op
        is_inner = len(self._places[now].loops) > 1 and self._places[now].loops[0] is not self._loop
        if is_inner or op is None or op.inside or op is first_draft(self._items[now]).op:
            return False
        if self._index.is_inside_library(op) and not isinstance(self._items[before], Bundle):
            return False
        return not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and called(node) in _DRIVERS)

    def _stretch(self, at: int) -> tuple[int, int]:
        """From where to where in the order of the body an item stands: of one in an inner loop, that whole loop."""
        place = self._places[at]
        within = place.loops.index(self._loop)
        node = place.loops[within - 1] if within else place.node
        if node is None or node not in self._at:
            return len(self._nodes), len(self._nodes)
        if node not in self._begins:
            parts = ast.walk(node) if within else ()
            self._begins[node] = min((self._at[each] for each in parts if each in self._at), default=self._at[node])
        return self._begins[node], self._at[node]

    def _called_before(self, at: int) -> frozenset[Scope]:
        end = self._stretch(at)[1]
        if end not in self._before:
            self._before[end] = self._reach.of([*self._heads, *self._nodes[: end + 1]])
        return self._before[end]

    def _called_after(self, at: int) -> frozenset[Scope]:
        begin = self._stretch(at)[0]
        if begin not in self._after:
            self._after[begin] = self._reach.of(self._nodes[begin + 1 :])
        return self._after[begin]

    def _lead(self, first: int, least: int) -> int:
        """From where on all that stands before an item may have run before it in its turn."""
        start = first
        while start > least and self._may(start - 1, self._called_before(first)):
            start -= 1
        while start < first and self._places[start].node is None:
            start += 1  # a leaf stands where it was made, and moves to what alone uses it
        return start

    def _tail(self, last: int, most: int) -> int:
        """Until where all that stands behind an item may have run after it in its turn."""
        end = last + 1
        while end < most and self._may(end, self._called_after(last)):
            end += 1
        return end

    def _may(self, at: int, called: frozenset[Scope]) -> bool:
        place = self._places[at]
        return place.node is None or place.scope in called

    def _is_certain(self, last: int, first: int) -> bool:
        """Whether no item between two could be of either turn."""
        after, before = self._called_after(last), self._called_before(first)
        known = [place for place in self._places[last + 1 : first] if place.node is not None]
        return not any(place.scope in after and place.scope in before for place in known)

    def _first(self, first: int, past: int, leads: Sequence[int], others: Sequence[int]) -> int:
        """Where the first turn starts: functions that were called above the loop too are its own where they stand
        before the other turns' as well."""
        least = self._lead(first, past)
        if not any(place.scope in self._above for place in self._places[least:first] if place.node is not None):
            return least
        alike = 0
        for lead, other in zip(leads[:1], others, strict=False):
            while alike < min(lead, first - least) and self._is_alike(first - 1 - alike, other - 1 - alike):
                alike += 1
        return first - alike

    def _likely(self, last: int, first: int, lead: int, head: int) -> int:
        """Where a turn starts whose functions may be called at both ends: as the first one did, or else with them."""
        start = self._lead(first, last + 1)
        earliest = min(self._tail(last, first), first)
        if start <= first - lead and all(self._is_alike(head - 1 - n, first - 1 - n) for n in range(lead)):
            return min(first - lead, earliest) if earliest >= start else first - lead
        return min(start, earliest) if start <= earliest else earliest

    def _is_alike(self, one: int, other: int) -> bool:
        return place_of(self._items[one]) == place_of(self._items[other])

    def _is_called_after(self, last: int, most: int) -> bool:
        return any(place.scope in self._below for place in self._places[last + 1 : most] if place.node is not None)

    @cached_property
    def _above(self) -> frozenset[Scope]:
        """What the loop's own function calls before it."""
        return self._reach.of(self._around[: self._split])

    @cached_property
    def _below(self) -> frozenset[Scope]:
        """What it calls after it."""
        return self._reach.of(self._around[self._split :])

    @cached_property
    def _split(self) -> int:
        """Where it stands there; a default of an argument stands nowhere."""
        return self._around.index(self._loop) if self._loop in self._around else 0

    @cached_property
    def _around(self) -> list[ast.AST]:
        whole = self._index.code.in_order(self._scope or self._index.code.tree)
        return [node for node in whole if node not in self._at or node is self._loop]

    @property
    def _heads(self) -> list[ast.AST]:
        """What hands out the next thing."""
        loop = self._loop
        return self._index.code.in_order(loop.iter) if isinstance(loop, ast.For | ast.AsyncFor) else []
