"""Tries every private name of PyTorch and CPython that the worker stands on, and says what breaks without it."""

import ast
import functools
import gc
import platform
import subprocess
import sys
import threading
import time
import traceback
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
import torch.distributed as dist
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

from engine.worker.pytorch import internals
from engine.worker.pytorch.patching import EntryPoint, Patches

Trial = Callable[[], None]
CANARIES: dict[str, tuple[str, Trial]] = {}


def canary(effect: str, *names: str) -> Callable[[Trial], Trial]:
    """A trial of some names; `effect` completes "without it ..."."""

    def keep(trial: Trial) -> Trial:
        CANARIES.update(dict.fromkeys(names, (effect, trial)))
        return trial

    return keep


class Seen(TorchFunctionMode):
    """Counts calls."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls += 1
        return func(*args, **(kwargs or {}))


class Twice(torch.autograd.Function):
    """A custom Function that keeps its argument."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
        return grads[0] * 2


parallel: Any = torch.nn.parallel.DistributedDataParallel


def leaf() -> Any:
    return torch.ones(2, requires_grad=True)


def replaced(entry: EntryPoint, run: Callable[[], object], value: Callable[..., Any] | None = None) -> int:
    """How often what stands at an entry point is called while something runs."""
    calls = []
    original, held = entry.get(), entry.held()

    def standing(*args: Any, **kwargs: Any) -> Any:
        calls.append(args)
        return (value or original)(*args, **kwargs)

    def of_class(_: type, *args: Any, **kwargs: Any) -> Any:
        return standing(*args, **kwargs)

    patches = Patches()
    wrapper = staticmethod(standing) if isinstance(held, staticmethod) else standing
    patches.replace(entry, classmethod(of_class) if isinstance(held, classmethod) else wrapper)
    try:
        run()
    finally:
        patches.undo()
    assert entry.held() is held
    return len(calls)


# Function modes and dispatch modes


@canary("the recorder would record its own work", "disable_torch_function", "function_mode_enabled")
def _() -> None:
    with Seen() as mode:
        torch.ones(2).sum()
        before = mode.calls
        assert before == 2
        assert internals.function_mode_enabled()
        with internals.disable_torch_function():
            torch.ones(2).sum()
            assert not internals.function_mode_enabled()
        assert mode.calls == before
    assert not internals.function_mode_enabled()


@canary("hooks and custom backwards would go unseen, or be seen twice", "function_mode_count", "function_mode_at",
    "push_function_mode", "pop_function_mode")  # fmt: skip
def _() -> None:
    with Seen() as mode:
        assert internals.function_mode_count() == 1
        assert internals.function_mode_at(0) is mode
        assert internals.pop_function_mode() is mode
        assert internals.function_mode_count() == 0
        internals.push_function_mode(mode)
        torch.ones(2)
    assert mode.calls == 1


@canary("checks would run inside the program's own dispatch modes", "dispatch_mode_count", "without_dispatch_modes")
def _() -> None:
    class Dispatched(TorchDispatchMode):  # type: ignore[no-untyped-call]
        calls = 0

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.calls += 1
            return func(*args, **(kwargs or {}))

    assert internals.dispatch_mode_count() == 0
    with Dispatched() as mode:  # type: ignore[no-untyped-call]
        assert internals.dispatch_mode_count() == 1
        with internals.without_dispatch_modes():
            torch.ones(2)
        assert mode.calls == 0
        torch.ones(2)
        assert mode.calls > 0


@canary("a method that the program replaced would run twice", "TensorBase")
def _() -> None:
    assert "add" not in vars(torch.Tensor)
    assert internals.TensorBase.add(torch.ones(1), 1).item() == 2


@canary("ops would be named after PyTorch's files", "TENSOR_MODULE")
def _() -> None:
    assert torch.Tensor.backward.__module__ == internals.TENSOR_MODULE


