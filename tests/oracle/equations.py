"""Reads the equations that the page shows, as a person would: the marks alone, with NumPy for the arithmetic.

Nothing of the page's own computing is used. A matrix of one row may be a vector or a matrix: a reader tries both."""

import itertools
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
CLOSE = 0.01
"""How far `≈` may be off."""
LEFTOVER = 1e-9
"""What arithmetic with floating-point numbers leaves of `=`."""
MOST_READINGS = 243


def holds(mathml: str) -> bool:
    """Whether what stands left of the last sign comes to what stands right of it."""
    tokens = list(_tokens(ET.fromstring(mathml)))
    at = max(number for number, token in enumerate(tokens) if token.text in ("=", "≈") and token.tag == "mo")
    left, right = tokens[:at], tokens[at + 1 :]
    in_result = sum(len(list(token.iter("mtable"))) for token in right)
    matrices = [table for part in (right, left) for token in part for table in token.iter("mtable")]
    ranks = [(2, 3) if len(matrix) > 1 else (1, 2, 3) for matrix in matrices if "columnalign" not in matrix.attrib]
    readings = itertools.islice(itertools.product(*ranks), MOST_READINGS)
    return any(
        _reading_holds(left, tokens[at].text or "", right, ranks[in_result:], ranks[:in_result]) for ranks in readings
    )


def terms_hold(text: str) -> bool:
    """The same of the equation of one cell: `1·4 + 2·(−5) = −6`, `max(1, 3) = 3`, `(1 + 2) / 2 = 1.5`, `0.5 − 2 = −1.5`; one
    with an ellipsis can't be read."""
    if "…" in text:
        return True
    left, sign, right = re.split(r" ([=≈]) ", text)
    value, size = _cell(left)
    result = np.array(_number(right))
    return _close(np.array(value), result, sign, slack=(0.002 if sign == "≈" else LEFTOVER) * size)


def _cell(text: str) -> tuple[float, float]:
    """What one side comes to, and the sum of the sizes of its terms."""
    if largest := re.fullmatch(r"max\((.*)\)", text):
        values = [_number(value) for value in largest[1].split(", ")]
        return max(values), 0
    if shared := re.fullmatch(r"\((.*)\) / (\d+)", text):
        value, size = _cell(shared[1])
        return value / int(shared[2]), size / int(shared[2])
    if " / " in text:
        above, below = (_number(factor.strip("()")) for factor in text.split(" / "))
        return above / below if below else math.nan, abs(above / below) if below else 0
    if " − " in text:
        terms = [_number(term.strip("()")) for term in text.split(" − ")]
        return terms[0] - sum(terms[1:]), sum(map(abs, terms))
    terms = [math.prod(_number(factor.strip("()")) for factor in term.split("·")) for term in text.split(" + ")]
    return sum(terms), sum(map(abs, terms))


def letters(mathml: str) -> set[str]:
    """Every letter in a formula, without the marks on it."""
    root = ET.fromstring(mathml)
    functions = {id(name) for name in _function_names(root)}
    found = {mi.text or "" for mi in root.iter("mi") if id(mi) not in functions and mi.text != "π"}
    return {text if re.fullmatch(r"[\w.]{2,}", text, re.ASCII) else text[0] for text in found}


def _function_names(root: ET.Element) -> Iterator[ET.Element]:
    """Names before an opening bracket, in subscripts' bases too: `exp(x)`, `put₁(g, 0)`."""
    for row in root.iter("mrow"):
        for name, following in itertools.pairwise(_tokens(row)):
            if following.text == "(" and following.tag == "mo":
                yield from [name] if name.tag == "mi" else list(name)[:1] if name.tag == "msub" else []


