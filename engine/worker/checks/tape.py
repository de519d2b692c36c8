"""A tape of what a program computed from its leaves, kept only when checks are asked for, and played again after its
end.

The tape holds copies of values, never the program's tensors: what the program frees stays freed. Tensors are known by
the object they were, so that views share memory and in-place writes reach them when the tape is played. Like `ops`,
this module stands between the user's code and PyTorch, so warnings must not stick to its frames.
"""

import contextlib
import copy
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import torch

from engine.ops import LIKES, PROPERTIES, READS
from engine.worker.capture.ops import Recording
from engine.worker.capture.recorder import Recorder
from engine.worker.capture.tensor_facts import is_tracked_leaf, start_of, version_of
from engine.worker.pytorch.internals import (
    get_frame,
    is_functorch_wrapped,
)
from engine.worker.pytorch.modes import unseen

MOST_ENTRIES = 20_000
_SHARE = 8
"""One part in so many of the memory a program may add is taken for copied values."""
_WHOLE_STORAGE = 4096
"""Elements up to which the whole storage of a value is copied, so that it may be written through any view."""
_COMPARED = 1024
"""Elements up to which a leaf is compared with its last copy, to notice a write that raised no version."""

_ITERATORS: tuple[type, ...] = (type(iter([])), type(iter(())))

_NOT_VALUES = frozenset(
    ("backward", "retain_grad", "requires_grad_", "__deepcopy__", "__reduce_ex__", "untyped_storage")
)
_HOOKS = frozenset(("register_hook", "register_post_accumulate_grad_hook"))
_CUTS = {
    "detach": "detach",
    "detach_": "detach",
    "data": "data",
    "Variable": "detach",
    "tensor": "detach",
    "as_tensor": "detach",
}
_TO_PYTHON = READS | {"__array__", "__float__", "__int__", "__index__", "__complex__"}
"""What gives the values to code that no tape follows."""
_LOW_PRECISION = {torch.float64: 0, torch.complex128: 0, torch.float32: 1, torch.complex64: 1, torch.float16: 2}


class Impossible(Exception):
    """The tape cannot be played; the word says why, as in the word lists under `checks.reason`."""

    def __init__(self, word: str, **parameters: str) -> None:
        super().__init__(word)
        self.word = word
        self.parameters = parameters


@dataclass(slots=True, eq=False)
class Value:
    """A copy of what a tensor held."""

    copied: torch.Tensor
    """Its elements, or those of its whole storage."""
    geometry: tuple[tuple[int, ...], tuple[int, ...], int] | None = None
    """Size, stride and offset in the whole storage."""

    def of(self, whole: torch.Tensor) -> torch.Tensor:
        """The tensor in a copy of `copied`."""
        return whole if self.geometry is None else whole.as_strided(*self.geometry)


@dataclass(slots=True, eq=False)
class Leaf:
    """A tensor the program differentiates by."""

    group: int
    number: int = 0
    """Its first record, once a pass has reached it."""
    version: int = -1
    value: Value | None = None
    """The last copy."""


@dataclass(slots=True, eq=False)
class Operand:
    """A tensor among the arguments of an entry."""

    slot: int = 0
    """The result of an earlier entry; 0 for none."""
    group: int = 0
    """Its memory."""
    leaf: Leaf | None = None
    value: Value | None = None
    """What a leaf or a constant held."""
    base: int = 0
    """For a view nobody made with an entry: the slot of its storage."""


@dataclass(slots=True, eq=False)
class Entry:
    """One operation on what the leaves lead to."""

    func: Callable[..., Any]
    name: str
    args: Any
    kwargs: Any
    grad_mode: bool
    operands: list[Operand] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    """Slots of the tensors in the result, in order; 0 for one that was an argument."""
    groups: list[int] = field(default_factory=list)
    """Memory it made or wrote."""
    writes: bool = False
    """Wrote into an argument."""
    rng: torch.Tensor | None = None
    """State of the random numbers before it, when it drew some."""
    custom: str = ""
    """Name of the user's autograd.Function."""
    node: int = 0
    """The node of the first result of a custom Function."""
    cut: str = ""
    """Why autograd does not follow it: `detach`, `data`, `no_grad`, `grad`."""
    site: int = 0
    autocast: torch.dtype | None = None
    impossible: str = ""
    """Why it cannot be played."""


