"""Calls of the program's own functions, as a scalar network without modules is made of: which boxes each call made.

No call is recorded unless it was asked for, so calls are told apart by the text: within one call what runs goes down
the function, and back up only around a loop."""

import ast
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from engine.graph.bundles import Bundle, Item, drafts_in, first_draft
from engine.graph.draft import Draft
from engine.graph.loops import REPEATS
from engine.graph.types import Link
from engine.program.tree import Scope
from engine.trace import Span
from engine.trace_index import TraceIndex

Call = list[Item]


def find_calls(index: TraceIndex, items: Sequence[Item], links: Iterable[Link]) -> list[Item]:
    """The items with calls of one function, three or more in a row, as groups; those that need nothing of each other,
    as the neurons of one layer, stand in one group."""
    if not index.code.scopes:
        return [*items]
    sources: dict[str, list[str]] = {}
    for link in links:
        sources.setdefault(link.target, []).append(link.source)
    found: list[Item] = []
    for function, together in groupby(items, key=lambda item: _function(index, item)):
        run = list(together)
        calls = list(_calls(index, run)) if function is not None else []
        if function is None or len(calls) < REPEATS:
            found += run
        elif function in index.code.recursive:
            found.append(Bundle("recursion", title=_title(index, function), span=first_draft(run[0]).span, items=run))
        else:
            found += (_repeated(_title(index, function), row) for row in _rows(calls, sources))
    return found


def _function(index: TraceIndex, item: Item) -> Scope | None:
    """The function or lambda an item was made in; none for what a module made."""
    draft = first_draft(item)
    if isinstance(item, Bundle) or draft.module is not None or draft.op is None:
        return None
    return index.code.scope_at(draft.span)


def _title(index: TraceIndex, function: Scope) -> str:
    """`neuron`, of a method also the class; of one that makes an object callable the class alone; a lambda as it is
    written."""
    if isinstance(function, ast.Lambda):
        return index.code.short(function)
    owner = index.code.parents.get(function)
    if not isinstance(owner, ast.ClassDef):
        return function.name
    return owner.name if function.name == "__call__" else f"{owner.name}.{function.name}"


def _calls(index: TraceIndex, run: Sequence[Item]) -> Iterator[Call]:
    """A new call begins where the same place, or a line above, comes again without a loop that leads there."""
    call: Call = []
    places: set[Span | None] = set()
    for item in run:
        if call and _begins_anew(index, first_draft(call[-1]), first_draft(item), places):
            yield call
            call, places = [], set()
        call.append(item)
        places.add(first_draft(item).span)
    yield call


def _begins_anew(index: TraceIndex, last: Draft, now: Draft, places: Container[Span | None]) -> bool:
    if last.span is None or now.span is None or now.op is None or now.op is last.op or index.is_inside_library(now.op):
        return False
    is_back = now.span in places or now.span.end_line < last.span.line
    return is_back and not index.code.loops_back(last.span, now.span)


def _rows(calls: Sequence[Call], sources: Mapping[str, Sequence[str]]) -> list[Sequence[Call]]:
    """The calls, cut where one needs what another of its row made; uncut where nearly each needs the one before."""
    call_of = {draft.id: at for at, call in enumerate(calls) for item in call for draft in drafts_in(item)}
    starts = [0]
    for at, call in enumerate(calls):
        drafts = (draft for item in call for draft in drafts_in(item))
        needed = (call_of.get(source, -1) for draft in drafts for source in sources.get(draft.id, ()))
        if any(starts[-1] <= other < at for other in needed):
            starts.append(at)
    if len(calls) < REPEATS * (len(starts) - 1):
        return [calls]
    return [calls[first:last] for first, last in zip(starts, [*starts[1:], len(calls)], strict=True)]


def _repeated(function: str, calls: Sequence[Call]) -> Bundle:
    def group(title: str, items: list[Item], repeat: int = 1) -> Bundle:
        span = first_draft(items[0]).span
        return Bundle("loop", title=title, type=function, repeat=repeat, span=span, items=items)

    if len(calls) == 1:
        return group(function, calls[0])
    return group(function, [group(str(number), call) for number, call in enumerate(calls, 1)], len(calls))
