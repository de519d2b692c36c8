"""Which cells of its inputs an op read or wrote, found by doing to element numbers what it did to the elements.

NumPy does it, so that neither autograd, a profiler nor a mode of the user's sees it. Only small tensors are looked
at, and of a run only the first `MOST_OPS` calls and `MOST_CELLS`."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from engine.events import CellsRead
from engine.worker.capture.tensor_facts import as_array, unreadable
from engine.worker.capture.tensor_state import Taken

MOST_ELEMENTS = 4096
"""Of a tensor whose cells are told."""
MOST_CELLS = 100_000
MOST_OPS = 1_000
"""That are told of one run: reading an element takes three microseconds, telling of it eight."""

Numbers = NDArray[np.int64]
Mapping = tuple[torch.Tensor, int, bool, Numbers]
"""Input, which output, whether the output holds positions instead of copies, and for each output cell the input
cell."""
_Tensor = torch.Tensor
_EXACT = (torch.Tensor, torch.nn.Parameter)


ELSEWHERE = -1
"""For an output cell that did not come from this input."""


class Unknown(Exception):
    """The call has a form whose cells are not told."""


class Call:
    """Arguments and results of one call."""

    def __init__(
        self, name: str, of_tensor: bool, args: tuple[Any, ...], kwargs: dict[str, Any], results: list[torch.Tensor]
    ) -> None:
        self.name = name
        self.of_tensor = of_tensor
        """A method of a tensor, not a function."""
        self.args = args
        self.kwargs = kwargs
        self.results = results

    def __call__(self, place: int, *names: str, default: Any = None) -> Any:
        """The argument at a place, or under one of these names."""
        if place < len(self.args):
            return self.args[place]
        return next((self.kwargs[name] for name in names if name in self.kwargs), default)

    def tensor(self, place: int, *names: str) -> torch.Tensor:
        """The same, where it has to be a tensor."""
        return _plain(self(place, *names))

    def number(self, place: int, *names: str, default: Any = None) -> int:
        """The same, where it has to be a whole number."""
        value = self(place, *names, default=default)
        if type(value) is not int:
            raise Unknown
        return value


class Reading:
    """Tells of one run's ops which cells they read."""

    def __init__(self) -> None:
        self.left = MOST_CELLS
        self.kept = self.omitted = 0
        """Ops whose cells were told, and those that came too late."""

    def rows(
        self, op: int, name: str, function: str, args: tuple[Any, ...], kwargs: dict[str, Any],
        results: list[torch.Tensor], taken: Taken,
    ) -> list[CellsRead]:  # fmt: skip
        """The events of one call; none for a call of a form that is not known."""
        made = results or [tensor for tensor, _, _, _ in taken[:1]]
        if not made or not taken or not 0 < made[0].numel() <= MOST_ELEMENTS or _is_own_index(made[0], args, taken):
            return []
        if self.kept >= MOST_OPS or made[0].numel() > self.left:
            self.omitted += 1
            return []
        try:
            found = list(READERS[name](Call(name, function.startswith("torch.Tensor."), args, kwargs, made)))
        except (Unknown, IndexError, ValueError, TypeError):
            return []
        rows = list(_rows(op, found, made, taken))
        cells = sum(len(row.cells) for row in rows)
        if cells > self.left:
            self.omitted += 1
            return []
        self.left -= cells
        self.kept += bool(rows)
        return rows


def _is_own_index(made: torch.Tensor, args: tuple[Any, ...], taken: Taken) -> bool:
    """Whether what was written lies in the memory of an index, which can no longer be read."""
    first, written = taken[0][0], taken[0][1].storage
    value = args[-1] if args else None
    return made is first and any(state.storage is written and tensor is not value for tensor, state, _, _ in taken[1:])


def _rows(op: int, found: list[Mapping], made: list[torch.Tensor], taken: Taken) -> Iterator[CellsRead]:
    for given, output, position, cells in found:
        at = next(place for place, (tensor, _, _, _) in enumerate(taken) if tensor is given)
        if cells.shape == tuple(made[output].shape):
            yield CellsRead(op, at, output, position, tuple(cells.ravel().tolist()))


# Tensors and their numbers