@dataclass(slots=True)
class _Call:
    """An entry while its operation runs."""

    entry: Entry
    tensors: list[tuple[torch.Tensor, Operand, int]]
    """Arguments with their versions before."""
    rng: torch.Tensor


class Tape:
    """Records entries as the program computes."""

    def __init__(self, recorder: Recorder, mode: Recording) -> None:
        self.recorder = recorder
        self.mode = mode
        self.entries: list[Entry] = []
        self.most_bytes = recorder.limits.memory_bytes // _SHARE
        self.paused = 0
        self.trouble = ""
        """Why nothing more is recorded."""
        self.hooks = False
        """The program hooked a gradient."""
        self.written: set[int] = set()
        """Memory that some entry wrote into."""
        self.left: list[tuple[int, Entry]] = []
        """Calls that gave numbers to Python, each with the entries there were by then."""
        self.precision = 0
        self._slots: dict[int, tuple[weakref.ref[torch.Tensor], int, int]] = {}
        self._leaves: dict[int, tuple[weakref.ref[torch.Tensor], Leaf]] = {}
        self._values: dict[int, tuple[weakref.ref[torch.Tensor], int, Value]] = {}
        self._storages: dict[int, tuple[int, int, torch.Tensor]] = {}
        """Of constants that were written: slot of the whole storage, its group, and an alias that keeps the address."""
        self._numbers = 0
        self._bytes = 0
        self._grad_mode = True

    # Standing in the way

    def install(self) -> None:
        """Sees every call that the recording sees, and every `Function.apply` as one."""
        self.mode.around = self.through

    def stop(self) -> None:
        """Takes it out of the way again; what was recorded stays."""
        self.mode.around = None
        self._slots.clear()
        self._leaves.clear()
        self._values.clear()
        self._storages.clear()

    def through(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], call: Callable[[], Any], custom: str = ""
    ) -> Any:
        """Runs an operation and records it."""
        if self.paused or self.trouble:
            return call()
        self.paused += 1
        self._grad_mode = torch.is_grad_enabled()
        try:
            begun = self._guarded(partial(self._begin, func, args, kwargs, custom))
            result = call()
            if begun is not None:
                self._guarded(partial(self._end, begun, result))
            return result
        finally:
            self.paused -= 1

    def _guarded(self, work: Callable[[], Any]) -> Any:
        try:
            with quiet():
                return work()
        except Impossible as why:
            self.trouble = why.word
        except Exception:
            self.trouble = "replay"
        return None

    # One entry

    def _begin(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], custom: str) -> _Call | None:
        name = custom or _name(func)
        if name in _HOOKS or name == "BackwardHookFunction":
            self.hooks = True
        if name in _HOOKS:
            return None
        if not name or name in _NOT_VALUES or not any(map(self._interesting, tensors_among((args, kwargs)))):
            return None
        if self.recorder.nodes.threaded:
            raise Impossible("threads")
        if len(self.entries) >= MOST_ENTRIES:
            raise Impossible("limit")
        entry = Entry(func, name, None, None, self._grad_mode, custom=custom)
        tensors: list[tuple[torch.Tensor, Operand, int]] = []

        def taken(tensor: object) -> object:
            if not isinstance(tensor, torch.Tensor):
                return tensor
            operand = self.operand(tensor, entry)
            tensors.append((tensor, operand, version_of(tensor)))
            entry.operands.append(operand)
            return operand

        entry.args, entry.kwargs = mapped(args, taken), mapped(kwargs, taken)
        entry.cut = self._cut(name, kwargs, entry.grad_mode)
        if entry.cut or name in _TO_PYTHON:
            entry.site = self.recorder.sites.of(get_frame(3))
        if torch.is_autocast_enabled("cpu"):
            entry.autocast = torch.get_autocast_dtype("cpu")
        return _Call(entry, tensors, torch.get_rng_state())

    @staticmethod
    def _cut(name: str, kwargs: dict[str, Any], grad_mode: bool) -> str:
        if name == "grad":
            return "" if kwargs.get("create_graph") else "grad"
        return _CUTS.get(name, "" if grad_mode else "no_grad")

    def _interesting(self, tensor: torch.Tensor) -> bool:
        if not (tensor.is_floating_point() or tensor.is_complex()):
            return False
        if tensor.requires_grad or self._slot(tensor) is not None:
            return True
        return bool(self._storages) and start_of(tensor) in self._storages

    def _slot(self, tensor: torch.Tensor) -> tuple[int, int] | None:
        known = self._slots.get(id(tensor))
        return known[1:] if known is not None and known[0]() is tensor else None

    def operand(self, tensor: torch.Tensor, entry: Entry | None = None) -> Operand:
        """What a tensor is on this tape."""
        known = self._slot(tensor)
        if is_tracked_leaf(tensor):
            leaf = self._leaf(tensor)
            return Operand(known[0] if known else 0, leaf.group, leaf, leaf.value)
        if known is not None:
            return Operand(*known)
        storage = self._storages.get(start_of(tensor))
        if storage is not None:
            base, group, _ = storage
            geometry = (tuple(tensor.shape), tuple(tensor.stride()), int(tensor.storage_offset()))
            return Operand(self._number(), group, None, Value(tensor.new_empty(0), geometry), base)
        if tensor.requires_grad:
            if entry is None:
                raise Impossible("unseen")
            entry.impossible = "unseen"
            return Operand(group=self._number())
        if is_functorch_wrapped(tensor) and entry is not None:
            entry.impossible = "transform"
            return Operand(group=self._number())
        return Operand(value=self._value(tensor))

    def known_leaf(self, tensor: torch.Tensor) -> Leaf | None:
        """What is known of a leaf that was met before."""
        known = self._leaves.get(id(tensor))
        return known[1] if known is not None and known[0]() is tensor else None

    def _leaf(self, tensor: torch.Tensor) -> Leaf:
        leaf = self.known_leaf(tensor)
        if leaf is None:
            made = self._slot(tensor)
            leaf = Leaf(made[1] if made else self._number())
            self._leaves[id(tensor)] = (weakref.ref(tensor), leaf)
        version = version_of(tensor)
        if leaf.value is None or leaf.version != version or differs(leaf.value, tensor):
            leaf.value, leaf.version = Value(self._copy(tensor)), version
        return leaf

    def _value(self, tensor: torch.Tensor) -> Value:
        version = version_of(tensor)
        known = self._values.get(id(tensor))
        if known is not None and known[0]() is tensor and known[1] == version and not differs(known[2], tensor):
            return known[2]
        value = self._whole(tensor) or Value(self._copy(tensor))
        self._values[id(tensor)] = (weakref.ref(tensor), version, value)
        return value

    def _whole(self, tensor: torch.Tensor) -> Value | None:
        if tensor.layout is not torch.strided or not start_of(tensor) or tensor.is_conj() or tensor.is_neg():
            return None
        count = tensor.untyped_storage().nbytes() // tensor.element_size()
        if count > _WHOLE_STORAGE:
            return None
        whole = tensor.detach().as_strided((count,), (1,), 0)
        return Value(self._copy(whole), (tuple(tensor.shape), tuple(tensor.stride()), int(tensor.storage_offset())))

    def _copy(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.layout is torch.strided:
            self._bytes += tensor.numel() * tensor.element_size()
        if self._bytes > self.most_bytes:
            raise Impossible("memory")
        plain = tensor.detach()
        return plain.clone(memory_format=torch.contiguous_format) if tensor.layout is torch.strided else plain.clone()

    def _number(self) -> int:
        self._numbers += 1
        return self._numbers

    def _end(self, call: _Call, result: Any) -> None:
        entry = call.entry
        for tensor, operand, version in call.tensors:
            if version_of(tensor) != version:
                self._wrote(tensor, operand, entry)
        given = {id(tensor) for tensor, _, _ in call.tensors}
        starts = {start_of(tensor): operand for tensor, operand, _ in call.tensors}
        found = tensors_among(peeked(result))
        if entry.name in LIKES:
            return
        for tensor in found:
            entry.outputs.append(0 if id(tensor) in given else self._result(tensor, starts, entry))
        if not any(entry.outputs) and not entry.writes:
            if entry.name in _TO_PYTHON:
                self.left.append((len(self.entries), entry))
            return
        if not torch.equal(torch.get_rng_state(), call.rng):
            entry.rng = call.rng
        if entry.custom and found:
            state = self.recorder.tensors.state(found[0])
            entry.node = 0 if state is None else state.node
        self.entries.append(entry)

    def _wrote(self, tensor: torch.Tensor, operand: Operand, entry: Entry) -> None:
        """A leaf begins a new epoch; a constant becomes a result."""
        if operand.leaf is not None:
            return
        entry.writes = True
        if not operand.group:
            operand.slot, operand.group = self._number(), self._number()
            self._slots[id(tensor)] = (weakref.ref(tensor), operand.slot, operand.group)
            if operand.value is not None and operand.value.geometry is not None:
                operand.base = self._number()
                self._storages[start_of(tensor)] = (operand.base, operand.group, tensor.detach())
            elif tensor._is_view():
                entry.impossible = "memory"
        entry.groups.append(operand.group)
        self.written.add(operand.group)
        for _, leaf in self._leaves.values():
            if leaf.group == operand.group:
                leaf.version = -1

    def _result(self, tensor: torch.Tensor, starts: dict[int, Operand], entry: Entry) -> int:
        start = start_of(tensor)
        shared = starts.get(start) if start else None
        if shared is not None and not shared.group:
            shared.group = self._number()  # a view of a constant; writing through it is told by the constant's storage
        group = self._number() if shared is None else shared.group
        slot = self._number()
        self._slots[id(tensor)] = (weakref.ref(tensor), slot, group)
        entry.groups.append(group)
        if tensor.is_floating_point() or tensor.is_complex():
            self.precision = max(self.precision, _LOW_PRECISION.get(tensor.dtype, 3))
        return slot


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Nothing done inside is seen by a mode of the program's, or by autograd."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(unseen())
        stack.enter_context(torch.no_grad())
        yield


def _name(func: Any) -> str:
    raw = str(getattr(func, "__name__", ""))
    if raw == "__get__":
        name = str(getattr(func.__self__, "__name__", ""))
        return name if name in PROPERTIES else ""
    return "" if raw in ("__set__", "__delete__") else raw


def differs(value: Value, tensor: torch.Tensor) -> bool:
    """Whether a small tensor was changed by something that raised no version."""
    if tensor.numel() > _COMPARED or tensor.layout is not torch.strided:
        return False
    return not torch.equal(value.of(value.copied), tensor.detach())


def dense(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor with all its elements in memory."""
    return tensor if tensor.layout is torch.strided else tensor.to_dense()


def tensors_among(item: object) -> list[torch.Tensor]:
    """The tensors in a container, or the tensor itself."""
    if isinstance(item, torch.Tensor):
        return [item]
    inner = item.values() if isinstance(item, dict) else item if isinstance(item, tuple | list) else ()
    return [tensor for each in inner for tensor in tensors_among(each)]


def peeked(result: Any) -> Any:
    """What an iterator over rows will give, without taking it."""
    return list(copy.copy(result)) if type(result) in _ITERATORS else result


def mapped(item: Any, change: Callable[[Any], Any]) -> Any:
    """The same containers with everything in them that is none changed."""
    if isinstance(item, torch.Size):
        return item
    if isinstance(item, tuple):
        inner = [mapped(each, change) for each in item]
        return type(item)(*inner) if hasattr(item, "_fields") else tuple(inner)
    if isinstance(item, list):
        return [mapped(each, change) for each in item]
    if isinstance(item, dict):
        return {key: mapped(each, change) for key, each in item.items()}
    return change(item)


T = TypeVar("T")


def spread(items: list[T], most: int) -> list[T]:
    """At most so many, evenly over the list, its ends included."""
    if len(items) <= most:
        return items
    if most < 2:
        return items[:most]
    return [items[round(i * (len(items) - 1) / (most - 1))] for i in range(most)]


__name__ = "__main__"
__warningregistry__ = None
