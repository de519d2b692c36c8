"""What is known only at the end: final names, values, gradients and modules, and the contents of larger tensors."""

import base64
import re
import types
from collections.abc import Callable, Container, Iterable
from functools import partial
from typing import Any, TypeVar

import numpy as np
import torch

from engine.bounds import MOST_CHARACTERS, MOST_MODULES, MOST_VARIABLES, MOST_WARNINGS
from engine.events import ArraySeen, BlobSaid, GradKept, Named, Omitted, TensorChanged, VariableSeen
from engine.worker.capture.cells_read import Reading
from engine.worker.capture.modules import Modules
from engine.worker.capture.nodes import NEVER
from engine.worker.capture.passes import Backward
from engine.worker.capture.recorder import Recorder
from engine.worker.capture.safe_repr import class_name, plain_text
from engine.worker.capture.tensor_facts import INLINE, as_array, look
from engine.worker.capture.tensor_state import State

_T = TypeVar("_T")
_MOST_TENSORS = 64  # of one list or dict
_MOST_PLACES = 1_000  # in one variable
_FURTHEST = 20_000  # place in a list at which a leaf may still stand to be named
_DEEPEST = 8
_PLAIN = (int, float, complex, str, bytes)
"""Values whose names are left out first."""
_BLOB_BYTES = 1 << 20
_BLOBS_BYTES = 16 << 20