@canary("attention would take another path than without recording", "HAS_TORCH_FUNCTION")
def _() -> None:
    layer = torch.nn.TransformerEncoderLayer(4, 2, 4, batch_first=True).eval()
    with torch.no_grad():
        assert replaced(internals.HAS_TORCH_FUNCTION, lambda: layer(torch.ones(1, 2, 4))) > 0


# Transforms


@canary("a simulated device would be another storage's", "storage_key")
def _() -> None:
    storage = torch.ones(2).untyped_storage()
    reference: Any = StorageWeakRef(storage)  # type: ignore[no-untyped-call]
    assert internals.storage_key(storage) == reference.cdata
    del storage
    assert reference.expired()


@canary("a default device would reach PyTorch, which lacks it", "default_device", "device_constructors")
def _() -> None:
    assert internals.default_device() is None
    torch.set_default_device("meta")
    try:
        assert internals.default_device() == torch.device("meta")
    finally:
        torch.set_default_device(None)
    assert {torch.ones, torch.tensor, torch.as_tensor} <= internals.device_constructors()


@canary("tensors on simulated devices would print as if on the CPU", "tensor_text")
def _() -> None:
    with Seen() as mode:
        assert internals.tensor_text(torch.ones(2)) == "tensor([1., 1.])"
        assert mode.calls > 2


@canary("`torch.jit.trace` would trace the recorder", "tracing_state")
def _() -> None:
    found: list[object] = []

    def traced(x: torch.Tensor) -> torch.Tensor:
        found.append(internals.tracing_state())
        return x + 1

    assert internals.tracing_state() is None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.trace(traced, torch.ones(1), check_trace=False)  # type: ignore[no-untyped-call]
    assert found[0] is not None


@canary(
    "values inside `torch.func` would be read, which raises; simulated devices of tensors there would be lost",
    "is_functorch_wrapped", "functorch_unwrapped",
)  # fmt: skip
def _() -> None:
    def inside(x: torch.Tensor) -> torch.Tensor:
        assert internals.is_functorch_wrapped(x)
        assert internals.functorch_unwrapped(x) is whole
        return x.sum()

    whole = torch.ones(2, 2)
    assert not internals.is_functorch_wrapped(whole)
    torch.func.vmap(inside)(whole)


@canary("simulated devices of sparse tensors would be lost", "sparse_values")
def _() -> None:
    sparse = torch.eye(2).to_sparse()
    internals.sparse_values(sparse)[0] = 3
    assert sparse.to_dense()[0, 0] == 3


@canary("values inside `torch.func.functionalize` would be read, which crashes", "is_functional_tensor")
def _() -> None:
    assert not internals.is_functional_tensor(torch.ones(1))
    assert internals.is_functional_tensor(torch._to_functional_tensor(torch.ones(1)))


# The engine and its nodes


@canary("no backward pass would be recorded", "RUN_BACKWARD", "MAKE_GRADS")
def _() -> None:
    for entry in (internals.RUN_BACKWARD, internals.MAKE_GRADS):
        assert replaced(entry, lambda: leaf().sum().backward()) == 1
        x = leaf()
        assert replaced(entry, lambda x=x: torch.autograd.grad(x.sum(), x)) == 1  # type: ignore[misc]


@canary("no gradient would be seen on an edge", "REGISTER_NODE_HOOK")
def _() -> None:
    seen: list[object] = []

    def hook(entered: object, left: object) -> None:
        seen.append(left)

    def register(hooks: dict[int, object] | None, given: object) -> tuple[dict[int, object], None]:
        table = hooks or {}
        table[-1] = given
        return table, None

    y = (leaf() * 2).sum()
    assert y.grad_fn is not None
    node = y.grad_fn
    assert replaced(internals.REGISTER_NODE_HOOK, lambda: node.register_hook(hook), register) == 1
    y.backward()
    assert len(seen) == 1


