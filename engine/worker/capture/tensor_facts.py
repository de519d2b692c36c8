"""A tensor's facts and contents, read from its memory so that neither autograd nor a user's mode sees the reading."""

import binascii
import ctypes
import math
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
import numpy as np
import torch
from msgspec.structs import astuple
from numpy.typing import NDArray

from engine.events import Contents, Data, Figures, Picture, Role, TensorBrief, TensorSeen
from engine.worker.pytorch.internals import is_functional_tensor, is_functorch_wrapped

INLINE = 256
"""Elements that are said in full."""

BINS = 16
_HISTOGRAM_ELEMENTS = 16_384  # beyond it the bins cost more than all other figures together
_ROWS, _COLUMNS, _POOLED = 8, 16, 64
_AT_A_TIME = 8192
_ROW = 2048
_SWEPT = 262_144
_BUFFERED = 65_536
_WHOLE = 1 << 22
"""Elements of which a copy may be made."""
_MOST = 1 << 28
"""Elements that are looked at."""
_least, _greatest, _total = np.minimum.reduce, np.maximum.reduce, np.add.reduce  # the methods add a Python call to each
_EXACT_INTEGER = 2**53  # JavaScript's whole numbers end here

Array = NDArray[np.generic]


@dataclass(frozen=True, slots=True)
class DtypeKind:
    """How elements of one dtype lie in memory."""

    name: str
    code: str
    size: int
    numpy: str
    floating: bool
    parts: int = 1
    wide: bool = False


def _kind(dtype: torch.dtype) -> DtypeKind:
    name = str(dtype).removeprefix("torch.")
    codes = {
        "float32": "f", "float64": "d", "float16": "e", "bool": "?", "uint8": "B", "int8": "b", "int16": "h",
        "int32": "i", "int64": "q", "uint16": "H", "uint32": "I", "uint64": "Q",
    }  # fmt: skip
    if name in codes:
        floating = dtype.is_floating_point
        return DtypeKind(name, codes[name], dtype.itemsize, name, floating, wide=name in ("int64", "uint64"))
    if name in ("complex64", "complex128"):
        code = "f" if name == "complex64" else "d"
        return DtypeKind(name, code, dtype.itemsize // 2, name, True, parts=2)
    return DtypeKind(name, "", dtype.itemsize, "", dtype.is_floating_point)


DTYPE_KINDS: dict[torch.dtype, DtypeKind] = {}
_readers: dict[tuple[str, int], "_Reader"] = {}
_Reader = tuple[Callable[[Any], Data], Callable[[int], Any]]
"""What unpacks so many elements, and what makes their memory readable at an address."""


def dtype_kind_of(dtype: torch.dtype) -> DtypeKind:
    """Memory layout of a dtype's elements."""
    kind = DTYPE_KINDS.get(dtype)
    if kind is None:
        kind = DTYPE_KINDS[dtype] = _kind(dtype)
    return kind


def _reader(code: str, count: int) -> _Reader:
    layout = struct.Struct(f"={count}{code}")
    reader = _readers[code, count] = layout.unpack, (ctypes.c_char * layout.size).from_address
    return reader


def _spoken(data: Data, kind: DtypeKind) -> Data:
    """Non-finite floats and whole numbers beyond 2**53 as the strings a trace has for them."""
    if kind.floating:
        total = sum(data)  # type: ignore[arg-type]
        if total - total == 0:
            return data
        return tuple(value if math.isfinite(value) else spoken(value) for value in data)  # type: ignore[arg-type]
    if kind.wide and data and (max(data) > _EXACT_INTEGER or min(data) < -_EXACT_INTEGER):  # type: ignore[operator]
        return tuple(str(value) if abs(value) > _EXACT_INTEGER else value for value in data)  # type: ignore[arg-type]
    return data


def spoken(value: float) -> float | str:
    """A float, or the string a trace has for a non-finite one."""
    if math.isfinite(value):
        return value
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def version_of(tensor: torch.Tensor) -> int:
    """The version counter; 0 for inference tensors, which have none."""
    try:
        return tensor._version
    except RuntimeError:
        return 0


def start_of(tensor: torch.Tensor) -> int:
    """Where its storage begins; 0 for tensors without memory of their own."""
    try:
        if type(tensor) in _USUAL or not is_fake(tensor):
            return int(tensor.data_ptr() - tensor.storage_offset() * tensor.element_size())
        return 0
    except Exception:
        return 0


def is_fake(tensor: torch.Tensor) -> bool:
    """Whether it only has a shape, as while PyTorch traces a function: asking where its memory is would warn."""
    return type(tensor).__name__ == "FakeTensor"


_USUAL = (torch.Tensor, torch.nn.Parameter)


def is_tracked_leaf(tensor: torch.Tensor) -> bool:
    """Whether gradients end here, without asking a view: `is_leaf` can make its grad_fn anew, or raise."""
    if not tensor.requires_grad:
        return False
    if tensor._is_view():
        base = tensor._base
        return base is not None and not base.requires_grad
    return tensor.is_leaf


def extent(tensor: torch.Tensor) -> int:
    """Elements between the first and the last one in memory; less than numel for an expanded tensor."""
    count = tensor.numel()
    if count == 0 or tensor.is_contiguous():
        return count
    return 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))


