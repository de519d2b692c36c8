"""Two runs beside each other: what corresponds, what differs, and where they part. Pure, linear in the two traces."""

from engine.compare.types import (
    FORMAT,
    Comparison,
    Difference,
    Named,
    OpPair,
    Plain,
    Printed,
    SameLines,
    Side,
    Split,
)
from engine.compare.view import compare

__all__ = [
    "FORMAT",
    "Comparison",
    "Difference",
    "Named",
    "OpPair",
    "Plain",
    "Printed",
    "SameLines",
    "Side",
    "Split",
    "compare",
]
