"""Groups of boxes: ranks, devices, layers of derivatives, calls of modules and functions, loops inside them, alike
blocks, and chunks of lists too long to lay out."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from engine.devices import is_accelerator
from engine.graph.bundles import Bundle, Item, bundles_in, drafts_in, first_draft
from engine.graph.calls import find_calls
from engine.graph.draft import Draft
from engine.graph.leaves import name_calls, settle_leaves
from engine.graph.loops import REPEATS, find_loops
from engine.graph.recurrences import ENDS, WHOLE, find_recurrences, fold_middle
from engine.graph.types import Group, Link
from engine.trace import Op
from engine.trace_index import TraceIndex

CHUNK = 100  # boxes of an artificial group
INSIDE = 3  # nodes of one op from which on they are seen as one box
LONG = 300  # children beyond which laying out one level gets slow


def bundle(index: TraceIndex, drafts: Sequence[Draft], links: Sequence[Link], *, folds_ops: bool) -> Bundle:
    """All groups under one that stands for the whole view; `drafts` in forward order."""
    lanes, across = _by_rank(index, drafts, links)
    for lane in lanes:
        lane.items = find_calls(index, lane.items, links)
    whole = lanes[0] if len(lanes) == 1 else Bundle("rank", items=[*lanes, *across])
    pending = list(lanes)
    while pending:
        group = pending.pop()
        if group.repeat == 1 and group.kind not in ("steps", "op"):
            group.items = find_loops(index, group.items)
            group.items = _by_op(group.items) if folds_ops else group.items
            if folds_ops and group.kind == "module" and group is not whole and _is_one_op(group.items):
                group.kind = "op"
        pending.extend(item for item in group.items if isinstance(item, Bundle))
    for group in bundles_in(whole):
        _join_chains(group)
        _join_alike(index, group)
    settle_leaves(whole, links)
    name_calls(whole)
    find_recurrences(whole, links)
    for group in list(bundles_in(whole)):
        if group.is_chain and len(group.items) > WHOLE:
            _chunk(fold_middle(group), ENDS)
        else:
            _chunk(group)
    return whole


def _by_rank(index: TraceIndex, drafts: Sequence[Draft], links: Sequence[Link]) -> tuple[list[Bundle], list[Item]]:
    """A lane for each rank, or one for all where there are not several, and the collectives across them. What ran
    before a collective and what ran after it are two stretches of a lane; a leaf is the rank's that uses it."""
    across = {draft.id: draft for draft in drafts if draft.kind == "collective"}
    of = {draft.id: draft.op.rank for draft in drafts if draft.op is not None and draft.id not in across}
    if len({rank for rank in of.values() if rank is not None}) < 2:
        return _by_device(index, drafts, links), []
    for link in links:
        if link.source not in across:
            of.setdefault(link.source, of.get(link.target))
    fed = {link.target for link in links}
    between = [draft for draft in across.values() if draft.id in fed]
    after = _collectives_before(index, drafts, links, between, of)
    lanes: dict[tuple[int, int], list[Draft]] = {}
    for draft in drafts:
        if draft.id not in across:
            lanes.setdefault((after[draft.id], of.get(draft.id) or 0), []).append(draft)
    found = []
    for (_, rank), inside in sorted(lanes.items(), key=lambda lane: lane[0]):
        lane = _by_layer(index, inside)
        lane.kind, lane.title = "rank", f"rank {rank}"
        found.append(lane)
    above = [draft for draft in across.values() if draft.id not in fed]
    return found, [*find_loops(index, list[Item](above)), *between]


def _by_device(index: TraceIndex, drafts: Sequence[Draft], links: Sequence[Link]) -> list[Bundle]:
    """A lane for each stretch on one of several accelerators, or one lane for all. A stretch ends where a tensor goes
    from one device to another; what nothing goes into stands with what uses it first."""
    at = {draft.id: _device(index, draft) for draft in drafts}
    devices = set(at.values())
    if sum(map(is_accelerator, devices)) < 2:
        return [_by_layer(index, drafts)]
    into: defaultdict[str, list[str]] = defaultdict(list)
    for link in links:
        if link.source in at:
            into[link.target].append(link.source)
    cuts: dict[str, int] = {}
    users: defaultdict[str, list[int]] = defaultdict(list)
    for draft in drafts:
        cuts[draft.id] = max((cuts.get(one, 0) + (at[one] != at[draft.id]) for one in into[draft.id]), default=0)
        for one in into[draft.id]:
            users[one].append(cuts[draft.id] - (at[one] != at[draft.id]))
    joined = [one for one in at if into[one] or users[one]]
    first = {device: min((cuts[one] for one in joined if at[one] == device), default=0) for device in devices}
    lanes: dict[tuple[int, str], list[Draft]] = {}
    for draft in drafts:
        cut = cuts[draft.id] if into[draft.id] else min(users[draft.id], default=first[at[draft.id]])
        lanes.setdefault((cut, at[draft.id]), []).append(draft)
    found = []
    for (_, device), inside in sorted(lanes.items(), key=lambda lane: lane[0]):
        lane = _by_layer(index, inside)
        lane.kind, lane.title = "device", device
        found.append(lane)
    return found