def as_array(tensor: torch.Tensor) -> Array:
    """The elements, sharing the tensor's memory where NumPy knows the dtype: valid only while the tensor is held."""
    kind = dtype_kind_of(tensor.dtype)
    if not kind.numpy and kind.name != "bfloat16":
        plain = tensor.detach().dequantize() if tensor.is_quantized else tensor.detach().to(torch.float32)
        return np.array(as_array(plain))
    count = extent(tensor)
    dtype = np.dtype(kind.numpy or "uint16")
    if count == 0:
        return np.empty(tuple(tensor.shape), dtype)
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(tensor.data_ptr())
    strides = tuple(step * dtype.itemsize for step in tensor.stride())
    array: Array = np.ndarray(tuple(tensor.shape), dtype, memory, strides=strides)  # type: ignore[arg-type]
    if kind.name == "bfloat16":
        array = (array.astype(np.uint32) << 16).view(np.float32)
    if tensor.is_neg():
        array = np.negative(array)
    return np.conjugate(array) if kind.parts == 2 and tensor.is_conj() else array


def small_data(tensor: torch.Tensor, kind: DtypeKind, count: int) -> Data:
    """All elements in row-major order, of at most `INLINE`."""
    if kind.code and tensor.is_contiguous() and not tensor.is_neg() and not (kind.parts == 2 and tensor.is_conj()):
        return _read(tensor.data_ptr(), kind, count * kind.parts)
    array = np.ascontiguousarray(as_array(tensor)).ravel()
    if kind.parts == 2:
        array = array.view(np.float32 if array.dtype == np.complex64 else np.float64)
    return _spoken(tuple(array.tolist()), kind)


def _read(address: int, kind: DtypeKind, items: int) -> Data:
    """So many numbers that lie side by side; nothing there is read for none."""
    unpack, at = _readers.get((kind.code, items)) or _reader(kind.code, items)
    data = unpack(at(address)) if items else ()
    if items == 1 and kind.floating and data[0] - data[0] == 0:  # type: ignore[operator]
        return data
    return _spoken(data, kind)


def _histogram(values: Any, low: float, high: float) -> tuple[int, ...] | None:
    if not high > low or values.size > _HISTOGRAM_ELEMENTS or not math.isfinite(high - low):
        return None
    place = ((values - low) * (BINS / (high - low))).astype(np.int64)
    np.minimum(place, BINS - 1, out=place)
    return tuple(np.bincount(place, minlength=BINS).tolist())


def _square(values: Any) -> float:
    """Sum of squares. OpenBLAS takes several threads, which then spin, for more than 10,000 elements at a time."""
    if values.size <= _AT_A_TIME:
        return float(np.dot(values, values))
    whole = values.size // _AT_A_TIME * _AT_A_TIME
    table, rest = values[:whole].reshape(-1, _AT_A_TIME), values[whole:]
    total = float(_total(np.vecdot(table, table), dtype=np.float64))
    return total + float(np.dot(rest, rest)) if rest.size else total


