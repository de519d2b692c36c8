"""Laws of single ops: the cells one read, the dtype its operands were brought to, the window it slid, the call it
repeats."""

from collections.abc import Iterator
from math import prod

from engine.derive.windows import size_after
from engine.devices import is_accelerator
from engine.trace import Number, Reads, Tensor, Trace
from engine.trace_index import TraceIndex


def ops(index: TraceIndex) -> Iterator[str]:
    """Every breach of these laws."""
    yield from _reads(index)
    yield from _promotions(index)
    yield from _windows(index)
    yield from _transfers(index.trace)
    yield from _reruns(index.trace)


def _reads(index: TraceIndex) -> Iterator[str]:
    """A cell that was read holds what came out of it, or is where it is said to be."""
    for op in index.trace.ops:
        for reads in op.reads:
            if not (0 <= reads.input < len(op.inputs) and 0 <= reads.output < len(op.outputs)):
                yield f"op {op.id} reads from what is not there"
                continue
            given, made = index.tensors.get(op.inputs[reads.input]), index.tensors.get(op.outputs[reads.output])
            if given is None or made is None:
                continue  # another law says so
            if len(reads.cells) != prod(made.shape) or not all(-1 <= cell < prod(given.shape) for cell in reads.cells):
                yield f"op {op.id} does not say of each cell where it came from"
            elif broken := _misread(reads, given, made):
                yield f"op {op.id}: {broken}"


def _misread(reads: Reads, given: Tensor, made: Tensor) -> str:
    if made.data is None or "complex" in made.dtype:
        return ""
    for at, cell in enumerate(reads.cells):
        if cell < 0:
            continue
        if reads.position:
            if made.data[at] not in (cell, *_places(cell, given.shape)):
                return f"cell {at} says {made.data[at]} of cell {cell} in {given.shape}"
        elif given.data is not None and given.dtype == made.dtype and made.data[at] != given.data[cell]:
            return f"cell {at} is {made.data[at]} and came from {given.data[cell]}"
    return ""


def _places(cell: int, shape: tuple[int, ...]) -> Iterator[Number]:
    for size in reversed(shape):
        cell, place = divmod(cell, size)
        yield place


def _promotions(index: TraceIndex) -> Iterator[str]:
    """The operands are of the dtypes that are told, some of another one than the result."""
    for op in index.trace.ops:
        told = op.promotion
        if told is None:
            continue
        dtypes = {id_: index.tensors[id_].dtype for id_ in (*op.inputs, *op.outputs) if id_ in index.tensors}
        for operand in told.operands:
            if operand.tensor is not None and dtypes.get(operand.tensor) != operand.dtype:
                yield f"op {op.id} takes {operand.tensor} for {operand.dtype}"
        if told.result != dtypes.get(op.outputs[0]) or all(operand.dtype == told.result for operand in told.operands):
            yield f"op {op.id} brought {told.operands} to {told.result}"


def _windows(index: TraceIndex) -> Iterator[str]:
    """The formula gives the size that the result has."""
    for op in index.trace.ops:
        if op.window is None:
            continue
        made = index.tensors.get(op.outputs[0])
        sizes = tuple(size_after(op.window, axis) for axis in op.window.axes)
        if made is None or sizes != made.shape[-len(sizes) :] or sizes != tuple(axis.out for axis in op.window.axes):
            yield f"op {op.id} should have made {sizes} of {op.window}"


def _transfers(trace: Trace) -> Iterator[str]:
    """Copies are foretold only where no GPU took part, and each moved some tensor."""
    really = any(is_accelerator(tensor.device) for tensor in trace.tensors)
    for transfer in trace.transfers:
        if transfer.predicted and (really or "cuda" not in trace.program.code):
            yield f"{transfer} is foretold"
        if not 0 < transfer.tensors <= transfer.times or transfer.size_bytes < 0:
            yield f"{transfer} counts copies wrongly"


def _reruns(trace: Trace) -> Iterator[str]:
    before: dict[str, tuple[str, str | None]] = {}
    for op in trace.ops:
        if op.rerun_of is not None:
            name, pass_id = before.get(op.rerun_of, ("", None))
            if op.pass_id is None or (name, pass_id) != (op.function, None):
                yield f"op {op.id} repeats {op.rerun_of}, which is not the same call before its pass"
        before[op.id] = op.function, op.pass_id