def _device(index: TraceIndex, draft: Draft) -> str:
    of_op = () if draft.op is None else draft.op.outputs or draft.op.inputs
    tensor = index.tensors.get(draft.tensor or next(iter(of_op), ""))
    return "cpu" if tensor is None else tensor.device


def _collectives_before(
    index: TraceIndex,
    drafts: Sequence[Draft],
    links: Sequence[Link],
    between: Sequence[Draft],
    of: Mapping[str, int | None],
) -> dict[str, int]:
    """How many of the collectives that stand between boxes a rank had been in when it ran a box's op. What has no op,
    or is only used later, stands with what uses it."""
    met: defaultdict[int | None, list[int]] = defaultdict(list)
    for at in sorted(index.op_at[op] for draft in between for op in draft.ops):
        met[index.trace.ops[at].rank].append(at)
    calls = {
        (draft.id, op.rank): met[op.rank].index(index.op_at[op.id])
        for draft in between
        for op in map(index.ops.__getitem__, draft.ops)
    }
    users: defaultdict[str, list[str]] = defaultdict(list)
    for link in links:
        users[link.source].append(link.target)
    after: dict[str, int] = {}
    for draft in reversed(drafts):
        op, rank = draft.op, of.get(draft.id)
        ran = bisect_left(met[rank], index.op_at[op.id]) if op is not None else 0
        used = [calls.get((user, rank), after.get(user, ran)) for user in users[draft.id]]
        after[draft.id] = max(ran, min(used, default=0))
    return after


def _by_layer(index: TraceIndex, drafts: Sequence[Draft]) -> Bundle:
    """What each pass with `create_graph=True` made as one group, where it was made."""
    if not index.layered:
        return _by_module(index, drafts)
    layers: dict[str, list[Draft]] = {}
    items: list[Draft | Bundle] = []
    for draft in drafts:
        layer = index.layer_of(draft.node) if draft.kind == "op" else None
        if layer is None:
            items.append(draft)
        elif layer in layers:
            layers[layer].append(draft)
        else:
            layers[layer] = [draft]
            span = index.passes[layer].span
            items.append(Bundle("layer", title=index.code.excerpt(span) or layer, pass_id=layer, span=span))
    for item in items:
        if isinstance(item, Bundle) and item.pass_id is not None:
            item.items = _by_module(index, layers[item.pass_id]).items
    return _by_module(index, items)


def _by_module(index: TraceIndex, items: Sequence[Draft | Bundle]) -> Bundle:
    """Nested groups, one for each uninterrupted stay in a module."""
    whole = Bundle("module")
    stay: list[Bundle] = []
    for item in items:
        if isinstance(item, Draft) and (item.kind == "leaf" or (item.op is None and item.module is None)):
            whole.items.append(item)
            continue
        module = item.module if isinstance(item, Draft) else None
        _enter(index, index.module_chain(module), first_draft(item).op, whole, stay)
        (stay[-1] if stay else whole).items.append(item)
    return whole


def _enter(index: TraceIndex, chain: Sequence[str], op: Op | None, whole: Bundle, stay: list[Bundle]) -> None:
    """Leaves the groups of modules that do not run any more and begins those of the modules that do now, with an op."""
    depth = 0
    while depth < len(chain) and depth < len(stay) and stay[depth].module == chain[depth]:
        depth += 1
    del stay[depth:]
    for module in chain[depth:]:
        around = stay[-1] if stay else whole
        call = index.call_of(module, op) if op is not None else None
        span = call.span if call is not None else None
        stay.append(Bundle("module", title=_title(index, module, around.module), module=module, call=span))
        around.items.append(stay[-1])


def _title(index: TraceIndex, module: str, around: str | None) -> str:
    path = index.modules[module].path
    outer = index.modules[around].path + "." if around is not None else ""
    return path.removeprefix(outer) or index.modules[module].type


def _by_op(items: Sequence[Item]) -> list[Item]:
    """The items with what one op made in several steps, of which only the last has a value, as one group."""
    found: list[Item] = []
    for op, together in groupby(items, key=lambda item: item.op if isinstance(item, Draft) else None):
        run = list(together)
        last = first_draft(run[-1])
        if op is not None and INSIDE <= len(run) < len(items) and _is_one_op(run):
            found.append(Bundle("op", title=last.name or last.title, type=op.name, span=last.span, items=run))
        else:
            found += run
    return found


def _is_one_op(items: Sequence[Item]) -> bool:
    """Whether one op made all of these, in several steps of which only the last has a value."""
    *steps, last = map(first_draft, items)
    return (
        len(items) > 1
        and not any(isinstance(item, Bundle) for item in items)
        and last.op is not None
        and last.tensor is not None
        and all(step.op is last.op and step.tensor is None for step in steps)
    )


