"""Short text of values that are not tensors, without running any code of the user's."""

import torch

_REPR = (
    int, float, bool, complex, str, bytes, type(None), type(...), slice, range,
    torch.dtype, torch.device, torch.layout, torch.memory_format, torch.Size,
)  # fmt: skip
_EXACT = frozenset(_REPR)
_LONGEST = 80


def plain_text(value: object, longest: int = _LONGEST) -> str:
    """The repr of a built-in value, the class name of any other."""
    kind = type(value)
    if kind in _EXACT:
        text = repr(value)
    elif kind in (tuple, list) and len(value) <= 16:  # type: ignore[arg-type]
        inner = ", ".join(plain_text(item, longest) for item in value)  # type: ignore[attr-defined]
        text = f"[{inner}]" if kind is list else f"({inner},)" if len(value) == 1 else f"({inner})"  # type: ignore[arg-type]
    elif isinstance(value, torch.Tensor):
        text = f"tensor{tuple(value.shape)}"
    elif isinstance(value, type):
        text = value.__name__
    else:
        text = getattr(value, "__name__", None) or f"<{kind.__name__}>"
        text = text if type(text) is str else f"<{kind.__name__}>"
    return text if len(text) <= longest else text[: longest - 1] + "…"
