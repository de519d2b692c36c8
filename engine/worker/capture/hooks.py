"""Tells of every firing of a hook the user registered.

PyTorch makes a handle for each hook it is given: there the registration is seen. What a program can look at, such as
`x._backward_hooks`, keeps the user's own functions; only while an engine call or a module's forward runs does an
observer stand in for each of them.

Like `ops`, this module stands between the user's code and PyTorch, so warnings must not stick to its frames.
"""

import copy
import functools
import itertools
import linecache
import types
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Protocol, TypeAlias

import torch

from engine.events import ChangeWord, HookDone, HookFired, HookKind, Updated
from engine.program.spans import code_points, margin_of
from engine.worker.capture.modules import Modules
from engine.worker.capture.ops import tensors_in
from engine.worker.capture.recorder import Recorder
from engine.worker.pytorch.internals import (
    COLLECT_BACKWARD_HOOKS,
    COLLECT_BACKWARD_PRE_HOOKS,
    FORWARD_HOOKS,
    FORWARD_PRE_HOOKS,
    GLOBAL_BACKWARD_HOOKS,
    GLOBAL_BACKWARD_PRE_HOOKS,
    GLOBAL_FORWARD_HOOKS,
    GLOBAL_FORWARD_PRE_HOOKS,
    HANDLE_INIT,
    REGISTER_NODE_HOOK,
    current_node,
    get_frame,
)
from engine.worker.pytorch.modes import unseen
from engine.worker.pytorch.patching import EntryPoint, Patches
from engine.worker.pytorch.tracebacks import is_detour, is_ours

Dictionary: TypeAlias = Any
"""Hooks by the id of their handle."""

_KINDS: dict[str, HookKind] = {
    "register_hook": "tensor",
    "register_post_accumulate_grad_hook": "accumulate",
    REGISTER_NODE_HOOK.name: "node",
    "register_forward_pre_hook": "forward_pre",
    "register_module_forward_pre_hook": "forward_pre",
    "register_forward_hook": "forward",
    "register_module_forward_hook": "forward",
    "register_full_backward_pre_hook": "backward_pre",
    "register_module_full_backward_pre_hook": "backward_pre",
    "register_full_backward_hook": "backward",
    "register_backward_hook": "backward",
    "register_module_full_backward_hook": "backward",
    "register_module_backward_hook": "backward",
}
"""By the function of PyTorch that makes the handle."""
_IN_ENGINE = frozenset(("tensor", "accumulate", "node"))
_TORCH = str(Path(torch.__file__).parent)
_MULTI_GRAD_HOOK = EntryPoint(torch.autograd.graph, "register_multi_grad_hook")
_GLOBAL: tuple[Dictionary, ...] = (GLOBAL_FORWARD_PRE_HOOKS, GLOBAL_FORWARD_HOOKS)


class GradientRecords(Protocol):
    """Who knows the records of the gradients of the running pass."""

    def entering(self, node: int, input_nr: int, grad: torch.Tensor, new: bool) -> int:
        """Record of a gradient as a hook before a node is given it."""

    def leaving(self, grad: torch.Tensor, new: bool) -> int:
        """Record of a gradient as a hook after a node is given it."""

    def summed(self, node: int) -> None:
        """The `.grad` of a leaf was added to."""


class Registered:
    """One hook as it was registered."""

    __slots__ = ("kind", "output_nr", "site", "tensor")

    def __init__(self, kind: HookKind, site: int, tensor: int = 0, output_nr: int = 0) -> None:
        self.kind = kind
        self.site = site
        self.tensor = tensor
        """First record of the tensor it is on."""
        self.output_nr = output_nr


