"""Formulas as small typed trees: written with Python's own operators, shown as MathML."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Expr:
    """A formula; `+ - * / ** @` and unary minus build larger ones."""

    def __add__(self, other: "Expr | float") -> "Apply":
        return Apply("add", (self, _expr(other)))

    def __radd__(self, other: float) -> "Apply":
        return Apply("add", (_expr(other), self))

    def __sub__(self, other: "Expr | float") -> "Apply":
        return Apply("sub", (self, _expr(other)))

    def __rsub__(self, other: float) -> "Apply":
        return Apply("sub", (_expr(other), self))

    def __mul__(self, other: "Expr | float") -> "Apply":
        return Apply("mul", (self, _expr(other)))

    def __rmul__(self, other: float) -> "Apply":
        return Apply("mul", (_expr(other), self))

    def __truediv__(self, other: "Expr | float") -> "Apply":
        return Apply("div", (self, _expr(other)))

    def __rtruediv__(self, other: float) -> "Apply":
        return Apply("div", (_expr(other), self))

    def __pow__(self, other: "Expr | float") -> "Apply":
        return Apply("pow", (self, _expr(other)))

    def __matmul__(self, other: "Expr") -> "Apply":
        return Apply("matmul", (self, other))

    def __neg__(self) -> "Apply":
        return Apply("neg", (self,))

    def __gt__(self, other: "Expr | float") -> "Apply":
        return Apply("gt", (self, _expr(other)))

    def __ge__(self, other: "Expr | float") -> "Apply":
        return Apply("ge", (self, _expr(other)))

    def __lt__(self, other: "Expr | float") -> "Apply":
        return Apply("lt", (self, _expr(other)))

    def __le__(self, other: "Expr | float") -> "Apply":
        return Apply("le", (self, _expr(other)))

    @property
    def T(self) -> "Apply":  # noqa: N802
        """The transpose of a matrix."""
        return Apply("transpose", (self,))


@dataclass(frozen=True)
class Symbol(Expr):
    """A named quantity: `g` the gradient that enters, an input by its slot, a saved field, `result`."""

    name: str


@dataclass(frozen=True)
class Number(Expr):
    """A plain number."""

    value: float


@dataclass(frozen=True)
class Apply(Expr):
    """A function of formulas."""

    function: str
    arguments: tuple[Expr, ...]


def call(function: str, *arguments: Expr | float) -> Apply:
    """A function applied by name."""
    return Apply(function, tuple(map(_expr, arguments)))


def _expr(value: Expr | float) -> Expr:
    return value if isinstance(value, Expr) else Number(value)


Letters = Mapping[str, str]
"""How each symbol is written."""

_SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(1, 6)
_LEVEL = {
    "add": _SUM, "sub": _SUM, "mul": _PRODUCT, "div": _PRODUCT, "matmul": _PRODUCT, "neg": _SIGN, "pow": _POWER,
    "transpose": _POWER, "inverse": _POWER, "total": _PRODUCT, "prod_others": _PRODUCT,
    "gt": 0, "ge": 0, "lt": 0, "le": 0, "eq": 0, "and": 0,
}  # fmt: skip
_SIGNS = {
    "add": "+", "sub": "−", "mul": "⊙", "matmul": "\u2062", "gt": ">", "ge": "≥", "lt": "<", "le": "≤", "eq": "=",
    "and": "∧",
}  # fmt: skip
_NAMED = {"log": "ln", "sigmoid": "σ", "normal_cdf": "Φ", "normal_pdf": "φ", "maximum": "max", "minimum": "min"}
SUBSCRIPTED = frozenset({
    "mean", "max", "min", "expand", "softmax", "cumsum", "select", "scatter", "gather", "permute",
    "stack", "cat", "split", "std", "var", "unsqueeze", "reverse", "size", "put", "put_add", "piece",
    "index", "index_select", "index_add", "scatter_add", "unpermute", "repeat", "sum_repeats",
    "prod", "cumprod", "zero_along", "put_mask", "put_diagonal", "crop", "pad", "masked_select",
})  # fmt: skip
"""Functions whose last argument says along which axis or at which index."""


Terms: TypeAlias = str | float | list[Any]
"""A formula to compute with: a symbol's name, a number, or a function's name followed by its arguments, which are such
formulas; a schema knows no type that holds itself."""


def mathml(expr: Expr, letters: Letters) -> str:
    """Presentation MathML without the outer `<math>`; each symbol is a place for another letter or for numbers."""
    return _Writer(letters).write(expr)


def terms(expr: Expr) -> Terms:
    """The formula itself, for whoever computes with it."""
    match expr:
        case Symbol(name):
            return name
        case Number(value):
            return value
        case Apply("count", _):
            return "n"
        case Apply(function, arguments):
            return [function, *map(terms, arguments)]
    raise TypeError(f"not a formula: {expr!r}")


def equation(left: str, right: str) -> str:
    """Two pieces of MathML joined by an equals sign."""
    return f'<mrow>{left}<mrow><mo form="infix">=</mo>{right}</mrow></mrow>'


def symbol(letter: str, name: str = "") -> str:
    """A letter as MathML, `x̂` or `W` alike; more than one character is written upright. With a name it is a place."""
    upright = ' mathvariant="normal"' if len(letter) > 1 and letter.isascii() else ""
    place = f' data-slot="{escape(name)}"' if name else ""
    return f"<mi{place}{upright}>{escape(letter)}</mi>"


class _Writer:
    def __init__(self, letters: Letters) -> None:
        self._letters = letters

    def write(self, expr: Expr) -> str:
        match expr:
            case Symbol(name):
                return symbol(self._letters.get(name, name), name)
            case Number(value):
                return f"<mn>{_number(value)}</mn>"
            case Apply(function, arguments):
                special = _SPECIAL.get(function)
                return special(self, arguments) if special is not None else self._plain_call(function, arguments)
        raise TypeError(f"not a formula: {expr!r}")

    def inside(self, expr: Expr, level: int) -> str:
        """A part, in brackets when it binds less tightly than its surroundings."""
        text = self.write(expr)
        return f'<mrow class="brackets"><mo>(</mo>{text}<mo>)</mo></mrow>' if _level(expr) < level else text

    def infix(self, function: str, arguments: tuple[Expr, ...]) -> str:
        level = _LEVEL[function]
        left = self.inside(arguments[0], level)
        right = self.inside(arguments[1], level + (1 if function in ("sub", "matmul") else 0))
        sign = (
            "·"
            if function == "mul" and any(isinstance(argument, Number) for argument in arguments)
            else _SIGNS[function]
        )
        # A sign and what follows it stay together where a line breaks.
        return f'<mrow>{left}<mrow><mo form="infix">{escape(sign)}</mo>{right}</mrow></mrow>'

    def _plain_call(self, function: str, arguments: tuple[Expr, ...]) -> str:
        if function in _SIGNS:
            return self.infix(function, arguments)
        name = symbol(_NAMED.get(function, function))
        if function in SUBSCRIPTED and len(arguments) > 1:
            *arguments_list, at = arguments
            name = f"<msub>{name}{self.write(at)}</msub>"
            arguments = tuple(arguments_list)
        inner = "<mo>,</mo>".join(map(self.write, arguments))
        return f'<mrow>{name}<mrow class="brackets"><mo>(</mo>{inner}<mo>)</mo></mrow></mrow>'

    def fraction(self, arguments: tuple[Expr, ...]) -> str:
        return f"<mfrac>{self.write(arguments[0])}{self.write(arguments[1])}</mfrac>"

    def power(self, arguments: tuple[Expr, ...]) -> str:
        return f"<msup>{self.inside(arguments[0], _ATOM)}{self.write(arguments[1])}</msup>"

    def cases(self, arguments: tuple[Expr, ...]) -> str:
        condition, yes, no = map(self.write, arguments)
        cases = ((yes, f"<mtext>if\u00a0</mtext>{condition}"), (no, "<mtext>else</mtext>"))
        rows = "".join(f"<mtr><mtd>{value}</mtd><mtd><mrow>{when}</mrow></mtd></mtr>" for value, when in cases)
        return f'<mrow class="fence"><mo>{{</mo><mtable columnalign="left">{rows}</mtable></mrow>'

    def fenced(self, left: str, arguments: tuple[Expr, ...], right: str) -> str:
        return f'<mrow class="fence"><mo>{left}</mo>{self.write(arguments[0])}<mo>{right}</mo></mrow>'

    def total(self, arguments: tuple[Expr, ...]) -> str:
        under = f"<munder><mo>∑</mo>{self.write(arguments[1])}</munder>" if len(arguments) > 1 else "<mo>∑</mo>"
        return f"<mrow>{under}{self.inside(arguments[0], _SIGN)}</mrow>"


_SPECIAL: dict[str, Callable[[_Writer, tuple[Expr, ...]], str]] = {
    "div": _Writer.fraction,
    "pow": _Writer.power,
    "where": _Writer.cases,
    "total": _Writer.total,
    "neg": lambda writer, arguments: f"<mrow><mo>−</mo>{writer.inside(arguments[0], _SIGN)}</mrow>",
    "sqrt": lambda writer, arguments: f"<msqrt>{writer.write(arguments[0])}</msqrt>",
    "transpose": lambda writer, arguments: f"<msup>{writer.inside(arguments[0], _ATOM)}<mo>⊤</mo></msup>",
    "abs": lambda writer, arguments: writer.fenced("|", arguments, "|"),
    "norm2": lambda writer, arguments: writer.fenced("‖", arguments, "‖"),
    "indicator": lambda writer, arguments: writer.fenced("[", arguments, "]"),
    "ones": lambda _writer, _arguments: "<mn>𝟏</mn>",
    "zeros": lambda _writer, _arguments: "<mn>𝟎</mn>",
    "identity": lambda _writer, _arguments: "<mi>𝐈</mi>",
    "inverse": lambda writer, arguments: (
        f"<msup>{writer.inside(arguments[0], _ATOM)}<mrow><mo>−</mo><mn>1</mn></mrow></msup>"
    ),
    "prod_others": lambda writer, arguments: (
        f"<mrow><munder><mo>∏</mo><mo>≠</mo></munder>{writer.inside(arguments[0], _ATOM)}</mrow>"
    ),
    "count": lambda writer, _arguments: writer.write(Symbol("n")),
}


def _level(expr: Expr) -> int:
    match expr:
        case Number(value):
            return _SIGN if value < 0 else _ATOM
        case Apply(function, _):
            return _LEVEL.get(function, _ATOM)
    return _ATOM


def _number(value: float) -> str:
    return f"{value:g}".replace("-", "−")
