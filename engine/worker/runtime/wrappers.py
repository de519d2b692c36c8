"""Wrappers around the few PyTorch entry points that no mode or hook sees: modules, `Function.apply`, `step`,
`zero_grad`.

Like `capture.ops`, this module stands between the user's code and PyTorch, so warnings must not stick to its frames.
"""

import functools
import inspect
import itertools
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import torch
import torch.utils.data

from engine.events import Found
from engine.worker.capture.hooks import Hooks
from engine.worker.capture.lifetimes import Reference
from engine.worker.capture.modules import Modules
from engine.worker.capture.op_names import Called
from engine.worker.capture.ops import Recording
from engine.worker.capture.optimizers import Optimizers
from engine.worker.capture.recorder import Recorder
from engine.worker.pytorch.internals import (
    FORWARD_HOOKS,
    FORWARD_PRE_HOOKS,
    GLOBAL_FORWARD_HOOKS,
    GLOBAL_FORWARD_PRE_HOOKS,
    HAS_TORCH_FUNCTION,
    PUSH_SAVED_HOOKS,
    REGISTER_SAVED_HOOKS,
    SWAP_WEAKREF,
    THREAD_BOOTSTRAP,
    VARIABLE_CALL,
    WRAP_STEP,
    function_mode_at,
    function_mode_count,
    function_mode_enabled,
    get_frame,
    pop_function_mode,
    push_function_mode,
    saved_hooks_in_force,
    tracing_state,
)
from engine.worker.pytorch.modes import unseen
from engine.worker.pytorch.patching import EntryPoint, Patches

MODULE_CALL = EntryPoint(torch.nn.Module, "__call__")
MODULE_ZERO_GRAD = EntryPoint(torch.nn.Module, "zero_grad")
OPTIMIZER_ZERO_GRAD = EntryPoint(torch.optim.Optimizer, "zero_grad")
FUNCTION_APPLY = EntryPoint(torch.autograd.Function, "apply")
FROM_NUMPY = EntryPoint(torch, "from_numpy")
SET = EntryPoint(torch.Tensor, "set_")
SWAP_TENSORS = EntryPoint(torch.utils, "swap_tensors")
COMPILE = EntryPoint(torch, "compile")
LOADER_INIT = EntryPoint(torch.utils.data.DataLoader, "__init__")
DATA_PARALLEL_INIT = EntryPoint(torch.nn.DataParallel, "__init__")
THREAD_START = EntryPoint(threading.Thread, "start")


