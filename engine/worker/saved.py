"""What one node keeps for backward, by field, read the moment the node is met: after its backward it is gone."""

import re
from typing import TYPE_CHECKING, Any, TypeAlias

import torch

from engine.worker.plain import plain_text
from engine.worker.tensors import extent, version_of

if TYPE_CHECKING:
    from engine.worker.walk import Walker

Node: TypeAlias = Any  # PyTorch's nodes have no static type
SavedRow = tuple[str, int, int, str, int, str]

_PREFIX = len("_saved_")
_EXPECTED = re.compile(r"expected version (\d+)")


def read_saved(node: Node, fields: tuple[str, ...], custom: bool, walker: "Walker") -> tuple[SavedRow, ...]:
    """One row for each field; a list of tensors gives one for each item."""
    if custom:
        return _custom(node, walker)
    if not fields:
        return ()
    if _packed():  # unpacking would run the user's hook
        return tuple((field[_PREFIX:], 0, -1, "", 0, "kept by saved_tensors_hooks") for field in fields)
    rows: list[SavedRow] = []
    for field in fields:
        name = field[_PREFIX:]
        try:
            value = getattr(node, field)
        except Exception as error:
            rows.append((name, 0, _expected_version(error), "", 0, _first_sentence(error)))
            continue
        if value is None:
            continue
        if isinstance(value, torch.Tensor):
            rows.append(_tensor(name, value, walker))
        elif type(value) is tuple and value and isinstance(value[0], torch.Tensor):
            rows.extend(_tensor(f"{name}[{i}]", item, walker) for i, item in enumerate(value) if item is not None)
        else:
            rows.append((name, 0, -1, plain_text(value), 0, ""))
    return tuple(rows)


def _packed() -> bool:
    return torch._C._autograd._top_saved_tensors_default_hooks(True) is not None


def _custom(node: Node, walker: "Walker") -> tuple[SavedRow, ...]:
    if _packed():
        return ()
    try:
        kept = node.saved_tensors
    except Exception as error:
        return (("saved_tensors", 0, -1, "", 0, _first_sentence(error)),)
    return tuple(
        _tensor(f"saved_tensors[{i}]", item, walker) for i, item in enumerate(kept) if isinstance(item, torch.Tensor)
    )


def _expected_version(error: Exception) -> int:
    """The version that was saved, told by PyTorch when the tensor has another one now; else -1."""
    said = _EXPECTED.search(str(error))
    return -1 if said is None else int(said[1])


def _first_sentence(error: Exception) -> str:
    return str(error).partition(". ")[0][:200]


def _tensor(name: str, value: torch.Tensor, walker: "Walker") -> SavedRow:
    ledger = walker.ledger
    state = ledger.states.get(id(value))
    if state is not None and state.ref() is value:
        number = state.id
    else:
        if value.dim() == 0 and not value.requires_grad and value.is_cpu:
            return (name, 0, -1, plain_text(value.item()), value.element_size(), "")
        number = walker.result(value) or ledger.keep_saved(value)
    return (name, number, version_of(value), "", extent(value) * value.element_size(), "")