class _Observer:
    """Stands in for a hook while it can fire; looks like it."""

    __slots__ = ("hook", "hooks", "registered")

    def __init__(self, hooks: "Hooks", hook: Any, registered: Registered) -> None:
        self.hooks = hooks
        self.hook = hook
        self.registered = registered

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.hooks.fire(self.hook, self.registered, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.hook, name)

    def __repr__(self) -> str:
        return repr(self.hook)

    def __eq__(self, other: object) -> bool:
        return bool(self.hook == (other.hook if isinstance(other, _Observer) else other))

    def __hash__(self) -> int:
        return hash(self.hook)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return copy.deepcopy(self.hook, memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _itself, (self.hook,)


def _itself(hook: Any) -> Any:
    return hook


class _Firing:
    """A hook that runs."""

    __slots__ = ("grads", "id", "kind", "node", "site")

    def __init__(self, number: int, kind: HookKind, node: int, site: int) -> None:
        self.id = number
        self.kind = kind
        self.node = node
        self.site = site
        self.grads: list[tuple[int, torch.Tensor, int, int]] = []
        """Place, gradient it is given, version and record of that."""


class Hooks:
    """Observes hooks, and says when one fires and what it changed."""

    backward: GradientRecords

    def __init__(self, recorder: Recorder, modules: Modules) -> None:
        self.recorder = recorder
        self.modules = modules
        self.registered: dict[int, Registered] = {}
        """By the id of the handle, which a copy of a module keeps."""
        self.engine: dict[int, tuple[weakref.ref[Any], list[int]]] = {}
        """Dictionaries that the engine calls hooks from, with the ids registered there."""
        self.fresh = False
        """A hook was registered since the last look."""
        self.in_engine = False
        """Some hook, of whomever, was registered that the engine calls."""
        self.passes = 0
        self.wrapped: dict[int, tuple[Dictionary, int]] = {}
        """Dictionaries of modules whose hooks are stood in for, with the calls that need it."""
        self.fired = self.omitted = 0
        self.spans: dict[int, tuple[CodeType, int]] = {}

    # Registration

    def install(self, patches: Patches) -> None:
        """Watches the making of handles, and the two places where PyTorch hands a user's hook on."""
        init, hooks, numbers = HANDLE_INIT.get(), self, itertools.count(-2, -1)

        @functools.wraps(init)
        def __init__(handle: Any, hooks_dict: Any, *, extra_dict: Any = None) -> None:  # noqa: N807
            if hooks.recorder.thread.is_internal:  # the numbers a program can see are those it would see without us
                handle.hooks_dict_ref, handle.id, handle.extra_dict_ref = weakref.ref(hooks_dict), next(numbers), ()
                return
            init(handle, hooks_dict, extra_dict=extra_dict)
            if _KINDS.get(get_frame(1).f_code.co_name) in _IN_ENGINE:
                hooks.in_engine = True
            hooks.register(handle, hooks_dict, get_frame(1))

        patches.replace(HANDLE_INIT, __init__)
        self._wrap_backward_hooks(patches)
        self._wrap_multi_hooks(patches)

    def register(self, handle: Any, hooks_dict: Dictionary, frame: FrameType) -> None:
        """A handle was made: notes what for, when it is the user who asked."""
        kind = _KINDS.get(frame.f_code.co_name)
        if kind is None or self.recorder.closed:
            return
        with self.recorder.telling("hook"):
            caller = _caller(frame)
            if caller is None or caller.f_code.co_filename.startswith(_TORCH):
                return
            made = self.registered[handle.id] = Registered(kind, self.recorder.sites.of(caller))
            if kind in _IN_ENGINE:
                self._keep(handle.id, hooks_dict)
                tensor = frame.f_locals.get("self")
                if isinstance(tensor, torch.Tensor):
                    made.tensor = self.recorder.tensors.meet(tensor).first
                    made.output_nr = tensor.output_nr

    def _keep(self, number: int, hooks_dict: Dictionary) -> None:
        known = self.engine.get(id(hooks_dict))
        if known is None or known[0]() is not hooks_dict:
            key = id(hooks_dict)
            known = self.engine[key] = (weakref.ref(hooks_dict, functools.partial(self._forget, key)), [])
        known[1].append(number)
        self.fresh = True

    def _forget(self, key: int, reference: "weakref.ref[Any]") -> None:
        known = self.engine.get(key)
        if known is not None and known[0] is reference:
            del self.engine[key]
            for number in known[1]:
                self.registered.pop(number, None)

    def _wrap_backward_hooks(self, patches: Patches) -> None:
        """A module collects its backward hooks at each forward, into lists that nobody else sees."""
        pairs, single, hooks = COLLECT_BACKWARD_HOOKS.get(), COLLECT_BACKWARD_PRE_HOOKS.get(), self

        def _get_backward_hooks(self: Any) -> Any:
            return tuple(hooks.observed(found, self._backward_hooks, GLOBAL_BACKWARD_HOOKS) for found in pairs(self))

        def _get_backward_pre_hooks(self: Any) -> Any:
            return hooks.observed(single(self), self._backward_pre_hooks, GLOBAL_BACKWARD_PRE_HOOKS)

        patches.replace(COLLECT_BACKWARD_HOOKS, _get_backward_hooks)
        patches.replace(COLLECT_BACKWARD_PRE_HOOKS, _get_backward_pre_hooks)

    def observed(self, found: list[Any], *dictionaries: Dictionary) -> list[Any]:
        """The hooks of a list, those of the user observed."""
        numbers = {id(hook): number for hooks in dictionaries for number, hook in hooks.items()}
        return [self._observed(hook, numbers.get(id(hook), -1)) for hook in found]

    def _observed(self, hook: Any, number: int) -> Any:
        registered = self.registered.get(number)
        return hook if registered is None or type(hook) is _Observer else _Observer(self, hook, registered)

    def _wrap_multi_hooks(self, patches: Patches) -> None:
        register, hooks = _MULTI_GRAD_HOOK.get(), self

        @functools.wraps(register)
        def register_multi_grad_hook(*args: Any, **kwargs: Any) -> Any:
            site = hooks.recorder.sites.of(get_frame(1))
            if len(args) > 1:
                args = (args[0], _Observer(hooks, args[1], Registered("tensor", site)), *args[2:])
            elif "fn" in kwargs:
                kwargs["fn"] = _Observer(hooks, kwargs["fn"], Registered("tensor", site))
            return register(*args, **kwargs)

        patches.replace(_MULTI_GRAD_HOOK, register_multi_grad_hook)

    # Standing in

    def begin_pass(self) -> None:
        """The engine is about to run."""
        self.passes += 1
        self.look_again()

    def look_again(self) -> None:
        """Stands in for all hooks the engine may call, also those registered since."""
        self.fresh = False
        for hooks_dict, numbers in self._living():
            self._stand_in(hooks_dict, numbers)

    def end_pass(self) -> None:
        """The engine has ended; the last one gives the hooks back."""
        self.passes -= 1
        if not self.passes:
            for hooks_dict, _ in self._living():
                _give_back(hooks_dict)

    def _living(self) -> Iterator[tuple[Dictionary, list[int]]]:
        for reference, numbers in list(self.engine.values()):
            hooks_dict = reference()
            if hooks_dict is not None:
                yield hooks_dict, numbers

    def _stand_in(self, hooks_dict: Dictionary, numbers: list[int]) -> None:
        for number in numbers:
            hook = hooks_dict.get(number)
            if hook is not None and type(hook) is not _Observer:
                hooks_dict[number] = self._observed(hook, number)

    def wrap_forward(self, module: torch.nn.Module) -> list[Dictionary]:
        """Stands in for the forward hooks of a module and the global ones; `unwrap_forward` must follow."""
        if not self.registered or self.recorder.thread.muted or self.recorder.closed:
            return []
        held = module.__dict__
        wrapped = [hooks for hooks in (held.get(FORWARD_PRE_HOOKS), held.get(FORWARD_HOOKS), *_GLOBAL) if hooks]
        for hooks in wrapped:
            _, count = self.wrapped.get(id(hooks), (hooks, 0))
            self.wrapped[id(hooks)] = (hooks, count + 1)
            if not count:
                self._stand_in(hooks, list(hooks))
        return wrapped

    def unwrap_forward(self, wrapped: list[Dictionary]) -> None:
        """Gives back what `wrap_forward` stood in for."""
        for hooks in wrapped:
            _, count = self.wrapped[id(hooks)]
            if count > 1:
                self.wrapped[id(hooks)] = (hooks, count - 1)
            else:
                del self.wrapped[id(hooks)]
                _give_back(hooks)

    # Firing

    def fire(self, hook: Any, registered: Registered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Calls a hook as it was called, and tells of it."""
        firing = self._begin(hook, registered, args)
        if firing is None:
            return hook(*args, **kwargs)
        raised = True
        result = None
        try:
            result = hook(*args, **kwargs)
            raised = False
            return result
        finally:
            self._end(firing, args, result, raised)

    def _begin(self, hook: Any, registered: Registered, args: tuple[Any, ...]) -> _Firing | None:
        recorder = self.recorder
        if recorder.thread.muted or recorder.closed:
            return None
        if self.fired - recorder.counts.ops_forgotten >= recorder.limits.ops:
            self.omitted += 1
            return None
        try:
            with recorder.lock, unseen():
                return self._tell(hook, registered, args)
        except Exception as error:
            recorder.trouble("hook", error)
            return None

    def _tell(self, hook: Any, registered: Registered, args: tuple[Any, ...]) -> _Firing:
        recorder = self.recorder
        kind = registered.kind
        if kind == "node" and len(args) < 2:
            kind = "node_pre"
        self.fired += 1
        current = None if kind in ("forward", "forward_pre") else current_node()
        node = 0 if current is None else recorder.nodes.known(current) or 0
        module = self.modules.number_of(args[0]) if args and isinstance(args[0], torch.nn.Module) else None
        firing = _Firing(self.fired, kind, node, self._span(hook))
        firing.grads = [
            (place, grad, grad._version, self._record(firing, place, grad))
            for place, grad in _given(kind, registered, args)
        ]
        if kind == "accumulate" or (kind == "node" and current is not None and hasattr(current, "variable")):
            self.backward.summed(node)
        passes = recorder.thread.passes
        input_nr = registered.output_nr if kind == "tensor" and registered.tensor else -1
        recorder.outbox.add(HookFired(
            self.fired, kind, _name(hook), firing.site, registered.site, registered.tensor, node, input_nr, module or 0,
            passes[-1] if passes else 0,
        ))  # fmt: skip
        recorder.outbox.publish()
        return firing

    def _record(self, firing: _Firing, place: int, grad: torch.Tensor, new: bool = False) -> int:
        if firing.kind in ("tensor", "node_pre"):
            return self.backward.entering(firing.node, place, grad, new)
        return self.backward.leaving(grad, new)

    def _end(self, firing: _Firing, args: tuple[Any, ...], result: Any, raised: bool) -> None:
        try:
            with self.recorder.lock, unseen():
                if firing.kind in ("forward", "forward_pre"):
                    changes = self._replaced(firing, args, result)
                else:
                    changes = list(self._changed(firing, result))
                if changes or raised:
                    self.recorder.outbox.add(HookDone(firing.id, tuple(changes), raised))
                if changes and firing.kind not in ("forward", "forward_pre"):
                    words = [ChangeWord(before, after) for _, before, after in changes]
                    running = self.recorder.thread.running_pass
                    update = Updated(0, "hook", tuple(words), site=firing.site, pass_id=running, hook=firing.id)
                    self.recorder.updates.add(update)
                self.recorder.outbox.publish()
        except Exception as error:
            self.recorder.trouble("hook", error)

    def _replaced(self, firing: _Firing, args: tuple[Any, ...], result: Any) -> list[tuple[int, int, int]]:
        """For a forward hook: the first tensor it put another in the place of."""
        if result is None:
            return []
        old, new = tensors_in(args[-1] if firing.kind == "forward" else args[1:]), tensors_in(result)
        for place, (before, after) in enumerate(zip(old, new, strict=False)):
            if before is not after:
                return [(place, self.recorder.tensors.meet(before).id, self.recorder.tensors.meet(after).id)]
        return []

    def _changed(self, firing: _Firing, result: Any) -> Iterator[tuple[int, int, int]]:
        """Gradients the hook returned others for, or wrote into: place, record before, record after."""
        for place, grad, version, before in firing.grads:
            now = result if firing.kind == "tensor" else _at(result, place)
            if not isinstance(now, torch.Tensor):
                now = grad
            if now is not grad or grad._version != version:
                yield place, before, self._record(firing, place, now, new=True)

    # Where a hook's code stands

    def _span(self, hook: Any) -> int:
        """Number of the place of the function's own lines, 0 for code of somebody else's."""
        code = _code(hook)
        if code is None or not self.recorder.sites.is_users(code):
            return 0
        known = self.spans.get(id(code))
        if known is None:
            known = self.spans[id(code)] = (code, self.recorder.sites.fixed(_extent(code)))
        return known[1]


def _given(kind: str, registered: Registered, args: tuple[Any, ...]) -> Iterator[tuple[int, torch.Tensor]]:
    """The gradients a hook may change, with their places; one on several tensors may change none."""
    at: Any = {"tensor": slice(0, 1), "node_pre": 0, "node": 0, "backward_pre": 1, "backward": 1}.get(kind)
    if at is None or (kind == "tensor" and not registered.tensor):
        return
    for place, grad in enumerate(args[at]):
        if isinstance(grad, torch.Tensor):
            yield registered.output_nr if kind == "tensor" else place, grad


def _at(result: Any, place: int) -> Any:
    return result[place] if isinstance(result, tuple) and place < len(result) else None


def _extent(code: CodeType) -> tuple[int, int, int, int]:
    """First and last line and column of a function: from its `def`, or the body of a lambda."""
    places = [
        (line, end_line, start, end) for line, end_line, start, end in code.co_positions()
        if line and end_line and start is not None and end
    ]  # fmt: skip
    end_line, end = max((end_line, end) for _, end_line, _, end in places)
    if code.co_name == "<lambda>":
        line, start = min((line, start) for line, _, start, _ in places)
    else:
        line = code.co_firstlineno
        text = linecache.getline(code.co_filename, line)
        start = len(margin_of(text).encode())
    return line, end_line, _points(code, line, start), _points(code, end_line, end)


def _points(code: CodeType, line: int, offset: int) -> int:
    """A column in code points."""
    return code_points(linecache.getline(code.co_filename, line), offset)


def _code(hook: Any) -> CodeType | None:
    """The code that runs; found without running any of the user's."""
    while isinstance(hook, functools.partial | types.MethodType):
        hook = hook.func if isinstance(hook, functools.partial) else hook.__func__
    if not isinstance(hook, types.FunctionType):
        hook = type(hook).__dict__.get("__call__")
    return hook.__code__ if isinstance(hook, types.FunctionType) else None


def _name(hook: Any) -> str:
    while isinstance(hook, functools.partial):
        hook = hook.func
    named = isinstance(hook, types.FunctionType | types.MethodType | types.BuiltinFunctionType)
    return str(hook.__name__ if named else type(hook).__name__)


def _caller(frame: FrameType) -> FrameType | None:
    """The frame that asked for a hook, past ours and the second call that an active mode makes."""
    code = frame.f_code
    above = frame.f_back
    while above is not None and (
        above.f_code is code or is_ours(above.f_code.co_filename) or is_detour(above.f_code.co_filename)
    ):
        above = above.f_back
    return above


def _give_back(hooks: Dictionary) -> None:
    for number, hook in list(hooks.items()):
        if type(hook) is _Observer:
            hooks[number] = hook.hook


__name__ = "__main__"
__warningregistry__ = None
