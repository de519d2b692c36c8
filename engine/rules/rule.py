"""One row of the table of derivative rules, and the letters rows are written with."""

import re
from collections.abc import Mapping

from engine.rules.formula import Apply, Expr, Letters, Symbol, call

g = Symbol("g")  # the gradient that enters
x = Symbol("self")
other = Symbol("other")
y = Symbol("result")
dim = Symbol("dim")
index = Symbol("index")
mask = Symbol("mask")
target = Symbol("target")
weight = Symbol("weight")
bias = Symbol("bias")
n = call("count", x)
alpha = Symbol("alpha")

UNARY: Letters = {"self": "x", "result": "y"}
BINARY: Letters = {"self": "a", "other": "b", "result": "c"}
LOSS: Letters = {"self": "x", "target": "t", "result": "ℓ", "weight": "w"}
LAYER: Letters = {"input": "x", "weight": "W", "bias": "b", "result": "y"}
GREEK: Letters = {"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "eps": "ε", "negative_slope": "α"}
YAML = "PyTorch 2.13, derivatives.yaml"
MANUAL = "PyTorch 2.13, FunctionsManual.cpp"
ENGINE = "PyTorch 2.13, autograd engine"


class Rule:
    """One row of the table; `only` names saved fields and the text they must have for the row to be true."""

    __slots__ = ("en", "forward", "id", "letters", "only", "slots", "source", "types", "zh")

    def __init__(
        self,
        types: str,
        forward: Expr,
        slots: Mapping[str, Expr],
        *,
        zh: str,
        en: str,
        letters: Letters = UNARY,
        source: str = MANUAL,
        variant: str = "",
        only: Mapping[str, str] | None = None,
    ) -> None:
        self.types = tuple(types.split())
        self.id = "_".join(filter(None, (_snake(_BACKWARD.sub("", self.types[0])), variant)))
        self.only = dict(only or {})
        self.forward = forward
        self.slots = dict(slots)
        self.zh = zh
        self.en = en
        self.letters: Letters = {**GREEK, **letters}
        self.source = source


_BACKWARD = re.compile(r"Backward(\d*)")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])")


def _snake(name: str) -> str:
    return _HUMP.sub("_", name).lower()


def f(name: str, *arguments: Expr | float) -> Apply:
    """A function in a formula."""
    return call(name, *arguments)


def holds(condition: Expr) -> Apply:
    """1 where the condition holds, 0 elsewhere."""
    return call("indicator", condition)
