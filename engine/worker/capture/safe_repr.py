"""Short text of values that are not tensors, without running any code of the user's."""

import types

import torch
from torch.distributed import ReduceOp

_REPR = (
    int, float, bool, complex, str, bytes, type(None), type(...), slice, range,
    torch.dtype, torch.device, torch.layout, torch.memory_format, torch.Size,
)  # fmt: skip
_EXACT = frozenset(_REPR)
_NAMED = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType)
_LONGEST = 80
_WIDE = 1 << 64


_name_of = type.__dict__["__name__"].__get__  # a metaclass may answer `__name__` as it likes


def class_name(value: object) -> str:
    """The real name of a value's class."""
    name: str = _name_of(type(value))
    return name


def plain_message(error: BaseException) -> str:
    """What an exception was given to say, where that is a text."""
    return error.args[0] if len(error.args) == 1 and type(error.args[0]) is str else ""


def plain_text(value: object, longest: int = _LONGEST) -> str:
    """The repr of a built-in value, the class name of any other."""
    kind = type(value)
    if kind in _EXACT:
        try:
            text = repr(value)
        except ValueError:  # a whole number of more digits than Python writes
            text = f"<{class_name(value)}>"
    elif kind in (tuple, list) and len(value) <= 16:  # type: ignore[arg-type]
        inner = ", ".join(plain_text(item, longest) for item in value)  # type: ignore[attr-defined]
        lone = "," if len(value) == 1 else ""  # type: ignore[arg-type]
        text = f"[{inner}]" if kind is list else f"({inner}{lone})"
    elif isinstance(value, torch.Tensor):
        text = f"tensor{tuple(value.shape)}"
    elif issubclass(kind, float):  # NumPy's, as a schedule computes them
        text = float.__repr__(value)
    elif kind is ReduceOp.RedOpType:
        text = f"ReduceOp.{value.name}"  # type: ignore[attr-defined]
    elif isinstance(value, type):
        text = _name_of(value)
    else:
        text = _own_name(value) or f"<{class_name(value)}>"
    return text if len(text) <= longest else text[: longest - 1] + "…"


def number_text(value: complex) -> str:
    """The same of a number of a built-in type, quicker."""
    return plain_text(value) if type(value) is int and not -_WIDE < value < _WIDE else repr(value)


def _own_name(value: object) -> str:
    """The name of a function or method; whatever else answers `__name__` may run code of the user's."""
    name = getattr(value, "__name__", "") if isinstance(value, _NAMED) else ""
    return name if type(name) is str else ""
