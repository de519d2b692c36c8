"""Every private name of PyTorch and CPython that the worker stands on: what for, and where it is defined.

Written against PyTorch 2.13 and CPython 3.11. `tests/engine/worker/pytorch/test_internals.py` tries each of them and
says what breaks when it is gone or behaves in another way. No other file of the worker names one, but for the
attributes in `ATTRIBUTES`: they are read from an object in the path of every op, where a call would cost more than the
read.

Of CPython 3.12.1 and 3.13.0 the names under "CPython" were tried without PyTorch: all are there and do the same, but
for what their sentences say. PyTorch was tried on CPython 3.12.3 in version 2.11: there all but what 2.13 brought holds
(inputs of checkpoints, groups of threads, tensors that a custom Function saved).
"""

import atexit
import ctypes
import dis
import inspect
import operator
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from types import CodeType, FrameType
from typing import Any, Final, TypeAlias

import numpy
import torch
import torch.nn.modules.module as _module
import torch.testing._internal.distributed.multi_threaded_pg as _threaded
import torch.utils.checkpoint as _checkpoint
import torch.utils.data.dataloader as _dataloader
from torch.autograd import Variable as _Variable
from torch.distributed import distributed_c10d as _c10d
from torch.utils import _device
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils.hooks import RemovableHandle

from engine.worker.pytorch.patching import EntryPoint

Node: TypeAlias = Any
"""An autograd node: PyTorch's have no static type."""

ATTRIBUTES: Final[Mapping[str, str]] = {
    "_version": "Tensor: how often its memory was written in place; raises for an inference tensor"
    " (torch/csrc/autograd/python_variable.cpp)",
    "_base": "Tensor: what it is a view of (torch/csrc/autograd/python_variable.cpp)",
    "_is_view": "Tensor: whether it is a view, asked without making its grad_fn anew"
    " (tools/autograd/templates/python_variable_methods.cpp)",
    "_is_zerotensor": "Tensor: zeros without memory, the derivative where there is none"
    " (aten/src/ATen/native/native_functions.yaml)",
    "_sequence_nr": "node: its number in the order of making, per thread; 2**64-1 for AccumulateGrad"
    " (torch/csrc/autograd/python_cpp_function.cpp)",
    "_input_metadata": "node: shape, dtype and device of each output of its op"
    " (torch/csrc/autograd/python_cpp_function.cpp)",
    "_parameters": "Module: its own parameters by name (torch/nn/modules/module.py)",
    "_buffers": "Module: its own buffers by name (torch/nn/modules/module.py)",
    "_modules": "Module: its children by name (torch/nn/modules/module.py)",
    "_backward_hooks": "Module: its backward hooks by the id of their handle (torch/nn/modules/module.py)",
    "_backward_pre_hooks": "Module: its backward pre-hooks by the id of their handle (torch/nn/modules/module.py)",
}
"""Private attributes that other files may read: of what, what it says, where it is defined.

Of CPython, frames' `f_lasti` is read in the same way: with the code object it names one place of the program
(`position_at`).
"""


# Function modes and dispatch modes

disable_torch_function = torch._C.DisableTorchFunction
"""Context: calls inside reach no function mode, and no `__torch_function__`
(torch/csrc/utils/disable_torch_function.cpp)."""

function_mode_enabled: Callable[[], bool] = torch._C._is_torch_function_mode_enabled
"""Whether a call now would be handed to a mode (torch/csrc/autograd/init.cpp)."""

function_mode_count: Callable[[], int] = torch._C._len_torch_function_stack
"""How many function modes are active on this thread (torch/csrc/autograd/init.cpp)."""

function_mode_at: Callable[[int], Any] = torch._C._get_function_stack_at
"""One of them, the innermost last (torch/csrc/autograd/init.cpp)."""

push_function_mode: Callable[[Any], None] = torch._C._push_on_torch_function_stack
pop_function_mode: Callable[[], Any] = torch._C._pop_torch_function_stack
"""Enter and leave a mode without its `__enter__` and `__exit__` (torch/csrc/autograd/init.cpp)."""

dispatch_mode_count: Callable[[], int] = torch._C._len_torch_dispatch_stack
"""How many dispatch modes are active: they are the program's own (torch/csrc/autograd/init.cpp)."""

without_dispatch_modes = _disable_current_modes
"""Context: takes them all off (torch/utils/_python_dispatch.py)."""

TensorBase: Any = torch._C.TensorBase
"""Has the methods that `torch.Tensor` inherits from C++ (torch/csrc/autograd/python_variable.cpp)."""

