"""One row of facts for each op, read out of the table."""

import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from engine.ops.table import ROWS


class Facts(Struct, frozen=True):
    """What is known of one op; what is not said is not known."""

    name: str
    family: str = "op"
    """The icon of its box."""
    in_place: bool = False
    """There is a twin with `_` behind its name that writes into the first argument."""
    updates: bool = False
    """Where it writes into its argument, it computes with what was there."""
    fills: bool = False
    """Writes all of its first argument and reads none of it."""
    sets: bool = False
    """Where it writes into its argument, it writes a part and does not read what it writes over."""
    writes_silently: bool = False
    """Its kernel writes what no `_` tells of, and may raise no version: running statistics, gradients a GradScaler made
    larger."""
    view: bool = False
    """Its result may lie in the memory of its first argument."""
    broadcasts: bool = False
    """Stretches its tensors to one shape."""
    promotes: bool = False
    """Brings its tensors to one dtype."""
    compares: bool = False
    """Gives truth values."""
    joins: bool = False
    """Takes a list of tensors."""
    numbers: bool = False
    """Plain numbers among its arguments are operands, not sizes or axes."""
    property: bool = False
    """Is read as an attribute."""
    detaches: bool = False
    """Gives the same values without their history."""
    copies: bool = False
    """Makes a tensor of numbers, arrays or other tensors."""
    makes_leaf: bool = False
    """Makes a tensor, and takes `requires_grad=True`."""
    like: bool = False
    """Looks at the form of a tensor and not at its values."""
    uninitialised: bool = False
    """Gives memory that nothing was written into."""
    moves: bool = False
    """May bring a tensor to another device."""
    reads: bool = False
    """Hands values out to Python or NumPy."""
    lends: bool = False
    """Shares memory with code that PyTorch does not see."""
    passes: bool = False
    """Runs autograd's engine."""


INHERITED = ("broadcasts", "promotes", "detaches", "sets", "numbers")
"""What holds of the twin that writes into its argument as well."""


def _read(family: str, rows: str) -> Iterator[Facts]:
    """The rows of a family; one is indented further where it goes on from the line before."""
    for row in re.sub(r"\n {12}", " ", rows).strip().splitlines():
        names, _, traits = row.partition(":")
        for name in names.split():
            yield Facts(name, family, **dict.fromkeys(traits.split(), True))


FACTS = {facts.name: facts for family, rows in ROWS.items() for facts in _read(family, rows)}
"""By name."""

_FAMILY = {name.replace("_", "").lower(): facts.family for name, facts in FACTS.items()}
_BACKWARD = re.compile(r"Backward\d*[A-Za-z]*$")


@lru_cache(maxsize=4096)  # programs name Functions of their own
def family_of(name: str) -> str:
    """The icon for a node type (`MulBackward0`) or an op name (`mul_`, `layer_norm`)."""
    return _FAMILY.get(_BACKWARD.sub("", name).replace("_", "").lower(), "op")


def named(trait: str) -> frozenset[str]:
    """The ops that have a trait, their twins among them where those inherit it."""
    ops = [facts for facts in FACTS.values() if getattr(facts, trait)]
    twins = [f"{facts.name}_" for facts in ops if facts.in_place] if trait in INHERITED else []
    return frozenset([*(facts.name for facts in ops), *twins])


def out_of_place(name: str) -> str:
    """What an op is called where it writes into nothing: `add` of `add_`, and of `_foreach_add_`, for a list."""
    return name.removesuffix("_").removeprefix("_foreach_")