class FinalState:
    """Tells the end of the program from its globals."""

    def __init__(
        self, recorder: Recorder, modules: Modules, backward: Backward, reading: Reading, before: frozenset[str]
    ) -> None:
        self.recorder = recorder
        self.modules = modules
        self.backward = backward
        self.reading = reading
        self.before = before
        self.named: dict[int, tuple[torch.Tensor, State]] = {}
        self.told: set[int] = set()
        """The modules among the variables, by their ids: the variables hold them."""
        self.placed: set[int] = set()
        """The leaves that a long list named, by their ids: one list alone does."""
        self.chosen: list[tuple[torch.Tensor, int]] = []
        self.arrays: list[tuple[str, np.ndarray[Any, Any]]] = []
        """Those among the variables, by place."""

    def tell(self, names: dict[str, Any]) -> None:
        """Variables, modules, `.grad`s; each guarded, so that one odd value costs only itself."""
        self.recorder.lifetimes.flush()
        mine = [(name, value) for name, value in names.items() if name not in self.before]
        if len(mine) > MOST_VARIABLES:
            cut = Omitted("variables", "variables", MOST_VARIABLES, len(mine) - MOST_VARIABLES)
            self.recorder.outbox.say(cut)
            room = MOST_VARIABLES - sum(not isinstance(value, _PLAIN) for _, value in mine)
            plain = [name for name, value in mine if isinstance(value, _PLAIN)]
            left_out = set(plain[max(0, room) :])
            mine = [(name, value) for name, value in mine if name not in left_out][:MOST_VARIABLES]
        nodes = self.recorder.nodes
        nodes.begin(0, NEVER)
        turned = self.modules.turned()
        for name, value in mine:
            self._guard(name, partial(self._modules, name, value, turned))
        for name, value in mine:
            self._guard(name, partial(self._variable, name, value))
        self._guard("arrays", self._arrays)
        for module, number in self.modules.known():
            self._guard("module", partial(self.modules.tell_end, module, number))
        for state in list(self.recorder.tensors.states.values()):
            tensor = state.ref()
            if tensor is not None and state.role in ("leaf", "parameter", "result"):
                self._guard("grad", partial(self._grad, tensor, state))
        self._guard("contents", self.choose)
        self.cuts()

    def cuts(self) -> None:
        """Says what was left out."""
        counts, limits, hooks, modules = self.recorder.counts, self.recorder.limits, self.backward.hooks, self.modules
        printed = max(0, counts.output_bytes - limits.output_bytes)
        for what, limit, kept, omitted in (
            ("hooks", "ops", hooks.fired, hooks.omitted),
            ("calls", "ops", modules.begun, modules.omitted),
            ("ops", "ops", counts.ops_kept, counts.ops_omitted),
            ("updates", "ops", counts.updates_kept, counts.updates_omitted),
            ("reads", "cells", self.reading.kept, self.reading.omitted),
            ("output", "output_bytes", limits.output_bytes, printed),
            ("modules", "modules", MOST_MODULES, modules.untold),
            ("warnings", "warnings", MOST_WARNINGS, counts.warnings - MOST_WARNINGS),
        ):
            if omitted > 0:
                self.recorder.outbox.add(Omitted(what, limit, kept, omitted))
        self.recorder.outbox.publish()

    def _guard(self, what: str, tell: Callable[[], None]) -> None:
        try:
            tell()
        except Exception as error:
            self.recorder.trouble(what, error)

    # Variables

    def _variable(self, name: str, value: Any) -> None:
        seen = self._seen(name, value)
        if seen is not None:
            self.recorder.outbox.say(seen)

    def _seen(self, name: str, value: Any) -> VariableSeen | None:
        cls = class_name(value)
        if isinstance(value, torch.Tensor):
            return VariableSeen(name, "tensor", cls, self._last(value, name), 0, None, ())
        if isinstance(value, torch.nn.Module):
            return VariableSeen(name, "module", cls, 0, self.modules.number_of(value) or 0, None, ())
        if isinstance(value, torch.optim.Optimizer):
            return VariableSeen(name, "optimizer", cls, 0, 0, None, ())
        if isinstance(value, type):
            return VariableSeen(name, "class", cls, 0, 0, None, ())
        if isinstance(value, types.ModuleType):
            return None
        if isinstance(value, _FUNCTIONS):
            return VariableSeen(name, "function", cls, 0, 0, None, ())
        tensors = _inside(value, name, torch.Tensor)
        inside = tuple([self._last(tensor, place) for place, tensor, direct in tensors if direct])
        for place, tensor, direct in tensors:
            if not direct:
                self._last(tensor, place)
        for place, leaf in _further(value, name, self._is_leaf_without_place):
            self._last(leaf, place)
        self.arrays += [(place, array) for place, array, _ in _inside(value, name, np.ndarray)]
        if isinstance(value, np.ndarray):
            return VariableSeen(name, "array", cls, 0, 0, _value_text(value), ())
        text = _value_text(value)
        return VariableSeen(name, "value", cls, 0, 0, text, inside)

    def _is_leaf_without_place(self, tensor: torch.Tensor) -> bool:
        """Whether it is a leaf that the trace has and no long list named so far."""
        state = self.recorder.tensors.state(tensor)
        if state is None or state.role != "leaf" or not state.requires_grad or id(tensor) in self.placed:
            return False
        self.placed.add(id(tensor))
        return True

    def _arrays(self) -> None:
        """Says in which storages the arrays lie that lie in any."""
        memory = self.recorder.storages.memory() if self.arrays else []
        for name, array in self.arrays:
            low, high = np.lib.array_utils.byte_bounds(array)
            numbers = {number for start, end, number in memory if start < high and low < end}
            owner: Any = array
            while isinstance(owner, np.ndarray):
                owner = owner.base
            if isinstance(owner, torch.Tensor) and (storage := self.recorder.storages.of(owner)) is not None:
                numbers.add(storage.id)  # the tensor it was made of may be gone
            if numbers and array.size:
                self.recorder.outbox.add(ArraySeen(name, tuple(sorted(numbers))))

    def _last(self, tensor: torch.Tensor, name: str) -> int:
        """The record of the tensor's state now, however it came to be."""
        recorder = self.recorder
        state = recorder.tensors.meet(tensor)
        if not look(tensor, state.is_undefined).tells_the_same(state.look):
            recorder.tensors.outside(tensor, state)
        elif tensor.requires_grad != state.requires_grad:
            recorder.tensors.reconsider(tensor, state)
        recorder.tensors.link(tensor, state)
        recorder.outbox.add(Named(state.id, name))
        self.named[id(tensor)] = (tensor, state)
        return state.id

    def _modules(self, name: str, value: object, turned: Container[str]) -> None:
        """A module, or those that a variable holds in a list, a dict or an object and no earlier one has."""
        if isinstance(value, torch.nn.Module):  # which a metaclass of the program's may answer
            self.modules.rename_parts(value, name, turned)
            self._module(name, value)
        elif not isinstance(value, (type, types.ModuleType, torch.optim.Optimizer, *_FUNCTIONS)):
            for place, module, _ in _inside(value, name, torch.nn.Module):
                if id(module) not in self.told:
                    self.modules.rename(module, place)
                    self._module(place, module)

    def _module(self, name: str, module: torch.nn.Module) -> None:
        self.modules.tell(module, name, 0)
        self.told.add(id(module))
        told = [pair for pair in torch.nn.Module.named_modules(module, prefix=name) if self.modules.number_of(pair[1])]
        for members in (torch.nn.Module.named_parameters, torch.nn.Module.named_buffers):
            met: set[int] = set()
            for place, part in told:
                for path, tensor in members(part, prefix=place, recurse=False):
                    if id(tensor) not in met:  # PyTorch names it by where it is first
                        met.add(id(tensor))
                        self._last(tensor, path)

    # Gradients

    def _grad(self, tensor: torch.Tensor, state: State) -> None:
        if not (tensor.is_leaf or tensor.retains_grad):
            return
        grad = tensor.grad
        if grad is None:
            return
        kept = self.recorder.tensors.meet(grad, "gradient")
        if not look(grad).tells_the_same(kept.look):
            self.recorder.tensors.outside(grad, kept)
        self.named[id(grad)] = (grad, kept)
        self.recorder.outbox.add(GradKept(state.id, kept.id))

    # Contents

    def choose(self) -> None:
        """Chooses the larger tensors whose elements are sent at the end, while the budget lasts."""
        left = _BLOBS_BYTES
        for tensor, state in self.named.values():
            size = tensor.numel() * tensor.element_size()
            readable = (
                state.look.rest is None or state.look.rest.summary is not None
            ) and tensor.layout is torch.strided
            if tensor.numel() > INLINE and size <= min(_BLOB_BYTES, left) and readable:
                left -= size
                self.chosen.append((tensor, state.id))
                self.recorder.outbox.add(TensorChanged(state.id, stored=True))

    def blobs(self) -> Iterable[BlobSaid]:
        """The elements of the chosen tensors."""
        for tensor, number in self.chosen:
            try:
                array = np.ascontiguousarray(as_array(tensor.detach().cpu()))
            except Exception as error:
                self.recorder.trouble("contents", error)
                continue
            raw = base64.b64encode(array.tobytes()).decode()
            yield BlobSaid(number, array.dtype.name, tuple(tensor.shape), raw)