TENSOR_MODULE: Final = "torch._tensor"
"""`__module__` of the methods of `Tensor` that are written in Python (torch/_tensor.py)."""

HAS_TORCH_FUNCTION = EntryPoint(torch.overrides, "has_torch_function")
"""Asked by this name in `nn.MultiheadAttention` and the transformer layers, to see whether their fused path will do
(torch/nn/modules/activation.py)."""


# Transforms: what is read of a tensor while one is at work may become a part of its result

tracing_state: Callable[[], object] = torch._C._get_tracing_state
"""None unless `torch.jit.trace` runs (torch/csrc/jit/python/python_tracer.cpp)."""

is_functorch_wrapped: Callable[[torch.Tensor], bool] = torch._C._functorch.is_functorch_wrapped_tensor
"""Whether a tensor stands for another one inside a transform (torch/csrc/functorch/init.cpp)."""

functorch_unwrapped: Callable[[torch.Tensor], torch.Tensor] = torch._C._functorch.get_unwrapped
"""The one it stands for, one transform further out (torch/csrc/functorch/init.cpp)."""

is_functional_tensor: Callable[[torch.Tensor], bool] = torch._is_functional_tensor
"""The same of functionalization (torch/csrc/autograd/python_torch_functions_manual.cpp)."""


# Devices

storage_key: Callable[[torch.UntypedStorage], int] = operator.attrgetter("_cdata")
"""The address of a storage, which a weak reference to it has as `cdata` (torch/csrc/Storage.cpp)."""

sparse_values: Callable[[torch.Tensor], torch.Tensor] = torch.Tensor._values
"""The values of a sparse tensor in its own memory, coalesced or not (aten/src/ATen/native/sparse/SparseTensor.cpp)."""

device_constructors: Callable[[], set[Any]] = _device._device_constructors
"""The functions that make tensors on the default device (torch/utils/_device.py)."""

tensor_text: Callable[[torch.Tensor], str] = torch._tensor_str._str
"""What a tensor prints as; asks for its device as programs do (torch/_tensor_str.py)."""


def default_device() -> torch.device | None:
    """What `torch.set_default_device` set, for `with torch.device(...)` is a mode above all others
    (torch/utils/_device.py)."""
    return _device.CURRENT_DEVICE


# The autograd engine and its nodes

RUN_BACKWARD = EntryPoint(torch.autograd, "_engine_run_backward")
"""The one way of all backward calls, looked up in this module at each (torch/autograd/__init__.py, graph.py)."""

MAKE_GRADS = EntryPoint(torch.autograd, "_make_grads")
"""Makes the seeds where the program gave none (torch/autograd/__init__.py)."""

REGISTER_NODE_HOOK = EntryPoint(torch.autograd.Function, "_register_hook")
"""Called by C++ for each hook on a node; what it gives back is the node's table of hooks
(torch/autograd/function.py)."""

next_sequence_nr: Callable[[], int] = torch._C._autograd._get_sequence_nr
"""The number the next node of this thread gets: nodes between two answers were made between them
(torch/csrc/autograd/init.cpp)."""

current_node: Callable[[], Node] = torch._C._current_autograd_node
"""The node whose hooks or backward run on this thread; None outside the engine (torch/csrc/Module.cpp)."""

renew_engine: Callable[[], bool] = _Variable._execution_engine.is_checkpoint_valid
"""Asks the engine anything: the first who asks in a fork makes it anew, without a lock, and two threads of a program
that both came first would free it twice (`get_python_engine` in torch/csrc/autograd/python_engine.cpp)."""


def function_of(node_class: type) -> Any:
    """The `autograd.Function` that nodes of a class run; None for PyTorch's own (`FunctionMeta` in
    torch/autograd/function.py)."""
    return getattr(node_class, "_forward_cls", None)


# Saved tensors

SAVED_PREFIX: Final = "_saved_"
"""Of a node's attributes that say what it keeps (tools/autograd/gen_autograd_functions.py)."""

SavedTensor: Any = torch._C._autograd.SavedTensor
"""What keeps one tensor for backward: `data` is what a pack hook gave, `unpack_hook` is None without hooks
(torch/csrc/autograd/init.cpp)."""

PUSH_SAVED_HOOKS = EntryPoint(torch._C._autograd, "_push_saved_tensors_default_hooks")
"""Begins `saved_tensors_hooks` (torch/autograd/graph.py)."""

REGISTER_SAVED_HOOKS = EntryPoint(SavedTensor, "register_hooks")
"""Hooks on one saved tensor (torch/csrc/autograd/init.cpp)."""


