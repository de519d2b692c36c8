"""NumPy's file format, written and read in pages without NumPy."""

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from engine.trace import Number

_MAGIC = b"\x93NUMPY\x01\x00"
_CODES = {
    "bool": ("|b1", "?"),
    "uint8": ("|u1", "B"),
    "int8": ("|i1", "b"),
    "int16": ("<i2", "h"),
    "uint16": ("<u2", "H"),
    "int32": ("<i4", "i"),
    "uint32": ("<u4", "I"),
    "int64": ("<i8", "q"),
    "uint64": ("<u8", "Q"),
    "float16": ("<f2", "e"),
    "float32": ("<f4", "f"),
    "float64": ("<f8", "d"),
    "complex64": ("<c8", "ff"),
    "complex128": ("<c16", "dd"),
}
_LAST_EXACT = 2**53


@dataclass(frozen=True)
class ElementFormat:
    """How the elements of a dtype lie in a file."""

    descr: str
    """NumPy's name of it."""
    code: str
    """Its parts in the language of `struct`."""

    @property
    def size_bytes(self) -> int:
        return struct.calcsize("<" + self.code)


def element_format(dtype: str) -> ElementFormat | None:
    """How the elements of a PyTorch dtype lie; None for those NumPy does not have."""
    return ElementFormat(*_CODES[dtype]) if dtype in _CODES else None


def write(data: bytes, shape: Sequence[int], of: ElementFormat) -> bytes:
    """A file of little-endian elements in row-major order."""
    sizes = "".join(f"{size}, " for size in shape)
    header = f"{{'descr': '{of.descr}', 'fortran_order': False, 'shape': ({sizes}), }}"
    padded = header + " " * (-(len(_MAGIC) + 2 + len(header) + 1) % 64) + "\n"
    return _MAGIC + struct.pack("<H", len(padded)) + padded.encode() + data


def write_numbers(numbers: Sequence[Number], shape: Sequence[int], of: ElementFormat) -> bytes:
    """A file of the numbers as a trace holds them."""
    read_text = float if of.code[0] in "efd" else int
    values = [read_text(number) if isinstance(number, str) else number for number in numbers]
    return write(struct.pack(f"<{len(values)}{of.code[0]}", *values), shape, of)


def read(file: bytes, offset: int, count: int) -> tuple[tuple[Number, ...], int]:
    """Numbers `offset` to `offset + count` of a file made by `write`, as a trace holds them, and how many there are."""
    (length,) = struct.unpack_from("<H", file, len(_MAGIC))
    begin = len(_MAGIC) + 2 + length
    code = next(code for descr, code in _CODES.values() if f"'{descr}'".encode() in file[:begin])[0]
    size = struct.calcsize("<" + code)
    total = (len(file) - begin) // size
    found = max(0, min(count, total - offset))
    return tuple(map(_number, struct.unpack_from(f"<{found}{code}", file, begin + min(offset, total) * size))), total


def _number(value: float) -> Number:
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, int) and abs(value) > _LAST_EXACT:
        return str(value)
    return value
