"""PyTorch's own function where the program has put one of its own in its place.

While a function mode is active, PyTorch hands over what it finds by name, on `torch.Tensor` or in
`torch.nn.functional`, not the function that was called. What the program put there (`torch.Tensor.__repr__ = mine`)
would run twice: when it is called, and once more instead of the original that it calls.
"""

from collections.abc import Callable
from typing import Any

import torch

from engine.worker.pytorch.internals import TensorBase

_PLACES: tuple[tuple[Any, dict[str, Any]], ...] = tuple(
    (place, dict(vars(place))) for place in (torch.Tensor, torch.nn.functional)
)
"""With what they held before the program."""


def original(func: Callable[..., Any]) -> Callable[..., Any]:
    """What a function of the program's stands for; the function itself when it has taken no other's place."""
    for place, before in _PLACES:
        for name, value in vars(place).items():
            if value is func:
                found: Callable[..., Any] | None = before.get(name)
                if found is None and place is torch.Tensor:
                    found = getattr(TensorBase, name, None)
                if found is not None:
                    return found
    return func