def saved_hooks_in_force() -> bool:
    """Whether what nodes save now is packed by a hook (torch/csrc/autograd/init.cpp)."""
    return torch._C._autograd._top_saved_tensors_default_hooks(True) is not None


def raw_saved(node: Node, field: str) -> Any:
    """The `SavedTensor`, or the tuple of them, behind a field `_saved_X`; None when it holds no tensor
    (tools/autograd/gen_autograd_functions.py)."""
    return getattr(node, f"_raw{field}", None)


def raw_saved_of_custom(node: Node) -> Any:
    """The tuple of `SavedTensor` of a custom Function's node (torch/csrc/autograd/python_function.cpp)."""
    return node._raw_saved_tensors


# Checkpoints (torch/utils/checkpoint.py)

CheckpointFrame: TypeAlias = Any
"""What one region without reentry holds."""

SAVE_CHECKPOINT_INPUTS = EntryPoint(_checkpoint._CheckpointFrame, "save_inputs")
"""Called when a region has begun, with all that its function is given again."""

RECOMPUTATION_INIT = EntryPoint(_checkpoint._recomputation_hook, "__init__")
"""Called with a weak reference to the frame when a region is computed again; sets `pack_hook`."""

CheckpointHolder: type = _checkpoint._Holder
"""Is kept by the nodes of a region in the place of a tensor."""

StopRecomputation: type[BaseException] = _checkpoint._StopRecomputationError
"""Ends a recomputation once all that is needed is there."""


def checkpoint_inputs(frame: CheckpointFrame) -> list[object]:
    """What a region holds for its recomputation: the arguments, and in a cell of its function the keyword arguments."""
    given = [kept.data if isinstance(kept, SavedTensor) else kept for kept in frame.saved_args]
    function = frame.recompute_fn
    cell = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False)).get("kwargs")
    return given if cell is None else [*given, cell.cell_contents]


def last_recomputed(frame: CheckpointFrame, group: object) -> tuple[object, torch.Tensor] | None:
    """The tensor that was computed again last, behind the handle that keeps it until a node has taken it."""
    index = frame.recomp_counter[group] - 1
    holder = frame.weak_holders[index]() if 0 <= index < len(frame.weak_holders) else None
    handle = None if holder is None else holder.handles.get(group)
    return None if handle is None else (handle, frame.recomputed[group][handle])


# Modules and hooks (torch/nn/modules/module.py)

Hooks: TypeAlias = MutableMapping[int, Any]
"""Hooks by the id of their handle."""

GLOBAL_FORWARD_PRE_HOOKS: Hooks = _module._global_forward_pre_hooks
GLOBAL_FORWARD_HOOKS: Hooks = _module._global_forward_hooks
GLOBAL_BACKWARD_PRE_HOOKS: Hooks = _module._global_backward_pre_hooks
GLOBAL_BACKWARD_HOOKS: Hooks = _module._global_backward_hooks
"""Those that hold for every module."""

FORWARD_PRE_HOOKS: Final = "_forward_pre_hooks"
FORWARD_HOOKS: Final = "_forward_hooks"
"""Where a module's `__dict__` holds its own."""

MODULE_TABLES: Final = ("_parameters", "_buffers", "_modules")
"""Where it holds what is found by attribute and yet no attribute."""


MODULE_CALL_CODES: Sequence[CodeType] = (
    torch.nn.Module._wrapped_call_impl.__code__,
    torch.nn.Module._call_impl.__code__,
)
"""What hands on unchanged what a module's forward gives: where it has hooks, `forward` runs in a function inside."""

MODULE_APPLY = EntryPoint(torch.nn.Module, "_apply")
"""The walk of `to`, `half`, `cuda`… over a tree: each module calls it of its children."""

LOADER_NEXT = EntryPoint(_dataloader._SingleProcessDataLoaderIter, "_next_data")
LOADER_INDICES: Final = "_sampler_iter"
"""What fetches the next batch of a `DataLoader`, and where it holds the indices it goes by, an iterator
(torch/utils/data/dataloader.py)."""

COLLECT_BACKWARD_HOOKS = EntryPoint(torch.nn.Module, "_get_backward_hooks")
COLLECT_BACKWARD_PRE_HOOKS = EntryPoint(torch.nn.Module, "_get_backward_pre_hooks")
"""Give the hooks of a module and the global ones at each forward."""

HANDLE_INIT = EntryPoint(RemovableHandle, "__init__")
"""Every hook gets such a handle, made in the function that registers it (torch/utils/hooks.py)."""

