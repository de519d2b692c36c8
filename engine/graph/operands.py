"""What an op was given besides tracked tensors: numbers and untracked tensors, as short texts."""

import re
from functools import lru_cache

from engine.ops import TAKES_NUMBERS
from engine.trace import Op, Tensor
from engine.trace_index import TraceIndex

SHORT = 12  # characters that fit a stub

_NUMBER = re.compile(r"[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?j?|[+-]?(?:inf|nan)|True|False")
_OPERANDS = frozenset(("", "other", "exponent"))


@lru_cache(maxsize=4096)
def is_number(text: str) -> bool:
    """Whether an argument's text is a plain number."""
    return _NUMBER.fullmatch(text) is not None


def numbers(op: Op) -> list[str]:
    """Plain numbers that are operands, not sizes or axes."""
    if op.name not in TAKES_NUMBERS:
        return []
    return [
        argument.text if argument.name in _OPERANDS else f"{argument.name}={argument.text}"
        for argument in op.arguments
        if argument.text is not None and is_number(argument.text)
    ]


def label(index: TraceIndex, tensor: Tensor) -> str:
    """The user's name, else the short expression that made it, else the number of a scalar, else the shape."""
    name = index.name(tensor.id)
    if name:
        return name
    maker = index.maker.get(tensor.id)
    text = index.text_of(maker) if maker is not None else ""
    if 0 < len(text) <= SHORT:
        return text
    if tensor.shape == () and tensor.data is not None and len(tensor.data) == 1:
        return _text(tensor.data[0])
    return "×".join(map(str, tensor.shape)) if len(tensor.shape) > 1 else f"({', '.join(map(str, tensor.shape))})"


def _text(value: bool | int | float | str) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