@canary("nodes would be joined to the wrong ops", "next_sequence_nr", "_sequence_nr")
def _() -> None:
    x = leaf()
    since = internals.next_sequence_nr()
    y = x * 2
    assert y.grad_fn is not None
    assert internals.next_sequence_nr() == since + 1
    node: internals.Node = y.grad_fn
    assert node._sequence_nr() == since
    assert node.next_functions[0][0]._sequence_nr() == 2**64 - 1


@canary("ways through `Variable(x)` would be lost", "VARIABLE_CALL")
def _() -> None:
    value = leaf() * 2
    made = type.__call__(torch.autograd.Variable, value)
    assert (made.requires_grad, made.data_ptr()) == (False, value.data_ptr())
    assert type.__call__(torch.autograd.Variable, value, requires_grad=True).is_leaf
    assert replaced(internals.VARIABLE_CALL, lambda: torch.autograd.Variable(value)) == 1


@canary("threads of a program could end the process of a fork", "renew_engine")
def _() -> None:
    assert internals.renew_engine() is True


@canary("hooks would not know their node", "current_node")
def _() -> None:
    found: list[object] = []
    x = leaf()
    y = x * 2
    y.register_hook(lambda grad: found.append(internals.current_node()))
    assert internals.current_node() is None
    y.sum().backward()
    assert found == [y.grad_fn]


@canary("nodes would have no shapes", "_input_metadata")
def _() -> None:
    node: internals.Node = (leaf() * 2).grad_fn
    (meta,) = node._input_metadata
    assert (tuple(meta.shape), meta.dtype, str(meta.device)) == ((2,), torch.float32, "cpu")


@canary("a custom Function's backward would have no lines", "function_of")
def _() -> None:
    node = Twice.apply(leaf()).grad_fn  # type: ignore[no-untyped-call]
    assert internals.function_of(type(node)) is Twice
    assert internals.function_of(type(leaf().sum().grad_fn)) is None


# Saved tensors


@canary("nodes would seem to keep nothing", "SAVED_PREFIX", "raw_saved", "SavedTensor")
def _() -> None:
    x, y = leaf(), leaf()
    node: internals.Node = (x * y).grad_fn
    assert [name for name in dir(node) if name.startswith(internals.SAVED_PREFIX)] == ["_saved_other", "_saved_self"]
    assert node._saved_other is y
    raw = internals.raw_saved(node, "_saved_other")
    assert type(raw) is internals.SavedTensor
    assert raw.unpack_hook is None
    summed: internals.Node = x.sum().grad_fn
    assert internals.raw_saved(summed, "_saved_self_sym_sizes") is None


@canary("custom Functions under saved-tensor hooks would run the program's unpack hook", "raw_saved_of_custom")
def _() -> None:
    with torch.autograd.graph.saved_tensors_hooks(lambda x: ("kept", x), lambda kept: kept[1]):
        node = Twice.apply(leaf()).grad_fn  # type: ignore[no-untyped-call]
    (raw,) = internals.raw_saved_of_custom(node)
    assert raw.data[0] == "kept"
    assert raw.unpack_hook is not None


@canary("code of the program's in saved-tensor hooks would go unseen", "PUSH_SAVED_HOOKS",
    "saved_hooks_in_force")  # fmt: skip
def _() -> None:
    found: list[bool] = []

    def run() -> None:
        with torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
            found.append(internals.saved_hooks_in_force())

    assert replaced(internals.PUSH_SAVED_HOOKS, run) == 1
    assert found == [True]
    assert not internals.saved_hooks_in_force()


@canary("hooks on one saved tensor would go unseen", "REGISTER_SAVED_HOOKS")
def _() -> None:
    node: internals.Node = (leaf() * leaf()).grad_fn
    raw = internals.raw_saved(node, "_saved_other")
    assert replaced(internals.REGISTER_SAVED_HOOKS, lambda: raw.register_hooks(lambda x: x, lambda x: x)) == 1


# Checkpoints


