"""Groups of boxes: layers of derivatives, calls of modules, loops inside them, and chunks of lists too long to lay out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from engine.graph.draft import Draft
from engine.graph.index import GraphIndex
from engine.graph.loops import find_loops
from engine.graph.types import Group
from engine.trace import Span

CHUNK = 100  # boxes of an artificial group
LONG = 300  # children beyond which laying out one level gets slow


@dataclass(slots=True, eq=False)
class Bundle:
    """One group to be."""

    kind: Literal["module", "loop", "line", "layer"]
    title: str = ""
    module: str | None = None
    pass_id: str | None = None
    repeat: int = 1
    span: Span | None = None
    items: list["Bundle | Draft"] = field(default_factory=list)


def bundle(index: GraphIndex, drafts: Sequence[Draft]) -> Bundle:
    """All groups under one that stands for the whole view; `drafts` in forward order."""
    whole = _by_layer(index, drafts)
    pending = [whole]
    while pending:
        one = pending.pop()
        if one.repeat == 1:
            one.items = find_loops(index, one.items, _loop)
        pending.extend(item for item in one.items if isinstance(item, Bundle))
    for one in _bundles(whole):
        _join_chains(one)
    for one in list(_bundles(whole)):
        _chunk(one)
    return whole


def _loop(index: GraphIndex, iterations: list[list[Bundle | Draft]]) -> Bundle:
    first = first_draft(iterations[0][0])
    line = first.span.line if first.span is not None else 0
    second = first_draft(iterations[1][0])
    inside_one_call = first.op is not None and second.op is not None and first.op.id == second.op.id
    title = first.op.name if first.op is not None and inside_one_call else index.code.loop_head(line)
    loop = Bundle("loop", title=title, repeat=len(iterations), span=first.span)
    for number, items in enumerate(iterations, 1):
        only = items[0] if len(items) == 1 else None
        loop.items.append(only or Bundle("loop", title=str(number), span=first_draft(items[0]).span, items=items))
    return loop


def first_draft(item: Bundle | Draft) -> Draft:
    """The first box in an item."""
    while isinstance(item, Bundle):
        item = item.items[0]
    return item


def _by_layer(index: GraphIndex, drafts: Sequence[Draft]) -> Bundle:
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


def _by_module(index: GraphIndex, items: Sequence[Draft | Bundle]) -> Bundle:
    """Nested groups, one for each uninterrupted stay in a module."""
    whole = Bundle("module")
    stay: list[Bundle] = []
    for draft in items:
        if isinstance(draft, Bundle):
            stay.clear()
            whole.items.append(draft)
            continue
        if draft.kind == "leaf" or (draft.op is None and draft.module is None):
            whole.items.append(draft)
            continue
        if draft.module is None:
            stay.clear()
            whole.items.append(draft)
            continue
        chain = index.module_chain(draft.module)
        depth = 0
        while depth < len(chain) and depth < len(stay) and stay[depth].module == chain[depth]:
            depth += 1
        del stay[depth:]
        for module in chain[depth:]:
            around = stay[-1] if stay else whole
            inner = Bundle("module", title=_title(index, module, around.module), module=module)
            around.items.append(inner)
            stay.append(inner)
        (stay[-1] if stay else whole).items.append(draft)
    return whole


def _title(index: GraphIndex, module: str, around: str | None) -> str:
    path = index.modules[module].path
    outer = index.modules[around].path + "." if around is not None else ""
    return path.removeprefix(outer) or index.modules[module].type


def _bundles(whole: Bundle) -> Iterator[Bundle]:
    pending = [whole]
    while pending:
        one = pending.pop()
        yield one
        pending.extend(item for item in one.items if isinstance(item, Bundle))


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


def _chunk(one: Bundle) -> None:
    while len(one.items) > LONG:
        chunks: list[Bundle | Draft] = []
        for start in range(0, len(one.items), CHUNK):
            items = one.items[start : start + CHUNK]
            title = f"{start + 1}–{start + len(items)}"
            chunks.append(Bundle("line", title=title, span=first_draft(items[0]).span, items=items))
        one.items = chunks


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


def number_groups(index: GraphIndex, whole: Bundle) -> tuple[tuple[Group, ...], dict[str, str]]:
    """The finished groups, parents first, and the group of each box."""
    ordered: list[tuple[Bundle, str, str | None]] = []
    group_of: dict[str, str] = {}
    pending: list[tuple[Bundle, str | None]] = [(whole, None)]
    while pending:
        one, group = pending.pop()
        inner: list[tuple[Bundle, str | None]] = []
        for item in one.items:
            if isinstance(item, Bundle):
                identifier = f"g{len(ordered) + 1}"
                ordered.append((item, identifier, group))
                inner.append((item, identifier))
            elif group is not None:
                group_of[item.id] = group
        pending.extend(reversed(inner))
    counts = _count(ordered)
    return tuple(_finish(index, one, group, parent, counts[group]) for one, group, parent in ordered), group_of


def _count(ordered: list[tuple[Bundle, str, str | None]]) -> dict[str, _Count]:
    counts = {group: _Count() for _, group, _ in ordered}
    for one, group, parent in reversed(ordered):
        count = counts[group]
        for item in one.items:
            if isinstance(item, Draft):
                count.size += 1
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


def _later(one: Draft | None, other: Draft | None) -> Draft | None:
    if one is None or other is None:
        return one or other
    return other if other.place >= one.place else one


def _finish(index: GraphIndex, one: Bundle, group: str, parent: str | None, count: _Count) -> Group:
    module = index.modules[one.module] if one.module is not None else None
    identities = {index.identity(tensor) for tensor in count.parameters or ()}
    return Group(
        id=group,
        title=one.title,
        type=module.type if module is not None else "",
        kind=one.kind,
        parent=parent,
        module=one.module,
        size=count.size,
        repeat=one.repeat,
        parameters=sum(index.elements(tensor) for tensor in identities),
        tensor=count.last.tensor if count.last is not None else None,
        node=count.last.node if count.last is not None else None,
        span=one.span,
        pass_id=one.pass_id,
    )