def _inside(value: object, name: str, kind: type[_T]) -> list[tuple[str, _T, bool]]:
    """Values of a kind in a container or an object of the program's, with the place of each, and whether the container
    itself holds it."""
    found: list[tuple[str, _T, bool]] = []
    todo: list[tuple[str, object, int]] = [(name, value, 0)]
    met = {id(value)}
    while todo and len(found) < _MOST_PLACES:
        place, item, depth = todo.pop()
        if isinstance(item, kind):
            found.append((place, item, depth == 1 and not _attributes(value)))
        elif depth < _DEEPEST:
            inner = [(f"{place}{part}", v) for part, v in _parts(item) if isinstance(v, kind) or id(v) not in met]
            met.update(id(v) for _, v in inner)
            todo.extend((where, v, depth + 1) for where, v in reversed(inner))
    return found


def _further(value: object, name: str, is_wanted: Callable[[torch.Tensor], bool]) -> Iterable[tuple[str, torch.Tensor]]:
    """What is wanted of the tensors in long lists that stand behind their first, with the place of each."""
    for where, found, _ in _inside(value, name, list):
        for at, item in enumerate(found[_MOST_TENSORS:_FURTHEST], _MOST_TENSORS):
            if isinstance(item, torch.Tensor) and is_wanted(item):
                yield f"{where}[{at}]", item


def _parts(item: object) -> list[tuple[str, object]]:
    """What a list, a dict or an object of the program's holds, each by how it is reached."""
    if isinstance(item, list | tuple):
        return [(f"[{i}]", v) for i, v in enumerate(item[:_MOST_TENSORS])]
    if isinstance(item, dict):
        return [(f"[{plain_text(k)}]", v) for k, v in list(item.items())[:_MOST_TENSORS]]
    return [(f".{k}", v) for k, v in list(_attributes(item).items())[:_MOST_TENSORS]]


def _attributes(item: object) -> dict[str, object]:
    """Those of a plain object of the program's own, whose code is not asked; a module's members have names already."""
    cls = type(item)
    if cls.__module__ != "__main__" or issubclass(cls, torch.nn.Module | type):
        return {}
    try:
        found: dict[str, object] = object.__getattribute__(item, "__dict__")
    except AttributeError:  # it has slots
        return {}
    return found


def _value_text(value: object) -> str:
    """The repr, without addresses and numbers of threads: two runs of one program have one trace."""
    try:
        text = _start_of_repr(value)
    except BaseException:  # a program may raise anything here
        text = f"<{class_name(value)}>"
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"


def _start_of_repr(value: object) -> str:
    """As much of the repr as is shown: that of thousands of tensors takes longer than making them."""
    if type(value) is list and len(value) > _MANY:
        text = "["
        for item in value:
            text += f"{_stable_repr(item)}, "
            if len(text) > MOST_CHARACTERS:
                return text
    return _stable_repr(value)


def _stable_repr(value: object) -> str:
    return _THREAD.sub(r"\1)>", _ADDRESS.sub(" at 0x0", repr(value)))


_MANY = 100
_ADDRESS = re.compile(r" at 0x[0-9a-f]{6,}")
_THREAD = re.compile(r"( (?:started|stopped)(?: daemon)?) \d{6,}\)>")
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)