@canary("what a checkpoint holds would not be told", "SAVE_CHECKPOINT_INPUTS", "checkpoint_inputs", "CheckpointHolder")
def _() -> None:
    x, scale = leaf(), torch.tensor(3.0)
    original = internals.SAVE_CHECKPOINT_INPUTS.get()
    frames: list[internals.CheckpointFrame] = []

    def saved(frame: internals.CheckpointFrame, *args: Any) -> None:
        original(frame, *args)
        frames.append(frame)

    def region(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        return (x * scale).sin()

    outputs: list[torch.Tensor] = []

    def run() -> None:
        outputs.append(checkpoint(region, x, scale=scale, use_reentrant=False))

    assert replaced(internals.SAVE_CHECKPOINT_INPUTS, run, saved) == 1
    *_, given, keywords = internals.checkpoint_inputs(frames[0])
    assert given is x or torch.equal(given, x)  # type: ignore[arg-type]
    assert keywords == {"scale": scale}
    assert isinstance(internals.raw_saved(outputs[0].grad_fn, "_saved_self").data, internals.CheckpointHolder)


@canary(
    "what a checkpoint computes again would not be told", "RECOMPUTATION_INIT", "last_recomputed", "StopRecomputation"
)
def _() -> None:
    original = internals.RECOMPUTATION_INIT.get()
    kept: list[torch.Tensor] = []
    stopped: list[BaseException] = []

    def begun(hook: Any, target: Any, group: Any) -> None:
        original(hook, target, group)
        pack = hook.pack_hook

        def packed(tensor: torch.Tensor) -> object:
            try:
                return pack(tensor)
            except internals.StopRecomputation as error:
                stopped.append(error)
                raise
            finally:
                found = internals.last_recomputed(target(), group)
                assert found is not None
                weakref.ref(found[0])
                kept.append(found[1])

        hook.pack_hook = packed

    y = checkpoint(lambda x: x.exp().sin(), leaf(), use_reentrant=False)
    assert replaced(internals.RECOMPUTATION_INIT, lambda: y.sum().backward(), begun) == 1
    assert [round(tensor[0].item(), 3) for tensor in kept] == [2.718, 2.718]
    assert len(stopped) == 1


# Modules and hooks


@canary("hooks on every module would go unseen", "GLOBAL_FORWARD_PRE_HOOKS", "GLOBAL_FORWARD_HOOKS",
    "GLOBAL_BACKWARD_PRE_HOOKS", "GLOBAL_BACKWARD_HOOKS")  # fmt: skip
def _() -> None:
    module = torch.nn.modules.module
    for register, table in (
        (module.register_module_forward_pre_hook, internals.GLOBAL_FORWARD_PRE_HOOKS),
        (module.register_module_forward_hook, internals.GLOBAL_FORWARD_HOOKS),
        (module.register_module_full_backward_pre_hook, internals.GLOBAL_BACKWARD_PRE_HOOKS),
        (module.register_module_full_backward_hook, internals.GLOBAL_BACKWARD_HOOKS),
    ):
        handle = register(lambda *args: None)
        assert handle.id in table
        handle.remove()
        assert handle.id not in table


@canary(
    "a module's own hooks would go unseen",
    "FORWARD_PRE_HOOKS",
    "FORWARD_HOOKS",
    "_backward_hooks",
    "_backward_pre_hooks",
)
def _() -> None:
    module = torch.nn.Identity()
    for register, table in (
        (module.register_forward_pre_hook, vars(module)[internals.FORWARD_PRE_HOOKS]),
        (module.register_forward_hook, vars(module)[internals.FORWARD_HOOKS]),
        (module.register_full_backward_pre_hook, module._backward_pre_hooks),
        (module.register_full_backward_hook, module._backward_hooks),
    ):
        handle = register(lambda *args: None)
        assert list(table) == [handle.id]
        handle.remove()


@canary(
    "a module's tensors would have no names",
    "MODULE_TABLES",
    "_parameters",
    "_buffers",
    "_modules",
)
def _() -> None:
    module = torch.nn.Sequential(torch.nn.BatchNorm1d(1))
    norm = module[0]
    assert list(module._modules.items()) == [("0", norm)]
    assert list(norm._parameters) == ["weight", "bias"]
    assert list(norm._buffers) == ["running_mean", "running_var", "num_batches_tracked"]
    assert all(isinstance(vars(norm)[table], dict) for table in internals.MODULE_TABLES)


@canary("`to`, `half` and `cuda` would not be told", "MODULE_APPLY")
def _() -> None:
    assert replaced(internals.MODULE_APPLY, lambda: torch.nn.Sequential(torch.nn.Linear(1, 1)).double()) == 2


@canary("batches of a DataLoader would not be told", "LOADER_NEXT", "LOADER_INDICES")
def _() -> None:
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(3)), batch_size=2)
    assert replaced(internals.LOADER_NEXT, lambda: list(loader)) == 3
    assert next(getattr(iter(loader), internals.LOADER_INDICES)) == [0, 1]


