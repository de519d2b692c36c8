"""The dtype in which an op computed, where its operands had different ones.

The rules are those of `torch.result_type` (`update_result_type_state` and `combine_categories` in
ATen/native/TypeProperties.cpp, `promoteTypes` in c10/core/ScalarType.cpp, 2.13)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations_with_replacement

import msgspec

from engine.ops import COMPARING, DIVIDING, JOINING, PROMOTING
from engine.trace import Argument, Op, PromotedOperand, Promotion, Tensor

_OTHERS = ("alpha", "rounding_mode", "dim")
_NUMBER = re.compile(r"True|False|-?(\d+|(\d+\.\d*|\d+(?=e))(e[-+]?\d+)?|inf|nan)|-?[\d.e+]+j|\([-+\d.einfa]+j\)")
_BOOL = "bool"
_INTS = ("uint8", "int8", "int16", "int32", "int64")
_FLOATS = ("float16", "bfloat16", "float32", "float64")
_COMPLEX = {"float16": "complex32", "float32": "complex64", "bfloat16": "complex64", "float64": "complex128"}
_CATEGORIES = {_BOOL: 0, **dict.fromkeys(_INTS, 1), **dict.fromkeys(_FLOATS, 2), **dict.fromkeys(_COMPLEX.values(), 3)}


def category(dtype: str) -> int | None:
    """0 bool, 1 whole numbers, 2 floating point, 3 complex; None for the dtypes that do not promote."""
    return _CATEGORIES.get(dtype)


def _wider(first: str, second: str) -> str:
    """Of two dtypes of one category the one that holds both."""
    if first == second:
        return first
    if {first, second} == {"uint8", "int8"}:
        return "int16"
    if {first, second} == {"float16", "bfloat16"}:
        return "float32"
    order = (*_INTS, *_FLOATS, *_COMPLEX.values())
    return max(first, second, key=order.index)


def _promote(first: str, second: str) -> str:
    lower, higher = sorted((first, second), key=lambda dtype: _CATEGORIES[dtype])
    if _CATEGORIES[lower] == _CATEGORIES[higher]:
        return _wider(lower, higher)
    if _CATEGORIES[higher] == 3 and _CATEGORIES[lower] == 2:
        return _wider(_COMPLEX[lower], higher)
    return higher


PROMOTED: dict[tuple[str, str], str] = {
    ordered: _promote(*pair) for pair in combinations_with_replacement(_CATEGORIES, 2) for ordered in (pair, pair[::-1])
}
"""`torch.promote_types` of two dtypes."""


def _combined(higher: str | None, lower: str | None) -> str | None:
    """What tensors with axes, or without, make of what ranks below them: within a category that changes nothing."""
    if higher is None or lower is None:
        return higher or lower
    if _CATEGORIES[higher] == 2:
        return _COMPLEX[higher] if _CATEGORIES[lower] == 3 else higher
    if _CATEGORIES[higher] == 0 or (_CATEGORIES[higher] == 1 and _CATEGORIES[lower] > 1):
        return PROMOTED[higher, lower]
    return higher


def result_type(operands: Iterable[PromotedOperand]) -> str | None:
    """The dtype that operands are brought to; None when one has a dtype that does not promote."""
    ranks: dict[str, str | None] = {"tensor": None, "zero_dim": None, "number": None}
    for operand in operands:
        if category(operand.dtype) is None:
            return None
        known = ranks[operand.kind]
        ranks[operand.kind] = operand.dtype if known is None else PROMOTED[known, operand.dtype]
    return _combined(ranks["tensor"], _combined(ranks["zero_dim"], ranks["number"]))


def with_promotions(ops: tuple[Op, ...], tensors: Mapping[str, Tensor]) -> tuple[Op, ...]:
    """The ops, those whose operands had different dtypes with the one they computed in."""
    mixed = len({tensor.dtype for tensor in tensors.values()}) > 1
    names = PROMOTING if mixed else COMPARING  # among tensors of one dtype, only what numbers are compared with
    candidates = [op for op in ops if op.name in names and op.inputs and not op.raised]
    if not candidates:
        return ops
    found = {
        op.id: promotion
        for op in candidates
        if not _has_one_dtype(op, tensors) and (promotion := _promotion(op, tensors)) is not None
    }
    return (
        tuple(msgspec.structs.replace(op, promotion=found[op.id]) if op.id in found else op for op in ops)
        if found
        else ops
    )


def _has_one_dtype(op: Op, tensors: Mapping[str, Tensor]) -> bool:
    """Whether what went in and came out has one dtype, as nearly always: nothing was promoted then, not even by a
    number, unless that was compared with."""
    made = tensors.get(op.outputs[0]) if op.outputs and op.name not in COMPARING else None
    if made is None:
        return False
    for number in op.inputs:
        given = tensors.get(number)
        if given is None or given.dtype != made.dtype:
            return False
    return True


def _promotion(op: Op, tensors: Mapping[str, Tensor]) -> Promotion | None:
    made = tensors.get(op.outputs[0]) if op.outputs else None
    if made is None or any(argument.name in ("out", "dtype") for argument in op.arguments):
        return None
    operands = tuple(_operands(op, tensors, made.dtype))
    common = result_type(operands)
    if common is None or all(operand.kind == "number" for operand in operands):
        return None
    mixed = any(operand.dtype != common for operand in operands if operand.kind != "number")
    divides = op.name in DIVIDING and made.dtype != common
    if not mixed and not divides:
        return None
    return Promotion(operands=operands, common=common, result=made.dtype)


def _operands(op: Op, tensors: Mapping[str, Tensor], made: str) -> Iterator[PromotedOperand]:
    arguments = op.arguments[:1] if op.name in JOINING else op.arguments[:2]
    if op.name == "where":
        arguments = op.arguments[0::2] if op.function == "torch.Tensor.where" else op.arguments[1:]
    for argument in arguments:
        if argument.name not in _OTHERS:
            yield from _operand(argument, tensors, made)


def _operand(argument: Argument, tensors: Mapping[str, Tensor], made: str) -> Iterator[PromotedOperand]:
    for number in (argument.tensor,) if argument.tensor is not None else argument.tensors or ():
        tensor = tensors.get(number) if number is not None else None
        if tensor is not None:
            yield PromotedOperand(dtype=tensor.dtype, kind="tensor" if tensor.shape else "zero_dim", tensor=tensor.id)
    if argument.text is not None and _NUMBER.fullmatch(argument.text):
        yield PromotedOperand(dtype=_dtype_of(argument.text, made), kind="number", text=argument.text)


def _dtype_of(number: str, made: str) -> str:
    """What a number counts as; a float as the default dtype, which the result tells when it is floating."""
    if number in ("True", "False"):
        return _BOOL
    if number.removeprefix("-").isdigit():
        return "int64"
    made_as = category(made)
    if "j" in number:
        return made if made_as == 3 else "complex64"
    return made if made_as == 2 else "float64" if made == "complex128" else "float32"
