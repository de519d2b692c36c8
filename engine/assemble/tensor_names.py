"""The user's names of tensors and modules: what the program says at its end, then what its code says."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from engine import events as ev
from engine.assemble.ids import Ids, number_of
from engine.assemble.modules import parents_first
from engine.assemble.names import SourceNames
from engine.assemble.recorded import Recorded
from engine.trace import Op, Pass, Span

_MOST_NAMES = 4


def tensor_names(
    recorded: Recorded,
    ids: Ids,
    written: Iterable[tuple[str, str]],
    passes: Iterable[Pass],
    paths: Mapping[int, str],
) -> dict[str, tuple[str, ...]]:
    """Names by the first record of an object, which all its states share; `written` are those that the code tells,
    `paths` those of modules."""
    names = {ids.tensor[number]: tuple(later.names) for number, later in recorded.later_words.items()}
    for tensor, name in chain(_member_names(recorded, ids, paths), written):
        known = names.get(tensor, ())
        if known and "[" in known[0] and name.isidentifier() and _has_node(recorded, tensor):
            names[tensor] = (name, *(other for other in known if other != name))
        elif name not in known:
            names[tensor] = (*known, name)
    shared: dict[str, tuple[str, ...]] = {}
    for tensor, given in names.items():
        if given and (first := _first(recorded, ids, tensor)) is not None:
            known = shared.get(first, ())
            shared[first] = _few([*known, *given])
    _tell_members_apart(shared, recorded, ids, paths)
    for pass_ in passes:
        for accumulation in pass_.accumulations:
            leaf = shared.get(accumulation.tensor)
            if leaf and accumulation.after is not None:
                _name_gradient(shared, _first(recorded, ids, accumulation.after), f"{leaf[0]}.grad")
    return shared


def _has_node(recorded: Recorded, tensor: str) -> bool:
    """Whether autograd recorded what made it: what it was called there comes before the list it stands in at the
    end."""
    number = number_of(tensor)
    seen, later = recorded.tensors.get(number), recorded.later_words.get(number)
    return bool((seen and seen.node) or (later and later.node))


def _tell_members_apart(
    names: dict[str, tuple[str, ...]], recorded: Recorded, ids: Ids, paths: Mapping[int, str]
) -> None:
    """A loop calls all parameters `p`: the path of one comes before a name that it does not have for itself."""
    bearers = Counter(given[0] for given in names.values())
    for tensor, path in _member_names(recorded, ids, paths):
        first = _first(recorded, ids, tensor)
        if first is not None and path in (given := names.get(first, ())) and bearers[given[0]] > 1:
            names[first] = _few([path, *given])


def _name_gradient(shared: dict[str, tuple[str, ...]], gradient: str | None, name: str) -> None:
    known = shared.get(gradient or "", ())
    if gradient is not None and name not in known:
        shared[gradient] = _few([name, *known])


def name_of(recorded: Recorded, ids: Ids, names: Mapping[str, tuple[str, ...]], tensor: str) -> str:
    """What a tensor is called before all; empty where it has no name."""
    first = _first(recorded, ids, tensor)
    return next(iter(names.get(first or "", ())), "")


def _few(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))[:_MOST_NAMES]


def _first(recorded: Recorded, ids: Ids, tensor: str) -> str | None:
    """The first record of the same tensor object."""
    number = number_of(tensor)
    seen = recorded.tensors.get(number)
    return None if seen is None else ids.tensor[seen.identity or number]


def _member_names(recorded: Recorded, ids: Ids, paths: Mapping[int, str]) -> Iterator[tuple[str, str]]:
    """Paths of parameters and buffers: of shared ones each, and also those of a run that did not come to its end."""
    for event in recorded.modules.values():
        path = paths[event.id]
        if "(" not in path:  # else nothing in the program leads to it
            for name, number, _ in (*event.parameters, *event.buffers):
                if number in recorded.tensors:
                    yield ids.tensor[number], f"{path}.{name}"


def module_paths(recorded: Recorded, source: SourceNames, ops: Iterable[Op]) -> dict[int, str]:
    """Path of each module; one that only a function of the program knows begins with the name it has there."""
    paths = {number: event.path for number, event in recorded.modules.items()}
    roots = {number: event for number, event in recorded.modules.items() if _is_unnamed_root(event)}
    if not roots:
        return paths
    root_of: dict[int, int] = {}
    for event in parents_first(recorded.modules):
        root_of[event.id] = event.id if event.id in roots else root_of.get(event.parent, 0)
    owners = {
        _identity(recorded, member): root_of[number]
        for number, event in recorded.modules.items()
        if root_of[number]
        for _, member, _ in event.parameters
    }
    spans = _filled_at(recorded, owners, ops)
    filled = set(owners.values())
    names = {
        root: source.local_name(event.type, spans.get(root, ()), has_parameters=root in filled)
        for root, event in roots.items()
    }
    for number, root in root_of.items():
        if root and names[root]:
            paths[number] = names[root] + paths[number][len(roots[root].path) :]
    return paths


def _is_unnamed_root(event: ev.ModuleSeen) -> bool:
    return not event.parent and event.path.startswith("(")


def _filled_at(recorded: Recorded, owners: Mapping[int, int], ops: Iterable[Op]) -> dict[int, set[Span]]:
    """Where the parameters of modules were written into, by module; `owners` are the modules by parameter."""
    spans: dict[int, set[Span]] = {}
    for op in ops:
        if op.in_place and op.outputs and op.span is not None:
            owner = owners.get(_identity(recorded, number_of(op.outputs[0])))
            if owner is not None:
                spans.setdefault(owner, set()).add(op.span)
    return spans


def _identity(recorded: Recorded, number: int) -> int:
    """Number of the first record of the same tensor object."""
    seen = recorded.tensors.get(number)
    return seen.identity or number if seen is not None else number