@canary("backward hooks of modules would go unseen", "COLLECT_BACKWARD_HOOKS", "COLLECT_BACKWARD_PRE_HOOKS")
def _() -> None:
    module = torch.nn.Identity()
    module.register_full_backward_pre_hook(lambda *args: None)
    module.register_full_backward_hook(lambda *args: None)
    for entry, length in ((internals.COLLECT_BACKWARD_HOOKS, 2), (internals.COLLECT_BACKWARD_PRE_HOOKS, 1)):
        assert len(entry.get()(module)) == length
        assert replaced(entry, lambda: module(leaf())) == 1


@canary("hooks would not be known when they are registered", "HANDLE_INIT")
def _() -> None:
    original = internals.HANDLE_INIT.get()
    callers: list[str] = []

    def made(handle: Any, hooks: Any, **options: Any) -> None:
        original(handle, hooks, **options)
        callers.append(sys._getframe(2).f_code.co_name)
        assert isinstance(handle.id, int)

    assert replaced(internals.HANDLE_INIT, lambda: leaf().register_hook(lambda grad: None), made) == 1
    assert callers == ["register_hook"]


@canary("modules would refuse to convert under `set_swap_module_params_on_conversion`", "SWAP_WEAKREF")
def _() -> None:
    class Silent:
        @staticmethod
        def getweakrefs(tensor: torch.Tensor) -> list[object]:
            return []

    first, second = torch.zeros(1), torch.ones(1)
    reference = weakref.ref(first)
    patches = Patches()
    patches.replace(internals.SWAP_WEAKREF, Silent)
    try:
        torch.utils.swap_tensors(first, second)  # type: ignore[no-untyped-call]
    finally:
        patches.undo()
    assert reference() is first
    assert first.item() == 1


@canary("steps of optimizers would not be told", "WRAP_STEP")
def _() -> None:
    class Own(torch.optim.Optimizer):
        def step(self, closure: Any = None) -> None: ...  # type: ignore[override]

    own = Own.step
    assert replaced(internals.WRAP_STEP, lambda: Own([leaf()], {})) == 1
    step: Any = Own.step
    assert step.hooked
    assert step.__wrapped__ is own


# Tensors


@canary("writes in place would go unseen", "_version")
def _() -> None:
    x = torch.zeros(2)
    view = x[0]
    assert x._version == 0
    view.add_(1)
    assert x._version == view._version == 1
    with torch.inference_mode(), pytest.raises(RuntimeError, match="version counter"):
        _ = torch.zeros(1)._version


@canary("views would be told as copies, or change the order of backward", "_is_view", "_base")
def _() -> None:
    base = leaf() * 1
    view = base[0]
    base.mul_(2)
    since = internals.next_sequence_nr()
    assert view._is_view()
    assert view._base is base
    assert internals.next_sequence_nr() == since
    assert base._base is None