def _plain(value: object) -> torch.Tensor:
    if not isinstance(value, _EXACT) or type(value) not in _EXACT or value.layout is not torch.strided:
        raise Unknown
    if unreadable(value) or value.numel() > MOST_ELEMENTS:
        raise Unknown
    return value


def _numbers(tensor: torch.Tensor) -> Numbers:
    """The number of each element, in the tensor's shape; not to be written into."""
    return _numbered(tuple(_plain(tensor).shape))


@lru_cache(64)
def _numbered(shape: tuple[int, ...]) -> Numbers:
    return np.arange(math.prod(shape)).reshape(shape)


def _values(tensor: torch.Tensor) -> NDArray[Any]:
    tensor = _plain(tensor)
    return as_array(tensor if tensor.is_cpu else tensor.detach().cpu())


def _whole(tensor: torch.Tensor) -> Numbers:
    values = _values(tensor)
    if values.dtype.kind not in "iu":
        raise Unknown
    return values.astype(np.int64)


def _mask(value: object) -> NDArray[np.bool_]:
    if type(value) is bool:
        return np.array(value)
    return _values(_plain(value)).astype(bool)


# Indexing


def select(cells: Numbers, index: object) -> Numbers:
    """`cells[index]` as PyTorch does it: numbers, slices, None and ... first, then the tensors together
    (`applySlicing` and `dispatch_index` in torch/csrc/autograd/python_variable_indexing.cpp and
    ATen/TensorIndexing.h, 2.13)."""
    basic: list[Any] = []
    advanced: dict[int, Numbers] = {}
    items = [_item(part) for part in _items(index)]
    named = sum(_axes(item) for item in items)
    axis = 0
    for item in items:
        if item is ...:
            rest = cells.ndim - named
            basic += [slice(None)] * rest
            axis += rest
        elif item is None or isinstance(item, slice):
            basic.append(item)
            axis += 1
        elif isinstance(item, bool):
            basic.append(None)
            advanced[axis] = np.zeros(int(item), np.int64)
            axis += 1
        elif isinstance(item, int):
            basic.append(item)
        else:
            places = np.nonzero(item) if item.dtype == bool else (item,)
            for place in places:
                advanced[axis] = place
                basic.append(slice(None))
                axis += 1
    viewed: Numbers = cells[tuple(basic)]
    if not advanced:
        return viewed
    return viewed[tuple(advanced.get(at, slice(None)) for at in range(viewed.ndim))]


def _items(index: object) -> Sequence[object]:
    """The parts of an index; a short list that holds more than numbers counts as a tuple (`treatSequenceAsTuple`)."""
    if type(index) is tuple:
        return index
    if type(index) is list and len(index) < 32:
        parts = (torch.Tensor, list, tuple, slice, type(...), type(None))
        if any(isinstance(part, parts) for part in index):
            return index
    return (index,)


def _item(part: object) -> Any:
    """A part of an index as a number, a bool, a slice, None, ... or an array."""
    kind = type(part)
    if part is None or part is ... or kind is int or kind is bool:
        return part
    if kind is slice:
        return slice(_bound(part.start), _bound(part.stop), _bound(part.step))  # type: ignore[attr-defined]
    if kind in _EXACT:
        values = _values(part)  # type: ignore[arg-type]
    elif kind is np.ndarray:
        values = part  # type: ignore[assignment]
    elif kind is list and part and _is_plain(part):  # type: ignore[arg-type]
        values = np.array(part)
    else:
        raise Unknown
    if values.dtype == np.uint8:
        values = values.astype(bool)
    if values.dtype.kind not in "iub":
        raise Unknown
    if values.ndim == 0:
        return bool(values) if values.dtype == bool else int(values)
    return values if values.dtype == bool else values.astype(np.int64)


def _bound(end: object) -> int | None:
    if end is None or type(end) is int:
        return end
    if type(end) in _EXACT and end.numel() == 1:  # type: ignore[attr-defined]
        return int(_whole(end).item())  # type: ignore[arg-type]
    raise Unknown


def _is_plain(items: list[object]) -> bool:
    """Whether a list holds whole numbers, or bools, or such lists."""
    kinds = {type(item) for item in items}
    if kinds == {list}:
        return all(_is_plain(item) for item in items)  # type: ignore[arg-type]
    return kinds in ({int}, {bool})


