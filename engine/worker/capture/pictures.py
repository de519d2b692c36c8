"""A small picture of a large array."""

import binascii
import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.events import Picture
from engine.worker.capture.figures import Array

_ROWS, _COLUMNS, _POOLED = 8, 16, 64


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
            scale = float(np.maximum.reduce(np.abs(cells), axis=None))
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
    """A thumbnail of the last two axes that are longer than 1; of very large slices every k-th element is pooled."""
    if array.ndim == 0 or array.size == 0:
        return None
    plane: Any = array.squeeze() if array.ndim > 2 else array
    flat = np.atleast_2d(plane[(0,) * (plane.ndim - 2)] if plane.ndim > 2 else plane)
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