@canary("a derivative that is zero everywhere would be read, which raises", "_is_zerotensor")
def _() -> None:
    assert torch._efficientzerotensor(2)._is_zerotensor()
    assert not torch.zeros(2)._is_zerotensor()


# Ranks that are threads


@canary("ranks would open sockets to meet", "CREATE_STORE", "FILE_STORE", "CREATE_GROUP")
def _() -> None:
    init = functools.partial(dist.init_process_group, "gloo", rank=0, world_size=1)
    met: list[tuple[Any, ...]] = []

    def meet(*args: Any, **kwargs: Any) -> Any:
        met.append(args)
        raise LookupError

    for entry, method in (
        (internals.CREATE_STORE, "tcp://127.0.0.1:29500"),
        (internals.FILE_STORE, "file:///nowhere"),
    ):
        patches = Patches()
        patches.replace(entry, meet)
        try:
            with pytest.raises(LookupError):
                init(init_method=method)
        finally:
            patches.undo()
    patches = Patches()
    patches.replace(internals.CREATE_GROUP, meet)
    try:
        with pytest.raises(LookupError):
            init(store=internals.HashStore())
    finally:
        patches.undo()
    assert (met[0][3], met[1][1], met[2][:4]) == (1, 1, (1, 0, [], "gloo"))


@canary("`mp.spawn` would ask for processes", "SPAWN_PROCESSES")
def _() -> None:
    assert (
        replaced(
            internals.SPAWN_PROCESSES,
            lambda: vars(torch.multiprocessing)["spawn"](print, nprocs=2),
            lambda *args, **kwargs: None,
        )
        == 1
    )


@canary(
    "ranks that are threads would have no group to meet in",
    "ThreadedGroup", "START_COLLECTIVE", "HashStore", "work_done", "isolate_ranks", "join_ranks", "name_backend",
)  # fmt: skip
def _() -> None:
    dist.Backend.register_backend(
        "canary", lambda options, more: internals.ThreadedGroup(0, 1), extended_api=True, devices=["cpu"]
    )
    internals.isolate_ranks()
    tensor = torch.ones(2)
    joined: list[tuple[str, Any]] = []

    def start(collective: Any, group: Any) -> Any:
        def join(rank: int, given: Any) -> Any:
            joined.append((type(collective).__name__, given))
            collective.work([given])
            return internals.work_done(given)

        return types.SimpleNamespace(join=join)

    patches = Patches()
    patches.replace(internals.START_COLLECTIVE, staticmethod(start))
    try:
        dist.init_process_group("canary", rank=0, world_size=1, store=internals.HashStore())
        internals.name_backend(dist.group.WORLD, "gloo")
        assert dist.get_backend() == "gloo"
        dist.all_reduce(tensor)
        elsewhere: list[bool] = []
        thread = threading.Thread(target=lambda: elsewhere.append(dist.is_initialized()))
        thread.start()
        thread.join()
        assert (dist.is_initialized(), elsewhere) == (True, [False])
        dist.destroy_process_group()
    finally:
        patches.undo()
        internals.join_ranks()
    assert joined == [("AllReduce", [tensor])]


@canary("buckets would be told without their parameters, or wrongly", "buckets_of")
def _() -> None:
    dist.init_process_group("gloo", rank=0, world_size=1, store=internals.HashStore())
    try:
        net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 1))
        model = parallel(net, bucket_cap_mb=1e-5)
        for _ in range(2):
            model(torch.ones(1, 2)).sum().backward()
        model(torch.ones(1, 2))
        first, *others = internals.buckets_of(model)
        last_made = (net[1].bias, net[1].weight)
        assert others
        assert any(first[0] is parameter for parameter in last_made)
        assert len([parameter for bucket in [first, *others] for parameter in bucket]) == 4
    finally:
        dist.destroy_process_group()


