"""Wrappers around the few PyTorch entry points that no mode or hook sees: modules, `Function.apply`, `zero_grad`.

Like `calls`, this module stands between the user's code and PyTorch, so warnings must not stick to its frames.
"""

import functools
import inspect
import itertools
import sys
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

import torch
import torch.utils.data

from engine.events import Found
from engine.worker.capture.hooks import Hooks
from engine.worker.capture.modules import Modules
from engine.worker.capture.op_names import Called
from engine.worker.capture.ops import Recording
from engine.worker.capture.optimizers import Optimizers
from engine.worker.capture.record import PROGRAM, Ledger, Reference

_disabled = torch._C.DisableTorchFunction


def wrap_modules(modules: Modules, hooks: Hooks) -> None:
    """Every module call is noted; `__call__` is wrapped because global hooks would change the user's tracebacks."""
    original = torch.nn.Module.__call__

    def __call__(self: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
        enter(self, sys._getframe(1))
        held = self.__dict__
        hooked = held.get("_forward_hooks") or held.get("_forward_pre_hooks") or after or before
        worn = hooks.dress(self) if hooked else None
        raised = True
        try:
            result = original(self, *args, **kwargs)
            raised = False
            return result
        finally:
            leave(raised)
            if worn:
                hooks.undress(worn)

    before, after = torch.nn.modules.module._global_forward_pre_hooks, torch.nn.modules.module._global_forward_hooks
    enter, leave = modules.enter, modules.leave
    modules.entrance = __call__.__code__
    torch.nn.Module.__call__ = __call__  # type: ignore[method-assign]


def keep_fast_paths(mode: Recording) -> None:
    """`nn.MultiheadAttention` and the transformer layers take their fused path only when no tensor has a torch function;
    they ask through this name, and recording must not count."""
    original = torch.overrides.has_torch_function

    def has_torch_function(arguments: Any) -> bool:
        if torch._C._len_torch_function_stack() == 1 and torch._C._get_function_stack_at(0) is mode:
            torch._C._pop_torch_function_stack()
            try:
                return bool(original(arguments))
            finally:
                torch._C._push_on_torch_function_stack(mode)
        return bool(original(arguments))

    torch.overrides.has_torch_function = has_torch_function  # type: ignore[assignment]


def wrap_threads(mode: Recording) -> None:
    """Modes belong to a thread: the program's own threads get one too."""
    start, begin = threading.Thread.start, threading.Thread._bootstrap_inner  # type: ignore[attr-defined]
    walker = mode.ledger.walker
    walker.home = threading.get_ident()
    numbers = itertools.count(1)

    def started(self: threading.Thread) -> None:
        walker.threaded = True
        mode.plans.clear()
        start(self)

    def _bootstrap_inner(self: threading.Thread) -> None:
        mode.here.number = next(numbers)
        with mode:
            begin(self)

    threading.Thread.start = started  # type: ignore[method-assign]
    threading.Thread._bootstrap_inner = _bootstrap_inner  # type: ignore[attr-defined]


def replace_compile(ledger: Ledger) -> None:
    """`torch.compile` gives back what it got: there is no compiler in the sandbox, and the graph would not be the user's."""

    def compile(model: Any = None, **options: Any) -> Any:
        if model is None:
            return lambda function: compile(function, **options)
        ledger.say(Found("compile_eager", "note", ledger.site(sys._getframe(1)), {}))
        return model

    torch.compile = compile


def replace_workers(ledger: Ledger) -> None:
    """A `DataLoader` with worker processes loads in this one."""
    loader: Any = torch.utils.data.DataLoader
    original = loader.__init__

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        bound = _signature.bind(self, *args, **kwargs)
        workers = bound.arguments.get("num_workers", 0)
        if type(workers) is int and workers > 0:
            for name in ("num_workers", "prefetch_factor", "persistent_workers", "timeout", "multiprocessing_context"):
                bound.arguments.pop(name, None)
            ledger.say(Found("workers_replaced", "note", ledger.site(sys._getframe(1)), {"workers": str(workers)}))
        original(*bound.args, **bound.kwargs)

    _signature = inspect.signature(original)
    loader.__init__ = __init__


def wrap_saved_hooks(ledger: Ledger) -> None:
    """Hooks on what nodes save run the program's code in forward and in backward; PyTorch hands them on by these names."""
    module: Any = torch._C._autograd
    push, pop, register = (
        module._push_saved_tensors_default_hooks, module._pop_saved_tensors_default_hooks, module.SavedTensor.register_hooks,
    )  # fmt: skip

    def _push_saved_tensors_default_hooks(pack: Any, unpack: Any) -> None:
        push(pack, unpack)
        ledger.unpacks = True
        ledger.packing += 1

    def _pop_saved_tensors_default_hooks() -> None:
        pop()
        ledger.packing -= 1

    def register_hooks(self: Any, pack: Any, unpack: Any) -> None:
        ledger.unpacks = True
        register(self, pack, unpack)

    module._push_saved_tensors_default_hooks = _push_saved_tensors_default_hooks
    module._pop_saved_tensors_default_hooks = _pop_saved_tensors_default_hooks
    module.SavedTensor.register_hooks = register_hooks


def wrap_from_numpy(mode: Recording) -> None:
    """`torch.from_numpy` takes no tensor, so PyTorch asks no mode."""
    original = torch.from_numpy

    @functools.wraps(original)
    def from_numpy(*args: Any, **kwargs: Any) -> Any:
        if not torch._C._is_torch_function_mode_enabled():
            return original(*args, **kwargs)
        return mode.__torch_function__(original, (), args, kwargs)

    torch.from_numpy = from_numpy


def wrap_set(mode: Recording) -> None:
    """`Tensor.set_`, which PyTorch asks no mode about; only the program's own calls, libraries build tensors with it."""
    original: Any = torch.Tensor.set_

    @functools.wraps(original)
    def set_(*args: Any, **kwargs: Any) -> Any:
        caller = sys._getframe(1)
        if caller.f_code.co_filename != PROGRAM or not torch._C._is_torch_function_mode_enabled():
            return original(*args, **kwargs)
        return mode.__torch_function__(original, (), args, kwargs)

    torch.Tensor.set_ = set_  # type: ignore[method-assign]


def wrap_swaps(mode: Recording) -> None:
    """`torch.utils.swap_tensors`, as modules use it when they convert, refuses tensors that somebody refers to weakly."""
    original: Any = torch.utils.swap_tensors

    def getweakrefs(tensor: torch.Tensor) -> list[object]:
        return [reference for reference in weakref.getweakrefs(tensor) if type(reference) is not Reference]

    @functools.wraps(original)
    def swap_tensors(t1: torch.Tensor, t2: torch.Tensor) -> None:
        original(t1, t2)
        if not (mode.here.muted or mode.over):
            mode.observer.swapped(t1, t2, sys._getframe(1))

    torch.utils.weakref = types.SimpleNamespace(getweakrefs=getweakrefs)  # type: ignore[assignment, attr-defined]
    torch.utils.swap_tensors = swap_tensors


def wrap_functions(mode: Recording) -> None:
    """`Function.apply` is one op, named for the user's class."""
    original: Callable[..., Any] = torch.autograd.Function.__dict__["apply"].__func__
    known: dict[type, Called] = {}

    def apply(cls: type, *args: Any, **kwargs: Any) -> Any:
        if torch._C._get_tracing_state() is not None:
            return original(cls, *args, **kwargs)
        called = known.get(cls)
        if called is None:
            called = known[cls] = mode.introduce(Called(cls.__name__, f"{cls.__qualname__}.apply"))
        if mode.here.muted or mode.over:
            thin = mode.ledger.thin
            if mode.over or not thin.muted or thin.skips(called, sys._getframe(1)):
                return original(cls, *args, **kwargs)
        return mode.call(called, functools.partial(original, cls), args, kwargs, sys._getframe(1))

    functools.update_wrapper(apply, original)
    torch.autograd.Function.apply = classmethod(apply)  # type: ignore[assignment]


def wrap_zero_grad(optimizers: Optimizers) -> None:
    """`zero_grad` of optimizers and of modules, each once however they call each other."""
    _wrap_zero_grad(torch.optim.Optimizer, "optimizer", _parameters_of_optimizer, optimizers)
    _wrap_zero_grad(torch.nn.Module, "module", lambda module: list(module.parameters()), optimizers)


def _parameters_of_optimizer(optimizer: Any) -> list[torch.Tensor]:
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def _wrap_zero_grad(
    owner: Any, kind: str, parameters: Callable[[Any], list[torch.Tensor]], optimizers: Optimizers
) -> None:
    original = owner.zero_grad
    mode, ledger = optimizers.mode, optimizers.ledger

    @functools.wraps(original)
    def zero_grad(self: Any, set_to_none: bool = True) -> None:
        ledger.thin.turn(sys._getframe(1))
        if mode.here.muted or mode.over or ledger.thin.skips_update():
            ledger.thin.gap.updates += 1
            original(self, set_to_none)
            return
        before: list[Any] = []
        try:
            with _disabled():
                before = optimizers.grads(parameters(self))
        except Exception as error:
            ledger.trouble("zero_grad", error)
        mode.here.muted += 1
        try:
            original(self, set_to_none)
        finally:
            mode.here.muted -= 1
        try:
            with _disabled():
                optimizers.zeroed(self, kind, before, ledger.site(sys._getframe(1)), set_to_none)
        except Exception as error:
            ledger.trouble("zero_grad", error)

    owner.zero_grad = zero_grad


__name__ = "__main__"
__warningregistry__ = None