def _reading_holds(
    left: Sequence[ET.Element], sign: str, right: Sequence[ET.Element], ranks: Sequence[int], rank: Sequence[int]
) -> bool:
    with np.errstate(all="ignore"):
        try:
            result = _Reader(list(right), iter(rank), ()).whole()
            got = _Reader(list(left), iter(ranks), result.shape).whole()
        except (_Unread, ValueError, IndexError):
            return False
        bare = [tuple(size for size in value.shape if size != 1) for value in (got, result)]
        return bare[0] == bare[1] and _close(got.reshape(result.shape), result, sign)


def _close(got: Array, result: Array, sign: str, slack: float = 0) -> bool:
    with np.errstate(all="ignore"):
        allowed = (LEFTOVER if sign == "=" else CLOSE) * np.abs(result) + slack
        return bool(np.all((got == result) | (np.abs(got - result) <= allowed) | (np.isnan(got) & np.isnan(result))))


class _Unread(Exception):
    """A formula that this reader cannot read, or not in this way."""


def _tokens(element: ET.Element) -> Iterator[ET.Element]:
    """What stands beside each other: rows are no brackets, and words as `if` say nothing of numbers."""
    for child in element:
        if child.tag == "mrow":
            yield from _tokens(child)
        elif child.tag != "mtext":
            yield child


def _number(text: str) -> float:
    text = text.strip().replace("−", "-")
    named = {"True": 1.0, "False": 0.0, "…": math.nan, "NaN": math.nan, "+Inf": math.inf, "-Inf": -math.inf}
    return named[text] if text in named else float(text)


def _sigmoid(x: Array) -> Any:
    return 1 / (1 + np.exp(-x))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": np.exp,
    "ln": np.log,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "sign": np.sign,
    "floor": np.floor,
    "σ": _sigmoid,
    "outer": np.outer,
    "clamp": np.clip,
    "rows": lambda x: np.array(len(x)),
}