@canary("what a parallel model gives to all ranks would be told as nameless pieces", "SYNC_STATES", "SYNC_BUFFERS")
def _() -> None:
    dist.init_process_group("gloo", rank=0, world_size=1, store=internals.HashStore())
    seen: list[set[str]] = []
    try:
        net = torch.nn.BatchNorm1d(2)
        entry = internals.SYNC_STATES
        made = replaced(entry, lambda: parallel(net), lambda **given: seen.append({*given}))
        model = parallel(net)
        assert (made, replaced(internals.SYNC_BUFFERS, lambda: model(torch.ones(2, 2)))) == (1, 1)
        assert len(model.modules_buffers) == 3 and not model._join_config.enable
    finally:
        dist.destroy_process_group()
    used = {"module", "process_group", "src", "params_and_buffers_to_ignore", "broadcast_buffers"}
    assert used <= seen[0]


@canary("`reduce` would have no sum to give", "reductions")
def _() -> None:
    made = internals.reductions[dist.ReduceOp.SUM]([torch.ones(2), torch.ones(2)])
    assert made.tolist() == [2.0, 2.0]


# CPython


@canary("ops would have no lines", "get_frame", "positions_of", "position_at")
def _() -> None:
    found: list[internals.Position | None] = []

    def here() -> int:
        frame = internals.get_frame(1)
        found.append(internals.position_at(internals.positions_of(frame.f_code), frame.f_lasti))
        return 1

    code = compile("a = 1\nb = (a +\n     here())\n", "<tried>", "exec")
    exec(code, {"here": here})
    assert found == [(3, 3, 5, 11)]
    assert internals.position_at(internals.positions_of(code), 10**6) is None


@canary("a limit would not say the line", "current_frames")
def _() -> None:
    assert threading.get_ident() in internals.current_frames()


@canary("ops of the program's threads would go unseen", "THREAD_BOOTSTRAP", "be_no_daemon")
def _() -> None:
    found: list[bool] = []

    def work() -> None:
        internals.be_no_daemon()
        found.append(threading.Thread(target=print).daemon)

    def run() -> None:
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join()

    assert replaced(internals.THREAD_BOOTSTRAP, run) == 1
    assert found == [False]


@canary("warnings would not be told", "SHOW_WARNING")
def _() -> None:
    def warn() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("of the test", UserWarning, stacklevel=1)

    assert replaced(internals.SHOW_WARNING, warn, lambda message: None) == 1


@canary("tracebacks would show the recorder's frames", "EXTRACT_STACK")
def _() -> None:
    error = ValueError()
    for show in (lambda: traceback.format_exception(error), traceback.format_stack):
        assert replaced(internals.EXTRACT_STACK, show) >= 1


@canary("memory that NumPy asked for would not be told", "ArrayMemoryError", "array_bytes")
def _() -> None:
    with pytest.raises(internals.ArrayMemoryError) as raised:
        numpy.empty(2**50)
    assert internals.array_bytes(raised.value) == 2**53
    assert internals.array_bytes(MemoryError()) is None


@canary("programs would not be on the main thread", "be_main_thread")
def _() -> None:
    before = threading.main_thread()
    found: list[bool] = []

    def work() -> None:
        internals.be_main_thread()
        found.append(threading.main_thread() is threading.current_thread())
        threading._main_thread = before  # type: ignore[attr-defined]

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [True]


@canary("what a program registered for its end would not run", "forget_exit_functions", "run_exit_functions")
@functools.cache
def _() -> None:
    code = (
        "import atexit, sys\n"
        "from engine.worker.pytorch.internals import forget_exit_functions, run_exit_functions\n"
        "atexit.register(print, 'forgotten')\n"
        "forget_exit_functions()\n"
        "atexit.register(print, 'run once')\n"
        "run_exit_functions()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50, check=True)
    assert done.stdout == "run once\n"


@canary("an interrupt that a program sends itself would end the process", "raise_in")
def _() -> None:
    raised: list[BaseException] = []
    begun = threading.Event()

    def go_on() -> None:
        try:
            begun.set()
            while True:
                time.sleep(0.001)
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=go_on)
    thread.start()
    begun.wait()
    internals.raise_in(thread, KeyboardInterrupt)
    thread.join(10)
    assert [type(error) for error in raised] == [KeyboardInterrupt]