def _axes(item: Any) -> int:
    """How many axes of the tensor a part of an index takes."""
    if item is None or item is ... or isinstance(item, bool):
        return 0
    return item.ndim if isinstance(item, np.ndarray) and item.dtype == bool else 1


def _getitem(call: Call) -> Iterator[Mapping]:
    parent = call.tensor(0)
    yield parent, 0, False, select(_numbers(parent), call.args[1])


def _setitem(call: Call) -> Iterator[Mapping]:
    written = call.tensor(0)
    value = call.args[2]
    source = (_plain(value), _numbers(value)) if type(value) in _EXACT else None
    yield from _written(written, select(_numbers(written), call.args[1]), source)


def _written(into: torch.Tensor, targets: Numbers, source: tuple[torch.Tensor, Numbers] | None) -> Iterator[Mapping]:
    """What the cells hold after a source was put at `targets`; two writes into one cell have no order."""
    if np.unique(targets).size != targets.size:
        raise Unknown
    kept = _numbers(into).copy()
    kept.ravel()[targets] = ELSEWHERE
    yield into, 0, False, kept
    if source is not None:
        tensor, given = source
        while given.ndim > targets.ndim and given.shape[0] == 1:
            given = given[0]
        put = np.full(kept.shape, ELSEWHERE)
        put.ravel()[targets] = np.broadcast_to(given, targets.shape)
        yield tensor, 0, False, put


# Picking by index


def _along(cells: Numbers, index: Numbers, dim: int) -> Numbers:
    """For each place of `index` the cell at the same place, but along `dim` where the index says."""
    places: list[Numbers] = list(np.indices(index.shape))
    places[dim] = index
    return cells[tuple(places)]


def _gather(call: Call) -> Iterator[Mapping]:
    parent = call.tensor(0, "input")
    index = _whole(call.tensor(2, "index"))
    yield parent, 0, False, _along(_numbers(parent), index, call.number(1, "dim"))


def _take_along_dim(call: Call) -> Iterator[Mapping]:
    parent = call.tensor(0, "input")
    cells, index = _numbers(parent), _whole(call.tensor(1, "indices"))
    if call(2, "dim") is None:
        cells, index, dim = cells.ravel(), index.ravel(), 0
    else:
        dim = call.number(2, "dim") % cells.ndim
        rest = np.broadcast_shapes(*(tuple(np.delete(array.shape, dim).tolist()) for array in (cells, index)))
        cells, index = (
            np.broadcast_to(array, (*rest[:dim], array.shape[dim], *rest[dim:])) for array in (cells, index)
        )
    yield parent, 0, False, _along(cells, index, dim)


def _scatter(call: Call) -> Iterator[Mapping]:
    if len(call.args) > 4 or "reduce" in call.kwargs:
        raise Unknown
    into = call.tensor(0, "input")
    index = _whole(call.tensor(2, "index"))
    value = call(3, "src", "value")
    source = None
    if type(value) in _EXACT:
        cells = _numbers(value)
        source = value, cells[tuple(slice(size) for size in index.shape)] if cells.ndim else cells
    yield from _written(into, _along(_numbers(into), index, call.number(1, "dim")), source)


def _index_select(call: Call) -> Iterator[Mapping]:
    parent = call.tensor(0, "input")
    index = np.atleast_1d(_whole(call.tensor(2, "index")))
    yield parent, 0, False, np.take(_numbers(parent), index, axis=call.number(1, "dim"))


def _index_fill(call: Call) -> Iterator[Mapping]:
    into = call.tensor(0, "input")
    targets = np.take(_numbers(into), np.unique(_whole(call.tensor(2, "index"))), axis=call.number(1, "dim"))
    value = call(3, "value")
    source = (_plain(value), _numbers(value)) if type(value) in _EXACT else None
    yield from _written(into, targets, source)


def _select(call: Call) -> Iterator[Mapping]:
    parent = call.tensor(0, "input")
    yield parent, 0, False, np.take(_numbers(parent), call.number(2, "index"), axis=call.number(1, "dim"))


def _narrow(call: Call) -> Iterator[Mapping]:
    parent = call.tensor(0, "input")
    dim, start = call.number(1, "dim"), _bound(call(2, "start")) or 0
    places = np.arange(call.number(3, "length")) + start % max(1, parent.shape[dim])
    yield parent, 0, False, np.take(_numbers(parent), places, axis=dim)