SWAP_WEAKREF = EntryPoint(torch.utils, "weakref")
"""By this name `swap_tensors` asks for weak references, which it refuses (torch/utils/__init__.py)."""

WRAP_STEP = EntryPoint(torch.optim.Optimizer, "profile_hook_step")
"""Wraps the `step` of each class of optimizers, once, and marks what it made as `hooked` (torch/optim/optimizer.py)."""


# Ranks that are threads (torch/testing/_internal/distributed/multi_threaded_pg.py)

ThreadedGroup: Any = _threaded.ProcessLocalGroup
"""A process group whose ranks are threads: its methods make a collective of tensors and hand it to `_start_coll`."""

START_COLLECTIVE = EntryPoint(_threaded.ProcessLocalGroup, "_start_coll")
"""Called by each rank with what the collective does and its group; what it gives back is asked to `join`."""

reductions: Mapping[Any, Callable[[list[torch.Tensor]], torch.Tensor]] = _threaded._reduce_ops
"""What a reduction makes of one tensor of each rank."""

work_done: Callable[[object], Any] = _threaded.ret_work
"""A `Work` that is over and gave this."""

SPAWN_PROCESSES = EntryPoint(sys.modules["torch.multiprocessing.spawn"], "start_processes")
"""What `mp.spawn` calls (torch/multiprocessing/spawn.py); the function has taken the name of its module."""

CREATE_STORE = EntryPoint(sys.modules["torch.distributed.rendezvous"], "_create_c10d_store")
"""Called by `env://` and `tcp://` to meet the other ranks (torch/distributed/rendezvous.py)."""

FILE_STORE = EntryPoint(sys.modules["torch.distributed.rendezvous"], "FileStore")
"""The same by `file://`."""

Store: TypeAlias = Any
"""Where ranks leave what others are to find."""

HashStore: Callable[[], Store] = vars(torch._C._distributed_c10d)["HashStore"]
"""One for the threads of a process (torch/csrc/distributed/c10d/HashStore.cpp)."""

CREATE_GROUP = EntryPoint(_c10d, "_new_process_group_helper")
"""The one place where process groups are made (torch/distributed/distributed_c10d.py)."""


_isolate_threads: Callable[[bool], None] = vars(torch._C._distributed_c10d)["_set_thread_isolation_mode"]
_install_threads: Callable[[], object] = _threaded._install_threaded_pg
_uninstall_threads: Callable[[], None] = _threaded._uninstall_threaded_pg


def isolate_ranks() -> None:
    """From here on each thread has its own default group and its own names of groups (torch/csrc/distributed/c10d)."""
    _isolate_threads(True)
    _install_threads()


def join_ranks() -> None:
    """Takes that back."""
    _uninstall_threads()
    _isolate_threads(False)


def name_backend(group: Any, backend: str) -> None:
    """What `get_backend` says of a group, and what groups made from it are (torch/distributed/distributed_c10d.py)."""
    groups = _c10d._world.pg_map
    groups[group] = (backend, groups[group][1])


SYNC_STATES = EntryPoint(sys.modules["torch.nn.parallel.distributed"], "_sync_module_states")
"""Gives parameters and buffers of a module to all ranks; called with keywords alone when a `DistributedDataParallel` is
made (torch/nn/parallel/distributed.py)."""

SYNC_BUFFERS = EntryPoint(torch.nn.parallel.DistributedDataParallel, "_sync_buffers")
"""Gives the buffers to all ranks, in each forward."""


def buckets_of(model: Any) -> list[list[torch.Tensor]]:
    """The parameters of each bucket of a `DistributedDataParallel`, in the order they are reduced. Makes zeros as large
    as the gradients, and waits for ever within a backward pass (torch/csrc/distributed/c10d/reducer.cpp)."""
    return [bucket.parameters() for bucket in model.reducer._get_zeros_like_grad_buckets()]


VARIABLE_CALL = EntryPoint(type(_Variable), "__call__")
"""Makes a `Variable`: of a tensor its `detach()`, in C++ (torch/csrc/autograd/python_legacy_variable.cpp)."""

# CPython

get_frame: Callable[..., FrameType] = sys._getframe
"""The frame of a caller (documented as an implementation detail)."""

current_frames: Callable[[], dict[int, FrameType]] = sys._current_frames
"""The innermost frame of each thread, by ident (documented as for debugging)."""

THREAD_BOOTSTRAP = EntryPoint(threading.Thread, "_bootstrap_inner")
"""Runs on the new thread, around `run` (Lib/threading.py)."""