@canary("a call that returns None would be told as one that raised", "is_leaving")
def _() -> None:
    found: dict[str, bool] = {}

    def watched(frame: Any, event: str, argument: object) -> Any:
        if event == "return":
            found[frame.f_code.co_name] = internals.is_leaving(frame)
        return watched

    def gives() -> None:
        return

    def raises() -> None:
        raise ValueError

    before = sys.gettrace()
    sys.settrace(watched)
    try:
        gives()
        with pytest.raises(ValueError):
            raises()
    finally:
        sys.settrace(before)
    assert (found["gives"], found["raises"]) == (True, False)


@canary("what a function or module gives would have its name in the last turn of a loop alone", "MODULE_CALL_CODES",
    "is_returned")  # fmt: skip
def _() -> None:
    class Layer(torch.nn.Module):
        def forward(self, x: int) -> int:
            frame = sys._getframe(1)
            codes = [frame.f_code, frame.f_back.f_code if frame.f_back else None]
            assert codes == [*reversed(internals.MODULE_CALL_CODES)]
            return x

    Layer()(1)
    found: dict[str, bool] = {}

    class Asked:
        def __call__(self, key: str) -> "Asked":
            frame = sys._getframe(1)
            found[key] = internals.is_returned(frame.f_code, frame.f_lasti)
            return self

        def __neg__(self) -> object:
            frame = sys._getframe(1)
            found["at once"] = internals.is_returned(frame.f_code, frame.f_lasti)
            return self

        def __lt__(self, other: object) -> bool:
            frame = sys._getframe(1)
            return internals.is_returned(frame.f_code, frame.f_lasti)

    ask = Asked()

    def by_name() -> object:
        made = ask("by name")
        return made  # noqa: RET504

    def negated() -> object:
        return -ask("on the way")

    def compared() -> bool:
        return ask < 1

    def in_a_pair() -> object:
        return ask("in a pair"), 1

    def yielded() -> Iterator[object]:
        yield ask("yielded")

    for _ in range(20):  # the interpreter takes quick paths after some calls
        by_name(), negated(), in_a_pair(), list(yielded())
        assert not compared()
        assert {key for key, is_returned in found.items() if is_returned} == {"by name", "at once"}


# All of them


def _named() -> Iterator[str]:
    """The names that `internals` gives, its type aliases aside."""
    yield from internals.ATTRIBUTES
    for node in ast.parse(Path(internals.__file__).read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and "TypeAlias" not in ast.unparse(node.annotation):
            yield ast.unparse(node.target)


NAMES = sorted(name for name in _named() if name in internals.ATTRIBUTES or not name.startswith("_"))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "ATTRIBUTES"])
def test_a_private_name_does_what_the_worker_stands_on(name: str) -> None:
    assert name in CANARIES, f"nothing tries {name}: give it a canary in this file"
    effect, trial = CANARIES[name]
    try:
        trial()
    except (Exception, pytest.fail.Exception) as error:
        versions = f"PyTorch {torch.__version__}, Python {platform.python_version()}"
        pytest.fail(f"`{name}` of {internals.__name__} is another one in {versions}: {effect}. {error!r}")
    finally:
        gc.collect(0)


def test_a_canary_that_dies_says_what_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(internals, "next_sequence_nr", lambda: 0)
    with pytest.raises(pytest.fail.Exception, match=r"`next_sequence_nr` .* nodes would be joined to the wrong ops"):
        test_a_private_name_does_what_the_worker_stands_on("next_sequence_nr")


def test_each_canary_is_of_a_name_there_is() -> None:
    assert set(CANARIES) <= set(NAMES)
