"""Dtypes that operands are brought to."""

import pytest
import torch
from msgspec.structs import replace

from engine import laws
from engine.ops import PROMOTING
from engine.trace import Op, Promotion, Trace
from tests.engine.worker.forked import record

START = """
import torch
f = torch.ones(2)
d = torch.ones(2, dtype=torch.float64)
h = torch.ones(2, dtype=torch.float16)
i = torch.tensor([1, 2])
b = torch.tensor([True, False])
c = torch.ones(2, dtype=torch.complex64)
z = torch.tensor(2.0, dtype=torch.float64)
n = torch.tensor(3)
"""

PROMOTIONS = {
    "f + i": ("float32 + int64", "float32"),
    "torch.add(i, f, alpha=2)": ("int64 + float32", "float32"),
    "f * d": ("float32 + float64", "float64"),
    "f * z": ("float32 + float64()", "float32"),
    "i * z": ("int64 + float64()", "float64"),
    "n * f": ("int64() + float32", "float32"),
    "i + 2.5": ("int64 + 2.5", "float32"),
    "2 * b": ("bool + 2", "int64"),
    "i * True + b": ("int64 + bool", "int64"),
    "f + 1j": ("float32 + 1j", "complex64"),
    "d * (1+2j)": ("float64 + (1+2j)", "complex128"),
    "c * f": ("complex64 + float32", "complex64"),
    "i / i": ("int64 + int64", "float32"),
    "i / 2": ("int64 + 2", "float32"),
    "2 / i": ("int64 + 2", "float32"),
    "b / b": ("bool + bool", "float32"),
    "torch.cat([f, d, i])": ("float32 + float64 + int64", "float64"),
    "torch.stack([f, h])": ("float32 + float16", "float32"),
    "torch.where(b, f, d)": ("float32 + float64", "float64"),
    "f.where(b, i)": ("float32 + int64", "float32"),
    "torch.where(b, i, 0.5)": ("int64 + 0.5", "float32"),
    "f ** i": ("float32 + int64", "float32"),
    "2.0 ** i": ("int64 + 2.0", "float32"),
    "f + n": ("float32 + int64()", "float32"),
    "torch.maximum(f, d)": ("float32 + float64", "float64"),
}
NOTHING = (
    "i > 1.5",
    "f == i",
    "f.add_(i)",
    "f.mul_(d)",
    "f + 1",
    "f + 2.5",
    "f * True",
    "i + 1",
    "i // 2",
    "torch.div(i, i, rounding_mode='floor')",
    "f + f",
    "h * 2.5",
    "h * 2",
    "b & b",
    "f @ f",
    "torch.add(i, f, out=torch.ones(2))",
    "f.sum(dtype=torch.float64)",
    "torch.cat([f, f])",
    "f.to(torch.float64)",
    "i.float()",
    "torch.where(b, f, f)",
    "b == b",
    "i > 1",
    "torch.ones(2, dtype=torch.uint16) + f",
    "f.mean()",
    "z + z",
)


def _said(promotion: Promotion) -> str:
    return " + ".join(
        operand.text if operand.text is not None else operand.dtype + ("()" if operand.kind == "zero_dim" else "")
        for operand in promotion.operands
    )


def _ops(trace: Trace) -> list[Op]:
    assert trace.status == "ok", trace.failure
    assert laws.broken(trace) == []
    first = len(START.splitlines())
    return [op for op in trace.ops if op.span is not None and op.span.line > first]


def test_ops_tell_what_their_operands_became() -> None:
    told: dict[int, list[Promotion]] = {}
    for op in _ops(record(START + "\n".join(PROMOTIONS) + "\n")):
        if op.promotion is not None and op.span is not None:
            told.setdefault(op.span.line, []).append(op.promotion)
    for line, (code, wanted) in enumerate(PROMOTIONS.items(), len(START.splitlines()) + 1):
        (promotion,) = told[line]
        assert (_said(promotion), promotion.result) == wanted, code


def test_the_default_dtype_is_that_of_the_run() -> None:
    trace = record(START + "torch.set_default_dtype(torch.float64)\ny = i + 2.5\nz = f + 2.5\n")
    (told,) = [op.promotion for op in _ops(trace) if op.promotion is not None]
    assert (told.result, told.operands[1].dtype) == ("float64", "float64")


def test_ops_of_one_dtype_tell_nothing() -> None:
    code = START + "".join(f"try: {text}\nexcept RuntimeError: pass\n" for text in NOTHING)
    assert [op for op in _ops(record(code)) if op.promotion is not None] == []


def _wrong(trace: Trace, change: Promotion) -> Trace:
    return replace(trace, ops=tuple(replace(op, promotion=op.promotion and change) for op in trace.ops))


def test_a_wrong_promotion_breaks_the_law() -> None:
    trace = record(START + "y = f + i\n")
    (right,) = [op.promotion for op in trace.ops if op.promotion is not None]
    assert laws.broken(_wrong(trace, right)) == []
    assert laws.broken(_wrong(trace, replace(right, result="int64"))) != []
    other = replace(right.operands[0], dtype="float16")
    assert laws.broken(_wrong(trace, replace(right, operands=(other, right.operands[1])))) != []


@pytest.mark.slow
def test_every_promoting_op_is_one_that_pytorch_has() -> None:
    names = {name.strip("_") for name in PROMOTING} - {"rdiv", "rpow"}
    assert {name for name in names if not hasattr(torch, name)} == set()