@dataclass
class _Reader:
    tokens: list[ET.Element]
    ranks: Iterator[int]
    """Axes of the matrices that are written in one row, in turn."""
    into: tuple[int, ...]
    """The shape of the result."""

    def whole(self) -> Array:
        value = self._condition()
        if self.tokens:
            raise _Unread(self.tokens[0].text)
        return np.asarray(value, dtype=float)

    def _inner(self, element: ET.Element) -> Array:
        tokens = list(_tokens(element)) if element.tag in ("mrow", "mtd") else [element]
        return _Reader(tokens, self.ranks, self.into).whole()

    def _next(self) -> str:
        return (self.tokens[0].text or "") if self.tokens and self.tokens[0].tag == "mo" else ""

    def _take(self, sign: str) -> None:
        if self._next() != sign:
            raise _Unread(f"no {sign}")
        self.tokens.pop(0)

    def _condition(self) -> Any:
        value = self._sum()
        signs: dict[str, Callable[..., Any]] = {
            ">": np.greater, "≥": np.greater_equal, "<": np.less, "≤": np.less_equal, "=": np.equal,
        }  # fmt: skip
        if self._next() in signs:
            compare = signs[self.tokens.pop(0).text or ""]
            value = compare(value, self._sum())
        if self._next() == "∧":
            self.tokens.pop(0)
            value = np.logical_and(value, self._condition())
        return value

    def _sum(self) -> Any:
        value = self._product()
        while self._next() in ("+", "−"):
            value = value + self._product() if self.tokens.pop(0).text == "+" else value - self._product()
        return value

    def _product(self) -> Any:
        value = self._signed()
        while self._next() in ("⊙", "·", "\u2062"):
            matrices = self.tokens.pop(0).text == "\u2062"
            factor = self._signed()
            value = np.matmul(value, factor) if matrices else value * factor
        return value

    def _signed(self) -> Any:
        if self._next() == "−":
            self.tokens.pop(0)
            return -self._signed()
        return self._atom()

    def _atom(self) -> Any:
        if not self.tokens:
            raise _Unread("nothing")
        token = self.tokens.pop(0)
        match token.tag, token.text:
            case "mn", ("𝟏" | "𝟎"):
                return np.full(self.into, 1.0 if token.text == "𝟏" else 0.0)
            case "mn", text:
                numbers = [_number(part) for part in (text or "").split(",")]
                return np.array(numbers if len(numbers) > 1 else numbers[0])
            case "mi", "π":
                return np.array(math.pi)
            case "mi", name:
                return self._called(name or "", None)
            case "mtable", _:
                return self._matrix(token)
            case "mfrac", _:
                return np.divide(*map(self._inner, token))
            case "msqrt", _:
                return np.sqrt(self._inner(token[0]))
            case "msup", _:
                return self._raised(*token)
            case "msub", _:
                return self._called(token[0].text or "", self._inner(token[1]))
            case "munder", _:
                axes = np.atleast_1d(self._inner(token[1])).astype(int)
                return np.sum(self._product(), axis=tuple(axes), keepdims=True)
            case "mo", "∑":
                return np.sum(self._product())
            case "mo", "{":
                return self._cases(self.tokens.pop(0))
            case "mo", ("(" | "[" | "|"):
                value = self._condition()
                self._take({"(": ")", "[": "]", "|": "|"}[token.text or ""])
                return np.abs(value) if token.text == "|" else np.asarray(value, dtype=float)
        raise _Unread(token.tag)

    def _matrix(self, table: ET.Element) -> Array:
        rows = np.array([[_number("".join(cell.itertext())) for cell in row] for row in table])
        rank = next(self.ranks)
        return rows[0] if rank == 1 else rows.reshape((1,) * (rank - 2) + rows.shape)

    def _cases(self, table: ET.Element) -> Any:
        first, last = table
        yes, condition, no = self._inner(first[0]), self._inner(first[1]), self._inner(last[0])
        return np.where(condition.astype(bool), yes, no)

    def _raised(self, base: ET.Element, power: ET.Element) -> Any:
        if base.tag == "mn" and not re.fullmatch(r"[\d.]+", base.text or ""):
            raise _Unread(f"{base.text} raised without brackets")
        value = self._inner(base)
        if "".join(power.itertext()) == "−1" and value.ndim > 1 and value.shape[-1] == value.shape[-2]:
            return np.linalg.inv(value)
        if power.text == "⊤":
            return np.swapaxes(value, -1, -2) if value.ndim > 1 else value
        return np.power(value, self._inner(power))

    def _called(self, name: str, at: Array | None) -> Any:
        self._take("(")
        arguments = [self._condition()]
        while self._next() == ",":
            self.tokens.pop(0)
            arguments.append(self._condition())
        self._take(")")
        axes = () if at is None else tuple(np.atleast_1d(at).astype(int))
        match name, arguments:
            case "reshape", [value]:
                return value.reshape(self.into)
            case "expand", [value]:
                wide = np.expand_dims(value, axes) if value.ndim < len(self.into) else value
                return np.broadcast_to(wide, self.into)
            case "reverse", [value]:
                return np.flip(value, axes)
            case "cumsum", [value]:
                return np.cumsum(value, axis=axes[0])
            case "piece", [value, start, end]:
                return np.take(value, range(int(start), int(end)), axis=axes[0])
            case "select", [value, along]:
                return np.take(value, axes[0], axis=int(along))
            case "roll", [value, by, along]:
                return np.roll(value, tuple(np.atleast_1d(by).astype(int)), tuple(np.atleast_1d(along).astype(int)))
            case "roll", [value, by]:
                return np.roll(value, tuple(np.atleast_1d(by).astype(int)) if axes else int(by), axes or None)
            case "put", [value, along]:
                zeros = np.zeros(self.into)
                np.moveaxis(zeros, int(along), 0)[axes[0]] = value
                return zeros
            case "mean", [value]:
                return np.mean(value, axis=axes or None, keepdims=True)
            case "size", [value]:
                return np.array(math.prod(value.shape[axis] for axis in axes))
        if name not in FUNCTIONS:
            raise _Unread(name)
        return FUNCTIONS[name](*arguments)