def _join_chains(around: Bundle) -> None:
    """Replace a module that only holds one other module by that one."""
    around.items = [_innermost(item) if isinstance(item, Bundle) else item for item in around.items]


def _innermost(outer: Bundle) -> Bundle:
    while outer.kind == "module" and len(outer.items) == 1:
        inner = outer.items[0]
        if not isinstance(inner, Bundle) or inner.kind != "module":
            break
        inner.title = f"{outer.title}.{inner.title}"
        outer = inner
    return outer


def _join_alike(index: TraceIndex, around: Bundle) -> None:
    """Replace modules of one class and size, three or more in a row, by one group: the blocks of a model."""

    def kind(item: Item) -> tuple[str, int] | None:
        if not isinstance(item, Bundle) or item.module is None or len(item.items) < 2:
            return None
        return index.modules[item.module].type, sum(1 for _ in drafts_in(item))

    items: list[Item] = []
    for alike, together in groupby(around.items, key=kind):
        run = list(together)
        blocks = [item for item in run if isinstance(item, Bundle)]
        if alike is None or len({block.module for block in blocks}) < REPEATS or around.repeat > 1:
            items += run
            continue
        lists = {block.title.rpartition(".")[0] for block in blocks}
        title = lists.pop() if len(lists) == 1 else ""
        span = first_draft(run[0]).span
        items.append(Bundle("loop", title=title or alike[0], type=alike[0], repeat=len(run), span=span, items=run))
    around.items = items


def _chunk(group: Bundle, before: int = 0) -> None:
    """`before`: how many of its kind stand before its first."""
    while len(group.items) > LONG:
        chunks: list[Bundle | Draft] = []
        for start in range(0, len(group.items), CHUNK):
            items = group.items[start : start + CHUNK]
            title = f"{before + start + 1}–{before + start + len(items)}"
            chunks.append(Bundle("line", title=title, span=first_draft(items[0]).span, items=items))
        group.items = chunks


@dataclass(slots=True)
class _Count:
    size: int = 0
    last: Draft | None = None
    parameters: set[str] | None = None

    def add_parameters(self, tensors: Iterable[str]) -> None:
        """Most groups of a long loop have none, so the set is made when it is needed."""
        if self.parameters is None:
            self.parameters = set()
        self.parameters.update(tensors)


def number_groups(index: TraceIndex, whole: Bundle) -> tuple[tuple[Group, ...], dict[str, str]]:
    """The finished groups, parents first, and the group of each box."""
    ordered: list[tuple[Bundle, str, str | None]] = []
    group_of: dict[str, str] = {}
    pending: list[tuple[Bundle, str | None]] = [(whole, None)]
    while pending:
        holder, group = pending.pop()
        inner: list[tuple[Bundle, str | None]] = []
        for item in holder.items:
            if isinstance(item, Bundle):
                identifier = f"g{len(ordered) + 1}"
                ordered.append((item, identifier, group))
                inner.append((item, identifier))
            elif group is not None:
                group_of[item.id] = group
        pending.extend(reversed(inner))
    counts = _count(ordered)
    return tuple(_finish(index, made, id_, parent, counts[id_]) for made, id_, parent in ordered), group_of


def _count(ordered: list[tuple[Bundle, str, str | None]]) -> dict[str, _Count]:
    counts = {id_: _Count() for _, id_, _ in ordered}
    for group, id_, parent in reversed(ordered):
        count = counts[id_]
        for item in group.items:
            if isinstance(item, Draft):
                count.size += item.kind in ("op", "leaf")
                if item.parameters:
                    count.add_parameters(parameter.tensor for parameter in item.parameters)
                count.last = _later(count.last, item)
        if parent is not None:
            above = counts[parent]
            above.size += count.size
            if count.parameters:
                above.add_parameters(count.parameters)
            above.last = _later(above.last, count.last)
    return counts


def _later(first: Draft | None, second: Draft | None) -> Draft | None:
    """Of two boxes the later one; what autograd did not record only where there is nothing else."""
    if first is None or second is None:
        return first or second
    if (first.node is None) != (second.node is None):
        return first if second.node is None else second
    return second if second.place >= first.place else first


def _finish(index: TraceIndex, made: Bundle, id_: str, parent: str | None, count: _Count) -> Group:
    module = index.modules[made.module] if made.module is not None else None
    identities = {index.identity(tensor) for tensor in count.parameters or ()}
    return Group(
        id=id_,
        title=made.title,
        type=module.type if module is not None else made.turn_of or (made.type if made.type != made.title else ""),
        kind=made.kind,
        parent=parent,
        module=made.module,
        size=count.size,
        repeat=made.repeat,
        hands_on=made.hands_on,
        parameters=sum(index.elements(tensor) for tensor in identities),
        tensor=count.last.tensor if count.last is not None else None,
        node=count.last.node if count.last is not None else None,
        span=made.span,
        pass_id=made.pass_id,
    )
