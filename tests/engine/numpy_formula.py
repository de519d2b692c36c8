"""Formulas evaluated with NumPy: the second opinion on what a rule says."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from engine.rules.formula import Apply, Expr, Number, Symbol

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"


@dataclass(frozen=True)
class Setting:
    """What the symbols stand for, and the shape of the input whose gradient is asked for."""

    values: Mapping[str, Any]
    shape: tuple[int, ...]

    def evaluate(self, expr: Expr) -> Any:
        """The number or array a formula stands for."""
        match expr:
            case Symbol(name):
                return math.pi if name == "π" else self.values[name]
            case Number(value):
                return value
            case Apply(name, arguments):
                values = [self.evaluate(argument) for argument in arguments]
                if name in SHAPED:
                    return SHAPED[name](self.shape, *values)
                return PUTS[name](np.zeros(self.shape), *values) if name in PUTS else FUNCTIONS[name](*values)
        raise TypeError(expr)


def known_functions() -> frozenset[str]:
    """Functions this evaluator can compute."""
    return frozenset(FUNCTIONS) | frozenset(PUTS) | frozenset(SHAPED)


def sum_to(value: Any, shape: tuple[int, ...]) -> Any:
    """The sum over broadcast axes, as the engine does it on the edge."""
    value = np.asarray(value)
    if value.shape == shape:
        return value
    value = value.sum(axis=tuple(range(value.ndim - len(shape))))
    axes = tuple(axis for axis, size in enumerate(shape) if size == 1 and value.shape[axis] != 1)
    return value.sum(axis=axes, keepdims=True)


def _axes(dim: Any) -> Any:
    return dim if dim is None or isinstance(dim, int) else tuple(dim)


def _softmax(x: Array, dim: int) -> Any:
    e = np.exp(x - x.max(axis=dim, keepdims=True))
    return e / e.sum(axis=dim, keepdims=True)


def _sigmoid(x: Array) -> Any:
    return 1 / (1 + np.exp(-x))


_erf = np.vectorize(math.erf)


def _put(zeros: Array, g: Array, dim: int, index: int) -> Array:
    np.moveaxis(zeros, dim, 0)[index] = g
    return zeros


def _put_slice(zeros: Array, g: Array, dim: int, start: int, end: int, step: int = 1) -> Array:
    np.moveaxis(zeros, dim, 0)[start:end:step] = np.moveaxis(g, dim, 0)
    return zeros


def _put_add(zeros: Array, g: Array, index: Any) -> Array:
    np.add.at(zeros, index, g)
    return zeros


def _index_add(zeros: Array, g: Array, dim: int, index: Array) -> Array:
    np.add.at(np.moveaxis(zeros, dim, 0), index, np.moveaxis(g, dim, 0))
    return zeros


def _scatter(zeros: Array, g: Array, dim: int, index: Array) -> Array:
    if g.ndim < zeros.ndim:
        g, index = np.expand_dims(g, dim), np.expand_dims(index, dim)
    np.put_along_axis(zeros, index, g, dim)
    return zeros


def _prod_others(x: Array, dim: int | None = None) -> Array:
    """For each element the product of the others along the axis, or of all others."""
    if dim is None:
        return _prod_others(x.ravel(), 0).reshape(x.shape)
    each = [np.delete(x, at, dim).prod(axis=dim) for at in range(x.shape[dim])]
    return np.stack(each, axis=dim)


def _scatter_add(zeros: Array, g: Array, dim: int, index: Array) -> Array:
    places = np.indices(index.shape)
    places[dim] = index
    np.add.at(zeros, tuple(places), g)
    return zeros


def _one_hot(zeros: Array, target: Array) -> Array:
    (counted,) = np.nonzero(target >= 0)
    zeros[counted, target[counted]] = 1
    return zeros


def _pool_windows(zeros: Array, g: Array) -> Array:
    rows, columns = zeros.shape[-2] // g.shape[-2], zeros.shape[-1] // g.shape[-1]
    return np.kron(g, np.ones((rows, columns)))


def _sum_repeats(zeros: Array, g: Array, repeats: tuple[int, ...]) -> Array:
    for at in np.ndindex(*repeats):
        where = tuple(slice(i * size, (i + 1) * size) for i, size in zip(at, zeros.shape, strict=True))
        zeros += g[where]
    return zeros


def _conv_transpose(zeros: Array, g: Array, w: Array) -> Array:
    for i, j in np.ndindex(*g.shape[2:]):
        window = zeros[:, :, i : i + w.shape[2], j : j + w.shape[3]]
        window += np.einsum("no,ochw->nchw", g[:, :, i, j], w)
    return zeros


def _correlate(zeros: Array, x: Array, g: Array) -> Array:
    for i, j in np.ndindex(*g.shape[2:]):
        window = x[:, :, i : i + zeros.shape[2], j : j + zeros.shape[3]]
        zeros += np.einsum("no,nchw->ochw", g[:, :, i, j], window)
    return zeros


def _put_mask(zeros: Array, g: Array, mask: Array) -> Array:
    zeros[mask] = g
    return zeros


def _put_diagonal(zeros: Array, g: Array, offset: int) -> Array:
    rows = np.arange(len(g))
    zeros[rows, rows + offset] = g
    return zeros


def _block_sum(zeros: Array, g: Array) -> Array:
    rows, columns = g.shape[-2] // zeros.shape[-2], g.shape[-1] // zeros.shape[-1]
    blocks: Array = g.reshape(*zeros.shape[:-1], rows, zeros.shape[-1], columns)
    sums: Array = blocks.sum((-3, -1))
    return sums


def _zero_along(g: Array, dim: int, index: Array) -> Array:
    kept = g.copy()
    np.put_along_axis(kept, index, 0, dim)
    return kept


def _crop(g: Array, pad: tuple[int, ...]) -> Array:
    """`pad` holds before and after for each axis, the last axis first."""
    for axis, (before, after) in enumerate(zip(pad[::2], pad[1::2], strict=True), 1):
        g = np.take(g, range(before, g.shape[-axis] - after), axis=-axis)
    return g


def _expand(shape: tuple[int, ...], value: Array, axes: Any) -> Array:
    if np.ndim(value) < len(shape) and axes is not None:
        for axis in sorted(axis % len(shape) for axis in np.atleast_1d(axes)):
            value = np.expand_dims(value, axis)
    return np.broadcast_to(value, shape)


SHAPED: dict[str, Callable[..., Any]] = {
    "expand": _expand,
    "ones": lambda shape, _like: np.ones(shape),
    "zeros": lambda shape, _like: np.zeros(shape),
    "identity": lambda shape, _like: np.eye(*shape),
    "reshape": lambda shape, value: np.reshape(value, shape),
    "sum_to_shape": lambda shape, value: sum_to(value, shape),
}

PUTS: dict[str, Callable[..., Any]] = {
    "put": _put,
    "put_slice": _put_slice,
    "put_add": _put_add,
    "index_add": _index_add,
    "scatter": _scatter,
    "scatter_add": _scatter_add,
    "one_hot": _one_hot,
    "spread": _pool_windows,
    "sum_repeats": _sum_repeats,
    "conv_transpose": _conv_transpose,
    "correlate": _correlate,
    "put_mask": _put_mask,
    "put_diagonal": _put_diagonal,
    "block_sum": _block_sum,
}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "pow": np.power,
    "neg": np.negative,
    "matmul": np.matmul,
    "transpose": lambda a: np.swapaxes(a, -1, -2),
    "gt": np.greater,
    "ge": np.greater_equal,
    "lt": np.less,
    "le": np.less_equal,
    "eq": np.equal,
    "and": np.logical_and,
    "indicator": lambda condition: np.asarray(condition, dtype=float),
    "where": np.where,
    "clamp": np.clip,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "sign": np.sign,
    "sigmoid": _sigmoid,
    "normal_cdf": lambda x: (1 + _erf(x / math.sqrt(2))) / 2,
    "normal_pdf": lambda x: np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi),
    "softmax": _softmax,
    "total": lambda x, dim=None: np.sum(x, axis=_axes(dim), keepdims=dim is not None),
    "mean": lambda x, dim=None: np.mean(x, axis=_axes(dim), keepdims=dim is not None),
    "size": lambda x, dim=None: np.size(x) if dim is None else np.prod([x.shape[axis] for axis in np.atleast_1d(dim)]),
    "inverse": np.linalg.inv,
    "zero_along": _zero_along,
    "gather": lambda g, dim, index: np.take_along_axis(g, index, dim),
    "crop": _crop,
    "prod_others": _prod_others,
    "cumsum": np.cumsum,
    "reverse": np.flip,
    "outer": np.outer,
    "transpose_axes": np.swapaxes,
    "unpermute": lambda g, dims: np.transpose(g, np.argsort(dims)),
    "select": lambda g, dim, at: np.take(g, at, axis=dim),
    "piece": lambda g, start, end, dim: np.take(g, range(start, end), axis=dim),
    "roll": lambda g, by, dims=None: np.roll(g, by, dims),
    "floor": np.floor,
    "cat": lambda pieces, dim: np.concatenate(pieces, axis=dim),
    "stack": lambda pieces, dim: np.stack(pieces, axis=dim),
    "tril": np.tril,
    "triu": np.triu,
    "to": lambda g: g,
    "index_select": lambda g, dim, index: np.take(g, index, axis=dim),
    "index": lambda g, index: g[index],
    "zero_at": lambda g, index: np.where(np.isin(np.arange(len(g)), index)[:, None], 0, g),
    "count": np.size,
}