def _sum(values: Any) -> float:
    """Sum of all; row by row is faster than NumPy's own for many, and as exact."""
    if values.size <= _AT_A_TIME:
        return float(_total(values))
    whole = values.size // _ROW * _ROW
    total = float(_total(_total(values[:whole].reshape(-1, _ROW), axis=0)))
    return total + float(_total(values[whole:])) if whole < values.size else total


def _sweep(values: Any) -> tuple[float, float, float, float, int]:
    """Minimum, maximum, sum, sum of squares and zeros, taken while each part is in the processor's cache."""
    size = values.size
    if 0 < size <= _SWEPT:
        return _swept(values)
    low, high, total, square, zeros = math.inf, -math.inf, 0.0, 0.0, 0
    for start in range(0, size, _SWEPT):
        least, greatest, more, squares, none = _swept(values[start : start + _SWEPT])
        low, high = min(low, least), max(high, greatest)
        total += more
        square += squares
        zeros += none
    return low, high, total, square, zeros


def _swept(part: Any) -> tuple[float, float, float, float, int]:
    low, high = float(_least(part)), float(_greatest(part))
    zeros = 0 if low > 0 or high < 0 else int(np.count_nonzero(part == 0))  # four times as fast as counting the others
    return low, high, _sum(part), _square(part), zeros


def _once(array: Array) -> tuple[Array, int]:
    """An expanded array without its repetitions, and how often each element was there."""
    if 0 not in array.strides or array.size == 0:
        return array, 1
    single = array[tuple(slice(0, 1) if step == 0 else slice(None) for step in array.strides)]
    return single, array.size // single.size


