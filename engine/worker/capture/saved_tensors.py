"""What one node keeps for backward, by field, read the moment the node is met: after its backward it is gone."""

import re
from collections.abc import Iterator
from typing import Any, Protocol, TypeAlias

import numpy
import torch

from engine.events import SavedWord
from engine.trace import KEPT_BY_HOOKS, NOT_LOOKED_INTO, RECOMPUTED
from engine.worker.capture.safe_repr import plain_text
from engine.worker.capture.tensor_facts import extent, version_of
from engine.worker.capture.tensors import Tensors
from engine.worker.pytorch.internals import (
    CheckpointHolder,
    raw_saved,
    raw_saved_of_custom,
)

Node: TypeAlias = Any  # PyTorch's nodes have no static type

Fields: TypeAlias = tuple[tuple[str, str], ...]
"""A node's attributes that say what it keeps, with the name of each."""

_EXPECTED = re.compile(r"expected version (\d+)")
_NUMBERS = frozenset((int, float, bool))
_PLAIN = (str, bytes, int, float, complex, type(None))
_DEEPEST, _MOST_LOOKED_AT = 4, 256


class SavedHooks:
    """Which `saved_tensors_hooks` the program has used."""

    def __init__(self) -> None:
        self.met = False
        """There were some, or hooks on a single saved tensor: one may have packed what a node keeps."""

    def meet(self) -> None:
        """Some are in force, or a single saved tensor has hooks."""
        self.met = True


class Keeper(Protocol):
    """Who knows the records of tensors that are kept for backward."""

    tensors: Tensors
    saved_hooks: SavedHooks

    def record_of(self, kept: torch.Tensor, *, scratch: bool = False) -> int:
        """The record of a tensor that is kept."""


def read_saved(node: Node, fields: Fields, custom: bool, keeper: Keeper) -> tuple[SavedWord, ...]:
    """One row for each field; a list of tensors gives one for each item."""
    if custom:
        return _custom(node, keeper)
    if keeper.saved_hooks.met and (packed := _packed(node, fields)):
        return tuple(_of_hooks(node, fields, packed, keeper))
    rows: list[SavedWord] = []
    for field, name in fields:
        try:
            value = getattr(node, field)
        except Exception as error:
            rows.append((name, 0, _expected_version(error), "", 0, _first_sentence(error)))
            continue
        if isinstance(value, torch.Tensor):
            rows.append(_tensor(name, value, keeper))
        elif type(value) in _NUMBERS:
            rows.append((name, 0, -1, repr(value), 0, ""))
        elif value is None:
            continue
        elif type(value) is tuple and value and isinstance(value[0], torch.Tensor):
            rows.extend(_tensor(f"{name}[{i}]", item, keeper) for i, item in enumerate(value) if item is not None)
        else:
            rows.append((name, 0, -1, plain_text(value), 0, ""))
    return tuple(rows)


def _custom(node: Node, keeper: Keeper) -> tuple[SavedWord, ...]:
    if keeper.saved_hooks.met:
        packed = _each("saved_tensors", raw_saved_of_custom(node))
        if any(raw.unpack_hook is not None for _, raw in packed):
            return tuple(row for name, raw in packed for row in _kept(name, raw, keeper))
    try:
        kept = node.saved_tensors
    except Exception as error:
        return (("saved_tensors", 0, -1, "", 0, _first_sentence(error)),)
    return tuple(
        _tensor(f"saved_tensors[{i}]", item, keeper) for i, item in enumerate(kept) if isinstance(item, torch.Tensor)
    )


# Under `saved_tensors_hooks`

Raw: TypeAlias = Any
"""PyTorch's `SavedTensor`: what a pack hook gave is its `data`."""


def _packed(node: Node, fields: Fields) -> dict[str, list[tuple[str, Raw]]]:
    """Fields whose tensors a hook packed: reading those as usual would run the user's unpack hook."""
    found = {field: _each(name, raw_saved(node, field)) for field, name in fields}
    if any(raw.unpack_hook is not None for parts in found.values() for _, raw in parts):
        return found
    return {}


def _each(name: str, raw: Any) -> list[tuple[str, Raw]]:
    if type(raw) is tuple:
        return [(f"{name}[{i}]", item) for i, item in enumerate(raw)]
    return [] if raw is None else [(name, raw)]


def _of_hooks(
    node: Node, fields: Fields, packed: dict[str, list[tuple[str, Raw]]], keeper: Keeper
) -> Iterator[SavedWord]:
    for field, name in fields:
        if packed[field]:
            for place, raw in packed[field]:
                yield from _kept(place, raw, keeper)
        elif raw_saved(node, field) is None and (value := getattr(node, field)) is not None:
            yield name, 0, -1, plain_text(value), 0, ""


def _kept(name: str, raw: Raw, keeper: Keeper) -> Iterator[SavedWord]:
    """What is kept in the place of one tensor: all the tensors that what the hook gave holds."""
    given = raw.data
    if raw.unpack_hook is None:
        return  # there was no tensor
    if isinstance(given, CheckpointHolder):
        yield name, 0, -1, "", 0, RECOMPUTED
        return
    tensors = tensors_held(given)
    for tensor in tensors:
        _, number, version, text, size_bytes, _ = _tensor(name, tensor, keeper)
        yield name, number, version, text, size_bytes, KEPT_BY_HOOKS
    if not tensors:
        yield name, 0, -1, "", 0, KEPT_BY_HOOKS if isinstance(given, _PLAIN) else NOT_LOOKED_INTO


def tensors_held(given: object) -> list[torch.Tensor]:
    """The tensors that something holds, as far as they are found without running code of the program's."""
    found: list[torch.Tensor] = []
    todo: list[tuple[object, int]] = [(given, 0)]
    for item, depth in todo:
        if isinstance(item, torch.Tensor):
            found.append(item)
        elif depth < _DEEPEST and len(todo) < _MOST_LOOKED_AT:
            todo.extend((inner, depth + 1) for inner in _inside(item))
    return found


def _inside(item: object) -> list[object]:
    if type(item) in (tuple, list):
        return list(item)  # type: ignore[call-overload, no-any-return]
    if type(item) is dict:
        return list(item.values())
    if isinstance(item, numpy.ndarray):
        return [item.base]
    if isinstance(item, type):
        return []
    try:
        return list(object.__getattribute__(item, "__dict__").values())
    except AttributeError:
        return []


def _expected_version(error: Exception) -> int:
    """The version that was saved, told by PyTorch when the tensor has another one now; else -1."""
    said = _EXPECTED.search(str(error))
    return -1 if said is None else int(said[1])


def _first_sentence(error: Exception) -> str:
    return str(error).partition(". ")[0][:200]


def _tensor(name: str, value: torch.Tensor, keeper: Keeper) -> SavedWord:
    state = keeper.tensors.states.get(id(value))
    if state is not None and state.ref() is value:
        seen = state.look
        if seen.address and seen.rest is None:
            return (name, state.id, version_of(value), "", seen.size_bytes, "")
        number = state.id
    else:
        if value.dim() == 0 and not value.requires_grad and value.is_cpu:
            size = value.element_size()
            is_number = size == 1 or size >= 8  # of Python's, which nothing keeps as a tensor
            return (name, 0, -1, repr(value.item()), 0 if is_number else size, "")
        # bytes that a kernel, such as that of an LSTM, notes for itself have gaps that nothing was written into
        number = keeper.record_of(value, scratch=value.dtype is torch.uint8 and name.startswith("result"))
    return (name, number, version_of(value), "", extent(value) * value.element_size(), "")