def wrap_modules(modules: Modules, hooks: Hooks, patches: Patches) -> None:
    """Every module call is noted; `__call__` is wrapped because global hooks would change the user's tracebacks."""
    original = MODULE_CALL.get()

    def __call__(self: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
        enter(self, get_frame(1))
        held = self.__dict__
        hooked = held.get(FORWARD_HOOKS) or held.get(FORWARD_PRE_HOOKS) or after or before
        wrapped = hooks.wrap_forward(self) if hooked else None
        raised = True
        try:
            result = original(self, *args, **kwargs)
            raised = False
            return result
        finally:
            leave(raised)
            if wrapped:
                hooks.unwrap_forward(wrapped)

    before, after = GLOBAL_FORWARD_PRE_HOOKS, GLOBAL_FORWARD_HOOKS
    enter, leave = modules.enter, modules.leave
    modules.entrance = __call__.__code__
    modules.recorder.sites.through.add(id(__call__.__code__))
    patches.replace(MODULE_CALL, __call__)


def keep_fast_paths(mode: Recording, patches: Patches) -> None:
    """`nn.MultiheadAttention` and the transformer layers take their fused path only when no tensor has a torch
    function; they ask through this name, and recording must not count."""
    original = HAS_TORCH_FUNCTION.get()

    def has_torch_function(arguments: Any) -> bool:
        if function_mode_count() == 1 and function_mode_at(0) is mode:
            pop_function_mode()
            try:
                return bool(original(arguments))
            finally:
                push_function_mode(mode)
        return bool(original(arguments))

    patches.replace(HAS_TORCH_FUNCTION, has_torch_function)


def wrap_threads(mode: Recording, patches: Patches) -> None:
    """Modes belong to a thread: the program's own threads get one too."""
    start, begin = THREAD_START.get(), THREAD_BOOTSTRAP.get()
    nodes = mode.recorder.nodes
    nodes.be_home()
    numbers = itertools.count(1)

    def started(self: threading.Thread) -> None:
        nodes.meet_threads()
        start(self)

    def _bootstrap_inner(self: threading.Thread) -> None:
        mode.thread.begin(next(numbers))
        with mode:
            begin(self)

    patches.replace(THREAD_START, started)
    patches.replace(THREAD_BOOTSTRAP, _bootstrap_inner)


def replace_compile(recorder: Recorder, patches: Patches) -> None:
    """`torch.compile` compiles nothing: there is no compiler in the sandbox, and the graph would not be the user's. A
    function it gives back, a module in what PyTorch puts around one, `_orig_mod` in the names of its parameters
    (OptimizedModule in torch/_dynamo/eval_frame.py). What PyTorch itself compiles for `torch.cond` and its kin
    (torch/_higher_order_ops) it needs compiled, and no compiler is asked: there its own way goes on, unseen, for
    tracing would run into the modes of recording."""
    original = COMPILE.get()

    def compile(model: Any = None, **options: Any) -> Any:
        if model is None:
            return lambda function: compile(function, **options)
        if _is_higher_order(get_frame(1)):
            return lambda *args, **kwargs: _call_unseen(original(model, **options), args, kwargs)
        recorder.outbox.say(Found("compile_eager", "note", recorder.sites.of(get_frame(1)), {}))
        is_held = isinstance(model, torch.nn.Module) and not options.get("disable")
        return torch.compiler.disable(model) if is_held else model  # type: ignore[no-untyped-call]

    patches.replace(COMPILE, compile)


def _is_higher_order(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith("torch._higher_order_ops.")


def _call_unseen(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    with unseen():
        return function(*args, **kwargs)


def replace_workers(recorder: Recorder, patches: Patches) -> None:
    """A `DataLoader` with worker processes loads in this one."""
    original = LOADER_INIT.get()

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        given = dict(zip(_places, args, strict=False)) | kwargs
        workers = given.get("num_workers", 0)
        is_right = len(given) == len(args) + len(kwargs)
        if is_right and type(workers) is int and workers > 0:
            for name in ("num_workers", "prefetch_factor", "persistent_workers", "timeout", "multiprocessing_context"):
                given.pop(name, None)
            args, kwargs = (), given
            recorder.outbox.say(
                Found("workers_replaced", "note", recorder.sites.of(get_frame(1)), {"workers": str(workers)})
            )
        original(self, *args, **kwargs)

    parameters = inspect.signature(original).parameters.values()
    _places = [parameter.name for parameter in parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD][1:]
    patches.replace(LOADER_INIT, __init__)


def note_data_parallel(recorder: Recorder, patches: Patches) -> None:
    """`nn.DataParallel` without a GPU hands all to the model it was given (torch/nn/parallel/data_parallel.py)."""
    original: Callable[..., None] = DATA_PARALLEL_INIT.get()

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        original(self, *args, **kwargs)
        if not self.device_ids:
            recorder.outbox.say(Found("data_parallel_alone", "note", recorder.sites.of(get_frame(1)), {}))

    patches.replace(DATA_PARALLEL_INIT, __init__)


def wrap_saved_hooks(recorder: Recorder, patches: Patches) -> None:
    """Hooks on what nodes save run the program's code in forward and in backward; PyTorch hands them on by these
    names."""
    push, register = PUSH_SAVED_HOOKS.get(), REGISTER_SAVED_HOOKS.get()
    if saved_hooks_in_force():
        recorder.saved_hooks.meet()

    def _push_saved_tensors_default_hooks(pack: Any, unpack: Any) -> None:
        push(pack, unpack)
        recorder.saved_hooks.meet()

    def register_hooks(self: Any, pack: Any, unpack: Any) -> None:
        recorder.saved_hooks.meet()
        register(self, pack, unpack)

    patches.replace(PUSH_SAVED_HOOKS, _push_saved_tensors_default_hooks)
    patches.replace(REGISTER_SAVED_HOOKS, register_hooks)


def wrap_from_numpy(mode: Recording, patches: Patches) -> None:
    """`torch.from_numpy` takes no tensor, so PyTorch asks no mode."""
    original = FROM_NUMPY.get()

    @functools.wraps(original)
    def from_numpy(*args: Any, **kwargs: Any) -> Any:
        if not function_mode_enabled():
            return original(*args, **kwargs)
        return mode.__torch_function__(original, (), args, kwargs)

    patches.replace(FROM_NUMPY, from_numpy)


def wrap_variable(mode: Recording, patches: Patches) -> None:
    """`Variable(tensor)` of old programs, which PyTorch asks no mode about: the same values without their graph."""

    def Variable(*args: Any, **kwargs: Any) -> Any:  # noqa: N802
        return type.__call__(torch.autograd.Variable, *args, **kwargs)

    def __call__(cls: type, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
        if not args or not isinstance(args[0], torch.Tensor) or not function_mode_enabled():
            return type.__call__(cls, *args, **kwargs)
        return mode.__torch_function__(Variable, (), args, kwargs)

    Variable.__module__ = "torch.autograd"
    patches.replace(VARIABLE_CALL, __call__)


def wrap_set(mode: Recording, patches: Patches) -> None:
    """`Tensor.set_`, which PyTorch asks no mode about; only the program's own calls, libraries build tensors with
    it."""
    original = SET.get()

    @functools.wraps(original)
    def set_(*args: Any, **kwargs: Any) -> Any:
        caller = get_frame(1)
        if not mode.recorder.sites.is_users(caller.f_code) or not function_mode_enabled():
            return original(*args, **kwargs)
        return mode.__torch_function__(original, (), args, kwargs)

    patches.replace(SET, set_)


def wrap_swaps(mode: Recording, patches: Patches) -> None:
    """`torch.utils.swap_tensors`, as modules use it when they convert, refuses tensors that somebody refers to
    weakly."""
    original = SWAP_TENSORS.get()

    def getweakrefs(tensor: torch.Tensor) -> list[object]:
        return [reference for reference in weakref.getweakrefs(tensor) if type(reference) is not Reference]

    @functools.wraps(original)
    def swap_tensors(t1: torch.Tensor, t2: torch.Tensor) -> None:
        original(t1, t2)
        if not (mode.thread.muted or mode.over):
            mode.observer.swapped(t1, t2, get_frame(1))

    patches.replace(SWAP_WEAKREF, types.SimpleNamespace(getweakrefs=getweakrefs))
    patches.replace(SWAP_TENSORS, swap_tensors)


def wrap_functions(mode: Recording, patches: Patches) -> None:
    """`Function.apply` is one op, named for the user's class."""
    original: Callable[..., Any] = FUNCTION_APPLY.get().__func__
    known: dict[type, Called] = {}

    def apply(cls: type, *args: Any, **kwargs: Any) -> Any:
        if mode.around is not None:
            run = functools.partial(recorded, cls, get_frame(1), args, kwargs)
            return mode.around(functools.partial(original, cls), args, kwargs, run, cls.__name__)
        return recorded(cls, get_frame(1), args, kwargs)

    def recorded(cls: type, frame: FrameType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if tracing_state() is not None:
            return original(cls, *args, **kwargs)
        called = known.get(cls)
        if called is None:
            called = known[cls] = mode.introduce(Called(cls.__name__, f"{cls.__qualname__}.apply"))
        if mode.thread.muted or mode.over:
            sampler = mode.recorder.sampler
            if mode.over or not sampler.muted or sampler.skips(called, frame):
                return original(cls, *args, **kwargs)
        return mode.call(called, functools.partial(original, cls), args, kwargs, frame)

    functools.update_wrapper(apply, original)
    patches.replace(FUNCTION_APPLY, classmethod(apply))


def wrap_steps(optimizers: Optimizers, patches: Patches) -> None:
    """Every step is noted: of the classes that PyTorch prepared already, and of those it prepares from now on."""
    prepare = WRAP_STEP.get()
    ours: set[int] = set()

    def profile_hook_step(func: Callable[..., Any]) -> Any:
        watched = _watched(func, optimizers)
        ours.add(id(watched))
        return prepare(watched)

    def forget() -> None:
        for cls, step in _prepared_steps():
            if id(step.__wrapped__) in ours:
                cls.step = step.__wrapped__.__wrapped__

    patches.replace(WRAP_STEP, staticmethod(profile_hook_step))
    for cls, step in _prepared_steps():
        watched = profile_hook_step(step.__wrapped__)
        watched.hooked = True
        patches.replace(EntryPoint(cls, "step"), watched)
    patches.after_undo(forget)


def _prepared_steps() -> Iterator[tuple[Any, Any]]:
    """Classes of optimizers that PyTorch has prepared, with their own `step`."""
    todo: list[type] = [torch.optim.Optimizer]
    while todo:
        cls = todo.pop()
        todo.extend(cls.__subclasses__())
        step = vars(cls).get("step")
        if getattr(step, "hooked", False):
            yield cls, step


def _watched(func: Callable[..., Any], optimizers: Optimizers) -> Callable[..., Any]:
    @functools.wraps(func)
    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        if optimizers.mode.over:
            return func(self, *args, **kwargs)
        return optimizers.step(func, self, args, kwargs, get_frame(1))

    return step


def wrap_zero_grad(optimizers: Optimizers, patches: Patches) -> None:
    """`zero_grad` of optimizers and of modules, each once however they call each other."""
    of_optimizer = _zero_grad(OPTIMIZER_ZERO_GRAD.get(), "optimizer", _parameters_of_optimizer, optimizers)
    of_module = _zero_grad(MODULE_ZERO_GRAD.get(), "module", lambda module: list(module.parameters()), optimizers)
    patches.replace(OPTIMIZER_ZERO_GRAD, of_optimizer)
    patches.replace(MODULE_ZERO_GRAD, of_module)


def _parameters_of_optimizer(optimizer: Any) -> list[torch.Tensor]:
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def _zero_grad(
    original: Callable[..., None], kind: str, parameters: Callable[[Any], list[torch.Tensor]], optimizers: Optimizers
) -> Callable[..., None]:
    mode, recorder = optimizers.mode, optimizers.recorder

    @functools.wraps(original)
    def zero_grad(self: Any, set_to_none: bool = True) -> None:
        recorder.sampler.turn(get_frame(1))
        if mode.thread.muted or mode.over or recorder.sampler.skips_update():
            original(self, set_to_none)
            return
        before: list[Any] = []
        with recorder.telling("zero_grad"):
            before = optimizers.grads(parameters(self))
        mode.thread.mute()
        try:
            original(self, set_to_none)
        finally:
            mode.thread.unmute()
        with recorder.telling("zero_grad"):
            optimizers.zeroed(self, kind, before, recorder.sites.of(get_frame(1)), set_to_none)

    return zero_grad


__name__ = "__main__"
__warningregistry__ = None
