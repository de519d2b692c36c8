"""Passes that could not begin, and checks of them that failed: of no scalar, of complex numbers."""

import ast
import math
from collections.abc import Iterator

from msgspec.structs import replace

from engine.findings.diagnosis import MOST_NEAR, Diagnosis
from engine.findings.failing.case import Case, known, only_if
from engine.findings.failing.origins import sizes
from engine.program.names import called
from engine.program.rewriting import written
from engine.trace import Finding, Op


def not_scalar(case: Case) -> Finding:
    """PyTorch refuses before the engine starts, so the tensor is found by what was written before `.backward`."""
    found = known(case.written_as("NAME.backward(...)", "MODULE.GRAD(NAME, ...)", "GRAD(NAME, ...)"))
    tensor = known(case.tensor_of(found.part("NAME")))
    count = math.prod(tensor.shape)
    only_if(count != 1)
    said = {"name": found.said["name"], "shape": sizes(tensor.shape), "count": str(count)}
    of_slopes = [one for one in ast.walk(known(case.statement)) if isinstance(one, ast.Call) and called(one) == "grad"]
    call = next((one for one in of_slopes if found.part("NAME") in one.args), None)
    said["is_grad"] = str(int(call is not None))
    trains = any(called(call) == "step" for call in case.code.calls)
    # steps along the gradient of a sum are as many times longer as there are numbers in it
    whole = ".mean()" if trains else ".sum()"
    fix = case.code.method(found.part("NAME"), whole)
    if call is not None:
        fix = (case.code.argument_added(call, f"grad_outputs=torch.ones_like({found.said['name']})"),)
    told = case.finding("", said, tensors=(tensor,), fix=fix)
    return replace(told, nodes=(tensor.grad_fn.node,) if tensor.grad_fn is not None else ())


def gradcheck_differs(case: Case) -> Finding:
    """`gradcheck` or `gradgradcheck` that found gradients and differences apart; of few digits both may be right."""
    call = known(case.call)
    checked, *_ = call.args
    given = [tensor for node in ast.walk(call) if isinstance(node, ast.expr) and (tensor := case.tensor_of(node))]
    only_if(called(call) in ("gradcheck", "gradgradcheck") and given)
    short = next((one.dtype for one in given if one.dtype not in ("float64", "complex128")), "")
    said = {"function": called(call), "checked": case.code.short(checked), "dtype": short}
    said |= {"is_double": str(int(not short)), "is_second": str(int(called(call) == "gradgradcheck"))}
    return case.finding("", said, tensors=given[:4])


_SQUARES = {
    "BASE ** 2": "BASE.abs() ** 2",
    "BASE.pow(2)": "BASE.abs().pow(2)",
    "torch.pow(BASE, 2)": "torch.pow(BASE.abs(), 2)",
    "BASE.square()": "BASE.abs().square()",
    "torch.square(BASE)": "torch.square(BASE.abs())",
}
"""How a square is written, and that of an absolute value."""
_ADDING = frozenset("sum mean add mul div".split())
"""What a loss makes of its squares."""


def complex_loss(case: Case) -> Finding:
    """A loss that a square of complex numbers, or else their very first, left complex."""
    found = known(case.written_as("NAME.backward(...)", "MODULE.GRAD(NAME, ...)", "GRAD(NAME, ...)"))
    loss = known(case.tensor_of(found.part("NAME")))
    only_if(loss.dtype.startswith("complex"))
    last = known(case.diagnosis.maker.get(loss.id))
    said = {"name": found.said["name"], "dtype": loss.dtype}
    op = next((op for op in _through_complex(case.diagnosis, last) if op.name not in _ADDING), last)
    node = case.code.at(op.span)
    for shape, right in _SQUARES.items() if op.name in ("pow", "square") else ():
        if (square := written(case.code, node, shape)) is not None:
            said |= {"right": square.as_(right), "is_square": "1"}
            return case.finding("", said, span=op.span, tensors=(loss,), fix=square.instead(right))
    return case.finding("", said, span=last.span, right="", is_square="0", tensors=(loss,))


def _through_complex(diagnosis: Diagnosis, op: Op | None) -> Iterator[Op]:
    """The ops that a complex value comes from, each by the first complex input of the one before."""
    most = MOST_NEAR
    while op is not None and most:
        yield op
        given = (diagnosis.tensors.get(one) for one in op.inputs)
        value = next((one for one in given if one is not None and one.dtype.startswith("complex")), None)
        op, most = diagnosis.maker.get(value.id) if value is not None else None, most - 1
