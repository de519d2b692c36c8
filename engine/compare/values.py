"""How the values of two tensors compare."""

import math
import operator
from collections.abc import Sequence

from engine.compare.types import Difference
from engine.trace import Number, Summary, Tensor

_ROUNDING = {
    "float64": 16 * 2**-52,
    "complex128": 16 * 2**-52,
    "float32": 16 * 2**-23,
    "complex64": 16 * 2**-23,
    "float16": 2 * 2**-10,
    "complex32": 2 * 2**-10,
    "bfloat16": 2 * 2**-7,
}
"""Share of the largest magnitude up to which a difference is called rounding, in the dtype's own steps (`eps`):
sixteen, as sums in another order make; two in the short types, whose sums are made in float32 and rounded once."""

SAME = Difference(verdict="same")
UNKNOWN = Difference(verdict="unknown")


def difference(here: Tensor, there: Tensor) -> Difference:
    """How two tensors compare."""
    if here.shape != there.shape:
        return Difference(verdict="shape")
    share = max(_ROUNDING.get(here.dtype, 0.0), _ROUNDING.get(there.dtype, 0.0))
    if here.data is not None and there.data is not None:
        found = SAME if here.data == there.data else _of_elements(here.data, there.data, share)
    elif here.summary is not None and there.summary is not None:
        found = _of_figures(here.summary, there.summary, share)
    else:
        found = UNKNOWN
    if here.dtype == there.dtype:
        return found
    return Difference(verdict="dtype", largest=found.largest, relative=found.relative, figures=found.figures)


def alike(found: Difference) -> bool:
    """Whether nothing is known to differ beyond rounding."""
    return found.verdict in ("same", "rounding", "unknown")


def _of_elements(here: Sequence[Number], there: Sequence[Number], share: float) -> Difference:
    try:
        gap = float(max(map(abs, map(operator.sub, there, here))))
        size = float(max(*map(abs, here), *map(abs, there)))  # type: ignore[arg-type]
    except TypeError:  # some are no numbers in JSON
        return _of_any(list(map(_number, here)), list(map(_number, there)), share)
    return _judged(gap, size, share)


def _number(told: Number) -> float:
    """A number that may have been told as text: `nan`, `-inf`, a whole number beyond 2**53."""
    return int(told) if isinstance(told, str) and told.lstrip("-").isdigit() else float(told)


def _of_any(here: Sequence[float], there: Sequence[float], share: float) -> Difference:
    """The same where some are not finite: two NaN, or two infinities of one sign, are the same."""
    gap = size = 0.0
    for a, b in zip(here, there, strict=True):
        if a == b or (math.isnan(a) and math.isnan(b)):
            continue
        if not (math.isfinite(a) and math.isfinite(b)):
            kind = "nan" if math.isnan(a) or math.isnan(b) else "inf"
            return Difference(verdict="differs", largest=kind, relative=kind)
        gap = max(gap, abs(b - a))
    finite = [abs(number) for number in (*here, *there) if math.isfinite(number)]
    size = max(finite, default=0.0)
    return _judged(gap, size, share)


def _judged(gap: float, size: float, share: float) -> Difference:
    if gap == 0:
        return SAME  # 1 and 1.0, 0.0 and −0.0
    if math.isinf(gap):
        return Difference(verdict="differs", largest="inf", relative="inf")
    relative = gap / size
    return Difference(verdict="rounding" if relative <= share else "differs", largest=gap, relative=relative)


def _of_figures(here: Summary, there: Summary, share: float) -> Difference:
    """Figures say that tensors differ, or that they may be the same."""
    if (here.nan, here.inf) != (there.nan, there.inf):
        return Difference(verdict="differs", figures=True)
    sizes = [abs(float(end)) for side in (here, there) for end in (side.min, side.max)]
    known = [size for size in sizes if math.isfinite(size)]
    spread = max(known, default=0.0)
    norm = max(float(here.norm), float(there.norm))
    worst = 0.0
    for field, scale in (("min", spread), ("max", spread), ("mean", spread), ("std", spread), ("norm", norm)):
        a, b = float(getattr(here, field)), float(getattr(there, field))
        if a == b or (math.isnan(a) and math.isnan(b)):
            continue
        worst = max(worst, abs(b - a) / scale if math.isfinite(a) and math.isfinite(b) and scale else math.inf)
    return Difference(verdict="same" if worst == 0 else "rounding" if worst <= share else "differs", figures=True)
