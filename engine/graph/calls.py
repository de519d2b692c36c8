"""Calls of the program's own functions, as a scalar network without modules is made of: which boxes each call made.

No call is recorded unless it was asked for, so calls are told apart by the text: within one call what runs goes down
the function, and back up only around a loop."""

import ast
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise

from engine.graph.bundles import Bundle, Item, drafts_in, first_draft
from engine.graph.draft import Draft
from engine.graph.leaves import owner_of
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
    leaves = {item.id: item.name for item in items if isinstance(item, Draft) and item.kind == "leaf"}
    found: list[Item] = []
    for function, together in groupby(items, key=lambda item: _function(index, item)):
        run = list(together)
        calls = list(_calls(index, run)) if function is not None else []
        if function is None or len(calls) < REPEATS:
            found += run
        elif function in index.code.recursive:
            found.append(Bundle("recursion", title=_title(index, function), span=first_draft(run[0]).span, items=run))
        else:
            found += _by_weights(_title(index, function), _rows(calls, sources, leaves), sources, leaves)
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


def _rows(calls: Sequence[Call], sources: Mapping[str, Sequence[str]], leaves: Container[str]) -> list[Sequence[Call]]:
    """The calls, cut where one needs what another of its row made, and where one takes in weights of an earlier row and
    the one before it does not; uncut where nearly each needs the one before."""
    call_of = {draft.id: at for at, call in enumerate(calls) for item in call for draft in drafts_in(item)}
    starts = [0]
    first_in: dict[str, int] = {}
    before: int | None = None
    for at, call in enumerate(calls):
        needed = _needed(call, sources)
        row = min((first_in[one] for one in needed if first_in.get(one, len(starts)) < len(starts)), default=None)
        if any(starts[-1] <= call_of.get(source, -1) < at for source in needed) or (at > 0 and row != before):
            starts.append(at)
        before = row
        for source in needed:
            if source in leaves:
                first_in.setdefault(source, len(starts))
    if len(calls) < REPEATS * (len(starts) - 1):
        return [calls]
    return [calls[first:last] for first, last in zip(starts, [*starts[1:], len(calls)], strict=True)]


def _needed(call: Call, sources: Mapping[str, Sequence[str]]) -> list[str]:
    return [source for item in call for draft in drafts_in(item) for source in sources.get(draft.id, ())]


def _by_weights(
    function: str, rows: Sequence[Sequence[Call]], sources: Mapping[str, Sequence[str]], leaves: Mapping[str, str]
) -> Iterator[Bundle]:
    """The rows as groups; those of a network that ran several times, once for each sample, in one group for each."""
    of = [{leaves[source] for call in row for source in _needed(call, sources) if source in leaves} for row in rows]
    starts = [at for at, names in enumerate(of) if names and names == of[0]]
    name, *others = {re.split(r"[.[]", leaf)[0] for names in of for leaf in names} or {""}
    runs = [rows[first:last] for first, last in pairwise([*starts, len(rows)])]
    if len(runs) < 2 or len(runs[0]) < 2 or {len(run) for run in runs} != {len(runs[0])} or others:
        yield from (_repeated(function, row) for row in rows)
        return
    samples = [
        Bundle(
            "loop",
            title=str(number),
            type=name,
            span=first_draft(run[0][0][0]).span,
            items=[
                _repeated(function, row, owner_of(sorted(names)) or function)
                for row, names in zip(run, of, strict=False)
            ],
        )
        for number, run in enumerate(runs, 1)
    ]
    yield Bundle("loop", title=name, type=name, repeat=len(samples), span=samples[0].span, items=[*samples])


def _repeated(function: str, calls: Sequence[Call], title: str = "") -> Bundle:
    def group(title: str, items: list[Item], repeat: int = 1) -> Bundle:
        span = first_draft(items[0]).span
        return Bundle("loop", title=title, type=function, repeat=repeat, span=span, items=items)

    if len(calls) == 1:
        return group(title or function, calls[0])
    return group(title or function, [group(str(number), call) for number, call in enumerate(calls, 1)], len(calls))