def _take(call: Call) -> Iterator[Mapping]:
    parent = call.tensor(0, "input")
    yield parent, 0, False, _numbers(parent).ravel()[_whole(call.tensor(1, "index"))]


def _embedding(call: Call) -> Iterator[Mapping]:
    if call(3, "max_norm") is not None:
        raise Unknown  # the rows are scaled first
    weight = call.tensor(1, "weight")
    yield weight, 0, False, _numbers(weight)[_whole(call.tensor(0, "input"))]


# Picking by mask


def _masked_select(call: Call) -> Iterator[Mapping]:
    parent = call.tensor(0, "input")
    cells, mask = np.broadcast_arrays(_numbers(parent), _mask(call(1, "mask")))
    yield parent, 0, False, cells[mask]


def _masked_fill(call: Call) -> Iterator[Mapping]:
    into, value = call.tensor(0, "input"), call(2, "value")
    cells, mask = np.broadcast_arrays(_numbers(into), _mask(call(1, "mask")))
    yield into, 0, False, np.where(mask, ELSEWHERE, cells)
    if type(value) in _EXACT:
        yield value, 0, False, np.where(mask, 0, ELSEWHERE)


def _where(call: Call) -> Iterator[Mapping]:
    if len(call.args) + len(call.kwargs) == 1:
        yield from _nonzero(call)
        return
    at = int(call.of_tensor)  # `x.where(condition, other)`, `torch.where(condition, x, other)`
    chosen, other = call(1 - at, "input"), call(2, "other")
    mask = _mask(call(at, "condition"))
    shape = tuple(call.results[0].shape)
    for value, taken in ((chosen, mask), (other, ~mask)):
        if type(value) in _EXACT:
            cells = np.broadcast_to(_numbers(value), shape)
            yield value, 0, False, np.where(np.broadcast_to(taken, shape), cells, ELSEWHERE)


def _nonzero(call: Call) -> Iterator[Mapping]:
    parent = call.tensor(0, "input", "condition")
    found = np.flatnonzero(_values(parent))
    if len(call.results) == 1 and call.results[0].dim() == 2:
        yield parent, 0, True, np.repeat(found, parent.dim()).reshape(-1, parent.dim())
        return
    for output in range(len(call.results)):
        yield parent, output, True, found


# Picking by order


def _picks(place: int, default: int | None) -> Callable[[Call], Iterator[Mapping]]:
    """Of ops that give values with their indices, or these alone, along the dimension at a place of the call."""

    def picked(call: Call) -> Iterator[Mapping]:
        parent, count = call.tensor(0, "input"), len(call.results)
        if isinstance(call(1, "other"), _Tensor) or (count == 1) != call.name.startswith("arg"):
            raise Unknown
        cells, index = _numbers(parent), _whole(call.results[-1])
        dim = call(place, "dim", default=default)
        if dim is None or cells.ndim == 0:
            reached = cells.ravel()[index]
        else:
            dim = call.number(place, "dim", default=default) % cells.ndim
            reduced = index.ndim < cells.ndim
            reached = _along(cells, np.expand_dims(index, dim) if reduced else index, dim)
            reached = reached.squeeze(dim) if reduced else reached
        if count == 2:
            yield parent, 0, False, reached
        yield parent, count - 1, True, reached

    return picked


READERS: dict[str, Callable[[Call], Iterator[Mapping]]] = {
    "getitem": _getitem, "setitem": _setitem, "select": _select, "narrow": _narrow,
    "gather": _gather, "take_along_dim": _take_along_dim, "take": _take, "index_select": _index_select,
    "embedding": _embedding,
    "scatter": _scatter, "scatter_": _scatter, "index_fill": _index_fill, "index_fill_": _index_fill,
    "masked_select": _masked_select, "masked_fill": _masked_fill, "masked_fill_": _masked_fill, "where": _where,
    "nonzero": _nonzero, "argwhere": _nonzero,
    **dict.fromkeys(("max", "min", "median", "nanmedian", "cummax", "cummin"), _picks(1, None)),
    **dict.fromkeys(("argmax", "argmin"), _picks(1, None)),
    **dict.fromkeys(("sort", "argsort", "mode"), _picks(1, -1)),
    **dict.fromkeys(("topk", "kthvalue"), _picks(2, -1)),
}  # fmt: skip