SHOW_WARNING = EntryPoint(warnings, "_showwarnmsg_impl")
"""Every warning that is shown passes here (Lib/warnings.py; 3.14 moves it to `_py_warnings`)."""

EXTRACT_STACK = EntryPoint(traceback.StackSummary, "_extract_from_extended_frame_gen")
"""All of `traceback`, `logging` and `warnings` take the frames they print from here (Lib/traceback.py; since 3.11)."""

ArrayMemoryError: type[MemoryError] = vars(numpy)["_core"]._exceptions._ArrayMemoryError
"""Raised where NumPy finds no memory; numpy 2 has no public name for it (numpy/_core/_exceptions.py)."""


def array_bytes(error: BaseException) -> int | None:
    """How many bytes an `ArrayMemoryError` was about."""
    return getattr(error, "_total_size", None) if type(error) is ArrayMemoryError else None


def be_main_thread() -> None:
    """Makes this thread the one that `threading.main_thread()` gives (Lib/threading.py)."""
    threading._main_thread = threading.current_thread()  # type: ignore[attr-defined]


def be_no_daemon() -> None:
    """Threads that this one starts are waited for, although itself is not: a running thread's `daemon` cannot be set
    (Lib/threading.py)."""
    threading.current_thread()._daemonic = False  # type: ignore[attr-defined]


def raise_in(thread: threading.Thread, error: type[BaseException]) -> None:
    """Raises an exception where another thread is (`PyThreadState_SetAsyncExc` in Python/pystate.c)."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(error))


def forget_exit_functions() -> None:
    """What was to be called at this process's end (Modules/atexitmodule.c)."""
    atexit._clear()


def run_exit_functions() -> None:
    """Calls them now, and forgets them (Modules/atexitmodule.c)."""
    atexit._run_exitfuncs()


Position: TypeAlias = tuple[int | None, int | None, int | None, int | None]
"""Line, end line, and the columns in bytes."""


def positions_of(code: CodeType) -> list[Position]:
    """Where the expression of each instruction stands."""
    return list(code.co_positions())


def position_at(positions: Sequence[Position], instruction: int) -> Position | None:
    """Where the expression stands that `f_lasti` or `tb_lasti` is at: those count bytes, two for each place of
    `co_positions`, cache entries too (PEP 657 and 659; the same in 3.12 and 3.13)."""
    at = instruction // 2
    return positions[at] if at < len(positions) else None


_LEAVING = frozenset(("RETURN_VALUE", "RETURN_CONST", "YIELD_VALUE", "RETURN_GENERATOR"))


def is_leaving(frame: FrameType) -> bool:
    """Whether a frame is at an instruction that gives a value to its caller: else it is an exception that leaves it.

    `co_code` shows the code as compiled, whatever the interpreter has made of it (Objects/codeobject.c); `RETURN_CONST`
    is one of 3.12 and 3.13."""
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] in _LEAVING


_GIVING = frozenset(
    "CALL PRECALL CALL_KW CALL_FUNCTION_EX BINARY_OP BINARY_SUBSCR UNARY_NEGATIVE UNARY_INVERT LOAD_ATTR".split()
)
"""Instructions that leave what an op made as it is; comparing may give a bool that Python made of it."""
_MARKS = ("CACHE", "LOAD_CONST", "STORE_ATTR")
"""What may stand between: cache entries, and the marks of statements (`engine/worker/runtime/coverage.py`)."""
_NEAR = 60
"""Bytes that hold the next instructions with their cache entries."""
_PAUSING = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def is_returned(code: CodeType, instruction: int) -> bool:
    """Whether a function returns what an instruction makes: at once, or from the name that it was only just given.

    `PRECALL`, of 3.11 alone, comes before `CALL` and may do its work."""
    if not code.co_flags & inspect.CO_OPTIMIZED or code.co_flags & _PAUSING:
        return False
    compiled = code.co_code
    while dis.opname[compiled[instruction]] == "CACHE":
        instruction -= 2
    if dis.opname[compiled[instruction]] not in _GIVING:
        return False
    passed = _MARKS if compiled[instruction] != dis.opmap.get("PRECALL") else (*_MARKS, "CALL")
    near = range(instruction + 2, min(instruction + _NEAR, len(compiled)), 2)
    then = [(dis.opname[compiled[at]], compiled[at + 1]) for at in near]
    then = [each for each in then if each[0] not in passed]
    if [name for name, _ in then[:2]] == ["STORE_FAST", "LOAD_FAST"] and then[0][1] == then[1][1]:
        del then[:2]
    return [name for name, _ in then[:1]] == ["RETURN_VALUE"]
