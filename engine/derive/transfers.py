"""What was copied from one device to another, and its gradient back; for a program that chooses a GPU and had none,
what it would copy on one.

The prediction follows the run: what is computed from tensors on the GPU is there too, and what comes back for `item()`,
`print` of a number or NumPy is copied. Whether a copy replaced the variable (`x = x.to(device)`) is read off the
line."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from engine.devices import is_accelerator
from engine.ops import MOVES, READS
from engine.program.spans import lines_of
from engine.trace import Op, Span, Tensor, Trace, Transfer
from engine.trace_index import TraceIndex

MOST_TRANSFERS = 500
_DEVICE = re.compile(r"device\(type='(\w+)'(, index=\d+)?\)|'(cpu|cuda|mps|xpu|meta)(:\d+)?'|\d+")
_NAMED_CPU = re.compile(r"""["']cpu["']|\.cpu\(""")
_REBINDS = re.compile(r"\s*([\w.]+)\s*=\s*([\w.]+)\.(to|cuda|cpu)\(")
_SIZES = {
    "bool": 1, "uint8": 1, "int8": 1, "int16": 2, "float16": 2, "bfloat16": 2, "int32": 4, "float32": 4, "complex32": 4,
    "int64": 8, "float64": 8, "complex64": 8, "complex128": 16,
}  # fmt: skip


@dataclass(slots=True)
class _Line:
    """The copies that one place made."""

    span: Span | None
    origin: str
    to: str
    predicted: bool
    back: bool
    times: int = 0
    size_bytes: int = 0
    tensors: set[str] = field(default_factory=set)


def transfers(index: TraceIndex) -> tuple[Transfer, ...]:
    """The copies, one for each place and direction, in the order the places were first met."""
    trace, tensors = index.trace, index.tensors
    ops = trace.ops
    if not any(op.name in MOVES for op in ops):
        return ()
    lines: dict[_Way, _Line] = {}
    really = any(is_accelerator(tensor.device) for tensor in trace.tensors)
    foreseen = not really and "cuda" in trace.program.code
    for way, number in _Foreseen(trace, tensors).copies() if foreseen else _made(index):
        if (tensor := tensors.get(number)) is None:
            continue
        line = lines.setdefault(way, _Line(*way))
        line.times += 1
        line.size_bytes += _bytes(tensor)
        line.tensors.add(tensor.identity or tensor.id)
    return tuple(
        Transfer(
            span=line.span,
            to=line.to,
            predicted=line.predicted,
            origin=line.origin,
            back=line.back,
            times=line.times,
            tensors=len(line.tensors),
            size_bytes=line.size_bytes,
        )
        for line in list(lines.values())[:MOST_TRANSFERS]
    )


_Way = tuple[Span | None, str, str, bool, bool]
"""The place, from where, to where, whether this is foretold, whether it is a gradient on its way back."""
_Copy = tuple[_Way, str]
"""The way, and the tensor that was copied."""


def _bytes(tensor: Tensor) -> int:
    count = 1
    for size in tensor.shape:
        count *= size
    return count * _SIZES.get(tensor.dtype, 1)


def _made(index: TraceIndex) -> Iterable[_Copy]:
    tensors = index.tensors
    moves: dict[str, Span | None] = {}
    for op in index.trace.ops:
        if op.name not in MOVES | READS or not op.inputs or op.raised:
            continue
        given = tensors.get(op.inputs[0])
        made = tensors.get(op.outputs[0]) if op.outputs else None
        if given is None:
            continue
        to = "cpu" if op.name in READS else made.device if made is not None else given.device
        if to != given.device:
            moves.update(dict.fromkeys(op.nodes, op.span))
            yield (op.span, given.device, to, False, False), given.id
    for pass_ in index.trace.passes:
        for visit in pass_.visits:
            if visit.node in moves:
                for came, gave in zip(visit.entered, visit.left, strict=False):
                    enters, leaves = tensors.get(came or ""), tensors.get(gave or "")
                    if enters is not None and leaves is not None and enters.device != leaves.device:
                        yield (moves[visit.node], enters.device, leaves.device, False, True), enters.id


def _foretold(op: Op, to: str) -> _Way:
    return op.span, "cuda" if to == "cpu" else "cpu", to, True, False


class _Foreseen:
    """The same run as it would go on a GPU."""

    def __init__(self, trace: Trace, tensors: dict[str, Tensor]) -> None:
        self.ops = trace.ops
        self.walks = trace.walks
        self.modules = trace.modules
        self.tensors = tensors
        self.text = lines_of(trace.program.code)
        self.moved: set[str] = set()
        """Tensors, by identity, that are on the GPU and nowhere else."""
        self.copied: set[str] = set()
        """Tensors that stayed, and have a copy there."""

    def copies(self) -> Iterable[_Copy]:
        for op in self.ops:
            if not op.inputs:
                continue
            first = self._identity(op.inputs[0])
            if op.raised and op.name in MOVES and (members := self._walked(op.span)):
                yield from ((_foretold(op, "cuda"), member) for member in members)
                continue
            if op.name in MOVES and (to := self._target(op)) is not None:
                if to == "cuda" and first not in self.moved:
                    yield _foretold(op, to), op.inputs[0]
                    self._arrive(op, first)
                elif to == "cpu" and self._is_there(op.inputs[0]):
                    yield _foretold(op, to), op.inputs[0]
                    self._leave(first)
            elif op.name in READS:
                if self._is_there(op.inputs[0]):
                    yield _foretold(op, "cpu"), op.inputs[0]
            elif any(self._is_there(number) for number in op.inputs):
                self.moved.update(self._identity(number) for number in op.outputs)

    def _walked(self, span: Span | None) -> Iterable[str]:
        """What `model.cuda()` would have moved, had its walk not ended at the first tensor."""
        walk = next((walk for walk in self.walks if walk.raised and walk.span == span), None)
        if walk is None:
            return ()
        modules, roots = self.modules, {visit.module for visit in walk.visits if visit.parent is None}
        inside = set(roots)
        for module in modules:  # parents first
            if module.parent in inside:
                inside.add(module.id)
        held = (part for module in modules if module.id in inside for part in (*module.parameters, *module.buffers))
        return tuple(dict.fromkeys(part.tensor for part in held))

    def _identity(self, number: str) -> str:
        tensor = self.tensors.get(number)
        return number if tensor is None else tensor.identity or number

    def _is_there(self, number: str) -> bool:
        identity = self._identity(number)
        return identity in self.moved or identity in self.copied

    def _arrive(self, op: Op, identity: str) -> None:
        tensor = self.tensors.get(op.inputs[0])
        line = self._line(op.span)
        rebinds = _REBINDS.match(line)
        stays = tensor is None or tensor.role not in ("parameter", "buffer")
        (self.copied if stays and (rebinds is None or rebinds[1] != rebinds[2]) else self.moved).add(identity)

    def _leave(self, identity: str) -> None:
        self.moved.discard(identity)
        self.copied.discard(identity)

    def _target(self, op: Op) -> str | None:
        """`cuda` or `cpu`; None for a change of dtype alone."""
        if op.name in ("cuda", "cpu"):
            return op.name
        if not any(_DEVICE.fullmatch(argument.text or "") for argument in op.arguments):
            return None
        span = op.span
        text = self._line(span)
        if span is not None and span.line == span.end_line:
            text = text[span.column : span.end_column]
        return "cpu" if _NAMED_CPU.search(text) else "cuda"

    def _line(self, span: Span | None) -> str:
        return self.text[span.line - 1] if span is not None and span.line <= len(self.text) else ""