def _sampled(array: Array) -> Array:
    """Of more than `_MOST` elements every k-th along the longest axis; windows that overlap can be many more than
    memory holds."""
    while array.size > _MOST:
        axis = int(np.argmax(array.shape))
        every = min(-(-array.size // _MOST), array.shape[axis])
        array = array[(slice(None),) * axis + (slice(every // 2, None, every),)]
    return array


def figures(array: Array, bins: bool) -> Figures:
    """Figures over the finite elements; magnitudes for complex ones."""
    array, times = _once(array)
    if times > 1 or array.size > _WHOLE:
        return _figures_in_parts(array, times)
    values = array.reshape(-1) if array.flags.c_contiguous else array.ravel(order="K")  # a copy costs more
    if values.dtype.kind == "c":
        values = np.abs(values)
    count = values.size
    if values.dtype.kind != "f" or values.dtype.itemsize == 2:
        values = values.astype(np.float64)
    with np.errstate(all="ignore"):
        low, high, total, square, zeros = _sweep(values)
        nan = inf = 0
        if not math.isfinite(square):
            values = values.astype(np.float64)
            nan = int(np.count_nonzero(np.isnan(values)))
            inf = int(np.count_nonzero(np.isinf(values)))
            values = values[np.isfinite(values)]
            count = values.size
            if count == 0:
                return ("nan", "nan", "nan", "nan", "nan", zeros, nan, inf, None, 0)
            low, high, total, square, _ = _sweep(values)
        mean = total / count
        variance = square / count - mean * mean
        if variance < 1e-4 * mean * mean:  # the difference has lost its digits
            variance = float(np.square(values.astype(np.float64) - mean).mean())
        histogram = _histogram(values, low, high) if bins else None
    deviation, norm = math.sqrt(max(variance, 0.0)), math.sqrt(square)
    if math.isfinite(variance + norm):
        return low, high, mean, deviation, norm, zeros, nan, inf, histogram, 0
    said = tuple(spoken(v) for v in (low, high, mean, deviation, norm))
    return (*said, zeros, nan, inf, histogram, 0)  # type: ignore[return-value]


def _parts(array: Array) -> Iterator[Any]:
    """All elements in stretches that fit the processor's cache, as floats, in whatever order memory has them."""
    parts: Any = np.nditer(array, flags=["external_loop", "buffered", "zerosize_ok"], order="K", buffersize=_BUFFERED)
    for part in parts:
        values: Any = np.abs(part) if part.dtype.kind == "c" else part
        yield values if values.dtype.kind == "f" and values.dtype.itemsize > 2 else values.astype(np.float64)


def _figures_in_parts(array: Array, times: int) -> Figures:
    """The same without a copy of the whole, each element counted `times`."""
    seen = _sampled(array)
    low, high, total, square = math.inf, -math.inf, 0.0, 0.0
    zeros = nan = inf = count = 0
    with np.errstate(all="ignore"):
        for part in _parts(seen):
            values = part
            zeros += int(np.count_nonzero(values == 0))
            if not math.isfinite(_square(values)):
                values = values.astype(np.float64)
                nan += int(np.count_nonzero(np.isnan(values)))
                inf += int(np.count_nonzero(np.isinf(values)))
                values = values[np.isfinite(values)]
            if values.size:
                count += values.size
                low, high = min(low, float(_least(values))), max(high, float(_greatest(values)))
                total += float(_total(values))
                square += _square(values)
        over = seen.size * times if seen is not array else 0
        counts = (zeros * times, nan * times, inf * times)
        if count == 0:
            return ("nan", "nan", "nan", "nan", "nan", *counts, None, over)
        mean = total / count
        variance = square / count - mean * mean
        if variance < 1e-4 * mean * mean:  # the difference has lost its digits
            variance = sum(float(np.square(_finite(part) - mean).sum()) for part in _parts(seen)) / count
    deviation, norm = math.sqrt(max(variance, 0.0)), math.sqrt(square * times)
    return (*(spoken(v) for v in (low, high, mean, deviation, norm)), *counts, None, over)  # type: ignore[return-value]


def _finite(values: Any) -> Any:
    wide = values.astype(np.float64)
    return wide[np.isfinite(wide)]


class Pooled:
    """A picture whose levels are worked out when it is sent: many in a row cost half of one between the program's
    own ops."""

    __slots__ = ("cells",)

    def __init__(self, cells: NDArray[np.float32]) -> None:
        self.cells = cells

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pooled) and self.said() == other.said()

    def __hash__(self) -> int:
        return hash(self.said())

    def said(self) -> Picture:
        """What the trace has for it."""
        cells = self.cells
        with np.errstate(all="ignore"):
            scale = float(_greatest(np.abs(cells), axis=None))
            if math.isfinite(scale):
                levels: Any = cells / (scale or 1.0)
                levels *= 127.0
            else:
                finite = np.isfinite(cells)
                scale = float(np.abs(cells[finite]).max(initial=0.0))
                levels = cells.astype(np.float64) / (scale or 1.0) * 127.0
                levels[~finite] = -128
            raw = np.rint(levels).astype(np.int8).tobytes()
        rows, columns = cells.shape
        return rows, columns, binascii.b2a_base64(raw, newline=False).decode(), scale


def picture(array: Array) -> Pooled | None:
    """A thumbnail of the last two axes; of very large slices every k-th element is pooled."""
    if array.ndim == 0 or array.size == 0:
        return None
    flat: Any = array[(0,) * (array.ndim - 2)] if array.ndim > 2 else array
    if flat.ndim == 1:
        flat = flat[None, :]
    height, width = flat.shape
    if height >= 2 * _POOLED or width >= 2 * _POOLED:
        flat = flat[:: max(1, height // _POOLED), :: max(1, width // _POOLED)]
        height, width = flat.shape
    rows, columns = min(_ROWS, height), min(_COLUMNS, width)
    with np.errstate(all="ignore"):
        if flat.dtype != np.float32:
            flat = (np.abs(flat) if flat.dtype.kind == "c" else flat).astype(np.float32)
        cells = flat.copy() if height == rows else np.dot(_means(height, rows), flat)
        if width != columns:
            cells = np.dot(cells, _means(width, columns).T)
        if not math.isfinite(np.vdot(cells, cells)) and not np.isfinite(cells).all():
            cells = _pool(
                _pool(flat, rows, 0), columns, 1
            ).copy()  # the products have spread it over cells where it is not
    return Pooled(cells)


@cache
def _means(size: int, parts: int) -> NDArray[np.float32]:
    """The matrix that takes the mean of each part of an axis."""
    edges, counts = _edges(size, parts)
    matrix = np.zeros((parts, size), np.float32)
    for row, (start, count) in enumerate(zip(edges.tolist(), counts.tolist(), strict=True)):
        matrix[row, start : start + int(count)] = 1 / count
    return matrix


def _pool(cells: NDArray[np.float32], parts: int, axis: int) -> NDArray[np.float32]:
    size = cells.shape[axis]
    if size == parts:
        return cells
    edges, counts = _edges(size, parts)
    sums: NDArray[np.float32] = np.add.reduceat(cells, edges, axis=axis)
    return sums / (counts[:, None] if axis == 0 else counts)


@cache
def _edges(size: int, parts: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Where each part of an axis begins, and how long it is."""
    edges = np.arange(parts, dtype=np.int64) * size // parts
    return edges, np.diff(np.append(edges, size)).astype(np.float32)


class RareFacts(msgspec.Struct, frozen=True, gc=False):
    """What most tensors do not have: the last fields of `TensorSeen`."""

    strides: tuple[int, ...] | None = None
    device: str = "cpu"
    layout: str = "strided"
    summary: Figures | None = None
    thumbnail: Pooled | None = None
    contents: Contents = "known"
    reason: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether all elements are known and lie side by side in the memory of the CPU."""
        return self.strides is None and self.device == "cpu" and self.layout == "strided" and self.contents == "known"


class TensorFacts(msgspec.Struct, frozen=True, gc=False):
    """What one look at a tensor gave: the fields of `TensorSeen` that come from the tensor itself."""

    shape: tuple[int, ...]
    dtype: str
    address: int
    """Where the storage begins."""
    size_bytes: int
    data: Data | None
    rest: RareFacts | None = None

    @property
    def summary(self) -> Figures | None:
        """Figures over the elements of a tensor that has too many to be said."""
        return None if self.rest is None else self.rest.summary

    def said(
        self, number: int, role: Role, storage: int, version: int, requires_grad: bool, node: int, output_nr: int,
        identity: int, base: int,
    ) -> TensorBrief:  # fmt: skip
        """The event of a tensor that looks so."""
        rest = self.rest
        if rest is None:
            return TensorBrief(
                number, role, self.shape, self.dtype, self.size_bytes, self.data, storage, version, requires_grad, node,
                output_nr, identity, base,
            )  # fmt: skip
        return TensorSeen(
            number, role, self.shape, self.dtype, self.size_bytes, self.data, storage, version, requires_grad, node,
            output_nr, identity, base, *astuple(rest),
        )  # fmt: skip


def unreadable(tensor: torch.Tensor) -> str:
    """Why a tensor's elements cannot be read; empty when they can."""
    if tensor.is_meta:
        return "a meta tensor has no memory"
    if is_fake(tensor):
        return "a fake tensor has no memory"
    if is_functorch_wrapped(tensor):
        return "inside torch.func"
    if tensor.is_nested:
        return "nested tensor"
    if is_functional_tensor(tensor):
        return "functional tensor"
    gone = tensor.layout is torch.strided and tensor.numel() and not tensor.data_ptr()
    return "its memory was given back" if gone else ""


def look(tensor: torch.Tensor, uninitialised: bool = False, like: TensorFacts | None = None) -> TensorFacts:
    """Everything a record needs, in a few microseconds for a small contiguous tensor.

    `like`: the look at a tensor it may be a permutation of, with the same memory and so the same figures."""
    try:
        kind = DTYPE_KINDS.get(tensor.dtype) or dtype_kind_of(tensor.dtype)
        plain = type(tensor) in _USUAL or not is_fake(tensor)
        if plain and kind.code and not uninitialised and tensor.is_contiguous() and tensor.is_cpu:
            count = tensor.numel()
            address = tensor.data_ptr()
            turned = tensor.is_neg() or (kind.parts == 2 and tensor.is_conj())
            if count <= INLINE and (address or count == 0):
                size = kind.size * kind.parts
                start = address - int(tensor.storage_offset()) * size if address else 0
                data = small_data(tensor, kind, count) if turned else _read(address, kind, count * kind.parts)
                return TensorFacts(tuple(tensor.shape), kind.name, start, count * size, data)
            if address and not turned:
                return _plain_look(tensor, kind, count, address, like)
    except Exception:  # functorch wrappers, subclasses without memory: the slower look says why
        pass
    return _long_look(tensor, uninitialised, like)


def _plain_look(
    tensor: torch.Tensor, kind: DtypeKind, count: int, address: int, like: TensorFacts | None
) -> TensorFacts:
    """The look at many elements that lie side by side."""
    shape, offset = tuple(tensor.shape), int(tensor.storage_offset())
    size_bytes = count * kind.size * kind.parts
    memory = (ctypes.c_char * size_bytes).from_address(address)
    array: Array = np.ndarray(shape, kind.numpy, memory)  # type: ignore[arg-type]
    said = None
    if (
        like is not None
        and not offset
        and like.address == address
        and like.size_bytes == size_bytes
        and like.dtype == kind.name
    ):
        said = like.summary
    start = address - offset * kind.size * kind.parts
    rest = RareFacts(summary=said or figures(array, False), thumbnail=picture(array))
    return TensorFacts(shape, kind.name, start, size_bytes, None, rest)


def _long_look(tensor: torch.Tensor, uninitialised: bool, like: TensorFacts | None = None) -> TensorFacts:
    shape: tuple[int, ...] = ()
    dtype, device, layout = str(tensor.dtype).removeprefix("torch."), "cpu", "strided"
    strides: tuple[int, ...] | None = None
    address = size = 0
    reason = ""
    try:
        device, layout = str(tensor.device), str(tensor.layout).removeprefix("torch.")
        shape = () if tensor.is_nested else tuple(int(n) for n in tensor.shape)
        if tensor._is_zerotensor():  # the derivative where there is none: zeros without memory
            return _contents(torch.zeros(shape, dtype=tensor.dtype), shape, dtype, 0, 0, None, "cpu")
        reason = unreadable(tensor)
        if not reason and tensor.layout is not torch.strided:
            dense = _contents(tensor.detach().to_dense(), shape, dtype, 0, 0, None, "cpu")
            thumbnail = None if dense.rest is None else dense.rest.thumbnail
            return TensorFacts(
                shape, dtype, 0, 0, dense.data, RareFacts(None, device, layout, dense.summary, thumbnail)
            )
        if not reason:
            strides = None if tensor.is_contiguous() else tuple(tensor.stride())
            size = extent(tensor) * tensor.element_size()
            address = start_of(tensor) if tensor.data_ptr() else 0
            if uninitialised:
                rest = RareFacts(strides, device, layout, contents="uninitialised")
                return TensorFacts(shape, dtype, address, size, None, rest)
            return _contents(tensor, shape, dtype, address, size, strides, device, like)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"[:200]
    rest = RareFacts(strides, device, layout, contents="unreadable", reason=reason)
    return TensorFacts(shape, dtype, address, size, None, rest)


def _contents(
    tensor: torch.Tensor, shape: tuple[int, ...], dtype: str, address: int, size: int,
    strides: tuple[int, ...] | None, device: str, like: TensorFacts | None = None,
) -> TensorFacts:  # fmt: skip
    count = tensor.numel()
    if device != "cpu":
        tensor = tensor.detach().cpu()
    if count <= INLINE:
        data = small_data(tensor, dtype_kind_of(tensor.dtype), count)
        placed = RareFacts(strides, device) if strides is not None or device != "cpu" else None
        return TensorFacts(shape, dtype, address, size, data, placed)
    array = as_array(tensor)
    whole = size == count * tensor.element_size() and tensor.storage_offset() == 0
    if like is not None and whole and like.address == address and like.size_bytes == size and like.dtype == dtype:
        said = like.summary
    else:
        said = None
    rest = RareFacts(strides, device, "strided", said or figures(array, False), picture(array))
    return TensorFacts(shape, dtype, address, size, None, rest)
