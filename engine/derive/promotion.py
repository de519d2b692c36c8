"""The dtype in which an op computed, where its operands had different ones: that of its result."""

import re
from collections.abc import Iterator, Mapping

import msgspec

from engine.ops import COMPARING, JOINING, PROMOTING
from engine.trace import Argument, Op, PromotedOperand, Promotion, Tensor

_OTHERS = ("alpha", "rounding_mode", "dim")
_NUMBER = re.compile(r"True|False|-?(\d+|(\d+\.\d*|\d+(?=e))(e[-+]?\d+)?|inf|nan)|-?[\d.e+]+j|\([-+\d.einfa]+j\)")
_PROMOTED = re.compile(r"bool|u?int8|int16|int32|int64|b?float(16|32|64)|complex(32|64|128)")
"""Dtypes that are brought together; those of other kinds are not."""


def with_promotions(ops: tuple[Op, ...], tensors: Mapping[str, Tensor]) -> tuple[Op, ...]:
    """The ops, those that brought operands to one dtype with what these were.

    Comparisons and writes into a tensor are left out: what they give does not say in what they computed."""
    if len({tensor.dtype for tensor in tensors.values()}) < 2:
        return ops
    names = PROMOTING - COMPARING
    candidates = [op for op in ops if op.name in names and op.outputs and not (op.in_place or op.raised)]
    found = {op.id: promotion for op in candidates if (promotion := _promotion(op, tensors)) is not None}
    if not found:
        return ops
    return tuple(msgspec.structs.replace(op, promotion=found[op.id]) if op.id in found else op for op in ops)


def _promotion(op: Op, tensors: Mapping[str, Tensor]) -> Promotion | None:
    made = tensors.get(op.outputs[0])
    if made is None or any(argument.name in ("out", "dtype") for argument in op.arguments):
        return None
    given = [tensors[number].dtype for number in op.inputs if number in tensors]
    if all(dtype == made.dtype for dtype in given):  # as nearly always
        return None
    operands = tuple(_operands(op, tensors, made.dtype))
    of_tensors = [operand.dtype for operand in operands if operand.kind != "number"]
    promotes = all(map(_PROMOTED.fullmatch, of_tensors)) and any(dtype != made.dtype for dtype in of_tensors)
    return Promotion(operands=operands, result=made.dtype) if promotes else None


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
        return "bool"
    if number.removeprefix("-").isdigit():
        return "int64"
    if "j" in number:
        return made if made.startswith("complex") else "complex64"
    return made if "float" in made else "float64" if made == "complex128" else "float32"
