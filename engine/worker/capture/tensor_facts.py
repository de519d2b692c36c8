"""A tensor's facts and contents, read from its memory so that neither autograd nor a user's mode sees the reading."""

import ctypes
import math
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec
import numpy as np
import torch
from msgspec.structs import astuple

from engine.events import Contents, Data, Figures, Role, TensorBrief, TensorSeen
from engine.trace import spoken
from engine.worker.capture.figures import Array, figures
from engine.worker.capture.pictures import Pooled, picture
from engine.worker.devices.labels import device_of, labelled
from engine.worker.pytorch.internals import is_functional_tensor, is_functorch_wrapped

INLINE = 256
"""Elements that are said in full."""

_EXACT_INTEGER = 2**53  # JavaScript's whole numbers end here


_Unpacker = Callable[["ctypes.Array[ctypes.c_char]", int], Data]


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
    unpack: dict[int, "_Unpacker"] = field(default_factory=dict)
    """What reads so many numbers out of memory."""


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
_MEMORY = (ctypes.c_char * sys.maxsize).from_address(0)
"""The memory of this process, by address: reading a place in it makes no object for that place."""


def dtype_kind_of(dtype: torch.dtype) -> DtypeKind:
    """Memory layout of a dtype's elements."""
    kind = DTYPE_KINDS.get(dtype)
    if kind is None:
        kind = DTYPE_KINDS[dtype] = _kind(dtype)
    return kind


def _unpacker(kind: DtypeKind, items: int) -> _Unpacker:
    unpack = kind.unpack[items] = struct.Struct(f"={items}{kind.code}").unpack_from
    return unpack


def _spoken(data: Data, kind: DtypeKind) -> Data:
    """Non-finite floats and whole numbers beyond 2**53 as the strings a trace has for them."""
    if kind.floating:
        return tuple(value if math.isfinite(value) else spoken(value) for value in data)  # type: ignore[arg-type]
    if kind.wide and data and (max(data) > _EXACT_INTEGER or min(data) < -_EXACT_INTEGER):  # type: ignore[operator]
        return tuple(str(value) if abs(value) > _EXACT_INTEGER else value for value in data)  # type: ignore[arg-type]
    return data


def version_of(tensor: torch.Tensor) -> int:
    """The version counter; of an inference tensor, which has none, how many writes were seen."""
    try:
        return tensor._version
    except RuntimeError:
        return getattr(tensor.untyped_storage(), _WRITES, 0)


def count_write(tensor: torch.Tensor) -> None:
    """Counts a write into an inference tensor, for all that lie in its memory."""
    setattr(tensor.untyped_storage(), _WRITES, version_of(tensor) + 1)


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
_WRITES = "_gradgraph_writes"
"""Attribute of a storage."""


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
    data = (kind.unpack.get(items) or _unpacker(kind, items))(_MEMORY, address) if items else ()
    if kind.floating and (total := sum(data)) - total == 0:  # type: ignore[arg-type]
        return data
    return _spoken(data, kind)


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

    def tells_the_same(self, other: "TensorFacts") -> bool:
        """Whether two looks at one tensor found the same contents."""
        return self.data == other.data and self.rest == other.rest

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
        unknown = uninitialised and tensor.numel() > 0
        if plain and kind.code and not unknown and tensor.is_contiguous() and tensor.is_cpu and not labelled:
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
    start = address - offset * kind.size * kind.parts
    said = None if offset else _known(like, address, size_bytes, kind.name)
    rest = RareFacts(summary=said or figures(array), thumbnail=picture(array))
    return TensorFacts(shape, kind.name, start, size_bytes, None, rest)


def _long_look(tensor: torch.Tensor, uninitialised: bool, like: TensorFacts | None = None) -> TensorFacts:
    shape: tuple[int, ...] = ()
    dtype, device, layout = str(tensor.dtype).removeprefix("torch."), "cpu", "strided"
    strides: tuple[int, ...] | None = None
    address = size = 0
    reason = ""
    try:
        device, layout = str(device_of(tensor)), str(tensor.layout).removeprefix("torch.")
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
    said = _known(like, address, size, dtype) if whole else None
    rest = RareFacts(strides, device, "strided", said or figures(array), picture(array))
    return TensorFacts(shape, dtype, address, size, None, rest)


def _known(like: TensorFacts | None, address: int, size_bytes: int, dtype: str) -> Figures | None:
    """The figures of a tensor with the same memory."""
    same = like is not None and (like.address, like.size_bytes, like.dtype) == (address, size_bytes, dtype)
    return like.summary if like is not None and same else None
