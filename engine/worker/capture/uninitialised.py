"""Memory that nothing was written into yet: `torch.empty` and its kin, element by element.

An op that writes without reading (`fill_`, `copy_`, `x[0] = …`, `out=`) makes the elements it covers known; one that
reads what it writes (`add_`) leaves them as undefined as they were.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from engine.ops import UPDATES, VIEWS, out_of_place
from engine.worker.capture.tensor_facts import as_array

_READS = frozenset(map(out_of_place, UPDATES | VIEWS))
"""Ops that leave what they write as undefined as it was."""
_LARGEST = 1 << 26
"""Elements; of larger memory the first write counts for all of it."""


class Blank:
    """Which elements of one storage are undefined."""

    __slots__ = ("left", "size", "written")

    def __init__(self, tensor: torch.Tensor) -> None:
        self.size = tensor.element_size()
        self.left = tensor.untyped_storage().nbytes() // self.size
        self.written: NDArray[np.bool_] | None = None
        """By element of the storage, once some are written."""

    def covers(self, tensor: torch.Tensor) -> bool:
        """Whether some element of the tensor is undefined."""
        if self.written is None or tensor.element_size() != self.size:
            return True
        return not bool(self._part(tensor).all())

    def write(self, name: str, tensor: torch.Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Takes note of an op that wrote into a tensor; gives whether anything is undefined still."""
        plain = out_of_place(name)
        if plain in _READS and "out" not in kwargs:
            return True
        if tensor.element_size() != self.size or self.left > _LARGEST:
            return False
        if self.written is None:
            self.written = np.zeros(self.left, np.bool_)
        try:
            _mark(plain, self._part(tensor), tensor, args, kwargs)
        except Exception:  # an index this does not know
            return False
        self.left = self.written.size - int(np.count_nonzero(self.written))
        return self.left > 0

    def _part(self, tensor: torch.Tensor) -> NDArray[np.bool_]:
        """The elements of a tensor."""
        assert self.written is not None
        start = self.written[tensor.storage_offset() :]
        return np.lib.stride_tricks.as_strided(start, tuple(tensor.shape), tuple(tensor.stride()))


def _mark(
    name: str, part: NDArray[np.bool_], tensor: torch.Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    if not args or args[0] is not tensor:  # written as `out=` or as another argument: all of it
        part[...] = True
    elif name == "setitem":
        part[_index(args[1])] = True
    elif name in ("masked_fill", "masked_scatter"):
        part[np.broadcast_to(_index(args[1]), part.shape)] = True
    elif name in ("index_fill", "index_copy"):
        part[(*[slice(None)] * (args[1] % part.ndim), _index(args[2]))] = True
    elif name == "index_put":
        part[tuple(_index(part) for part in args[1])] = True
    elif name == "scatter":
        index, axis = _index(args[2]), args[1] % part.ndim
        cut = tuple(slice(None) if i == axis else slice(size) for i, size in enumerate(index.shape))
        np.put_along_axis(part[cut], index, True, axis)
    elif name == "fill_diagonal":
        np.fill_diagonal(part, True)
    else:
        part[...] = True


def _index(index: Any) -> Any:
    """An index as NumPy takes it."""
    if isinstance(index, torch.Tensor):
        array = as_array(index)
        return array.astype(np.bool_) if index.dtype == torch.uint8 else array
    if isinstance(index, tuple):
        return tuple(_index(part) for part in index)
    return index
