"""Figures over the elements of a large array: exact up to 2**28 of them, and without a copy of the whole."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.events import Figures
from engine.trace import spoken

_AT_A_TIME = 8192
_ROW = 2048
_SWEPT = 262_144
_BUFFERED = 65_536
_WHOLE = 1 << 22
"""Elements of which a copy may be made."""
_MOST = 1 << 28
"""Elements that are looked at."""
_least, _greatest, _total = np.minimum.reduce, np.maximum.reduce, np.add.reduce  # the methods add a Python call to each

Array = NDArray[np.generic]


def figures(array: Array) -> Figures:
    """Figures over the finite elements; magnitudes for complex ones."""
    array, times = _once(array)
    seen = _sampled(array)
    low, high, total, square = math.inf, -math.inf, 0.0, 0.0
    zeros = nan = inf = count = 0
    with np.errstate(all="ignore"):
        for part in _parts(seen):
            values, squares = part, _square(part)
            if not math.isfinite(squares):
                nan += int(np.count_nonzero(np.isnan(part)))
                inf += int(np.count_nonzero(np.isinf(part)))
                values = _finite(part)
                squares = _square(values)
            if values.size:
                least, greatest = float(_least(values)), float(_greatest(values))
                if least <= 0 <= greatest:  # four times as fast as counting the others
                    zeros += int(np.count_nonzero(values == 0))
                low, high = min(low, least), max(high, greatest)
                count += values.size
                total += _sum(values)
                square += squares
        over = seen.size * times if seen is not array else 0
        counts = zeros * times, nan * times, inf * times, over
        if count == 0:
            return ("nan", "nan", "nan", "nan", "nan", *counts)
        mean = total / count
        variance = square / count - mean * mean
        if variance < 1e-4 * mean * mean:  # the difference has lost its digits
            variance = sum(float(np.square(_finite(part) - mean).sum()) for part in _parts(seen)) / count
    deviation, norm = math.sqrt(max(variance, 0.0)), math.sqrt(square * times)
    return spoken(low), spoken(high), spoken(mean), spoken(deviation), spoken(norm), *counts


def _parts(array: Array) -> Iterator[Any]:
    """All elements in stretches that fit the processor's cache, as floats, in whatever order memory has them."""
    for part in _flat(array) if array.size <= _WHOLE else _buffered(array):
        values: Any = np.abs(part) if part.dtype.kind == "c" else part
        yield values if values.dtype.kind == "f" and values.dtype.itemsize > 2 else values.astype(np.float64)


def _flat(array: Array) -> Iterator[Any]:
    flat = array.reshape(-1) if array.flags.c_contiguous else array.ravel(order="K")  # a copy costs more
    for start in range(0, flat.size, _SWEPT):
        yield flat[start : start + _SWEPT]


def _buffered(array: Array) -> Any:
    return np.nditer(array, flags=["external_loop", "buffered", "zerosize_ok"], order="K", buffersize=_BUFFERED)


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


def _finite(values: Any) -> Any:
    wide = values.astype(np.float64)
    return wide[np.isfinite(wide)]
