"""Which gradients PyTorch sums over broadcast axes before they leave a node, though no node of the graph says so.

A derivative formula gives the gradient in the shape that the inputs were stretched to; the engine then sums it to the
shape of the input (`validate_outputs` in torch/csrc/autograd/engine.cpp, 2.13). Formulas that sum by themselves, such
as those of `expand`, `layer_norm`'s weight or `masked_fill`'s value, are not listed.
"""

import re
from functools import lru_cache

_EVERY = frozenset(range(3))
_FIRST, _SECOND = frozenset((0,)), frozenset((1,))
_SLOTS = {
    **dict.fromkeys("""
        Add Sub Rsub Mul Div Pow Maximum Minimum Fmax Fmin Atan2 Remainder Fmod Hypot Logaddexp Logaddexp2 Xlogy Where
        Lerp Addcmul Addcdiv Clamp ClampMin ClampMax Complex Polar SpecialXlog1Py SpecialZeta Igamma Igammac LinalgCross
    """.split(), _EVERY),
    **dict.fromkeys("Addmm Addmv Addr Addbmm Baddbmm MaskedFill MaskedScatter Copysign".split(), _FIRST),
    **dict.fromkeys("PreluKernel LinalgSolveEx LinalgSolveTriangular".split(), _SECOND),
}  # fmt: skip
"""By what precedes `Backward` in a node's type: the slots whose gradient has the shape of the op's output."""
_TYPE = re.compile(r"(?P<foreach>Foreach)?(?P<name>\w+?)Backward\d*\w*")
_IN_PLACE = frozenset(("add_", "sub_", "mul_", "div_", "pow_", "copy_", "addcmul_", "addcdiv_", "lerp_", "rsub_"))

Shape = tuple[int, ...]


@lru_cache(maxsize=4096)
def _slots(node_type: str) -> tuple[frozenset[int], bool] | None:
    """The slots, and whether they are those of a list of tensors."""
    if node_type == "CopyBackwards":
        return _SECOND, False
    named = _TYPE.fullmatch(node_type)
    slots = _SLOTS.get(named["name"]) if named is not None else None
    return None if slots is None or named is None else (slots, named["foreach"] is not None)


def may_sum(node_type: str) -> bool:
    """Whether any slot of such a node can be summed, asked before shapes are looked up."""
    return node_type == "CopySlices" or _slots(node_type) is not None


def shape_before(
    node_type: str, slot: int, outputs: tuple[Shape, ...], written: tuple[str, Shape] | None
) -> Shape | None:
    """Shape of the gradient that a node's formula gives for a slot; None where the formula has a shape of its own.

    `written`: for a write into a view (`CopySlices`) the name of the op and the shape of that view."""
    if node_type == "CopySlices":
        return written[1] if written is not None and slot > 0 and written[0] in _IN_PLACE else None
    known = _slots(node_type)
    if known is None or not outputs:
        return None
    slots, of_list = known
    if of_list:
        return outputs[slot % len(outputs)]
    return outputs[0] if slot in slots else None


def summed_axes(before: Shape, after: Shape) -> tuple[int, ...]:
    """The axes along which `after` was stretched to `before`; empty when broadcasting does not lead from one to the
    other."""
    missing = len(before) - len(after)
    if missing < 0:
        return ()
    axes = list(range(missing))
    for axis, size in enumerate(after, missing):
        if size != before[axis]:
            if size != 1:
                return ()
            axes.append(axis)
    return tuple(axes)
