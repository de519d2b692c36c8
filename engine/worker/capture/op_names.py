"""Which torch calls become ops, and under which names."""

from collections.abc import Callable
from typing import Any

from engine.ops import LENDS, PROPERTIES, READS, UNINITIALISED, WRITES_SILENTLY
from engine.worker.capture.cells_read import READERS
from engine.worker.pytorch.internals import TENSOR_MODULE

_OPERATORS = {
    "__truediv__": "div", "__itruediv__": "div_", "__rtruediv__": "rdiv", "__div__": "div", "__rdiv__": "rdiv",
    "__floordiv__": "floor_divide", "__rfloordiv__": "floor_divide", "__ifloordiv__": "floor_divide_",
    "__mod__": "remainder", "__rmod__": "remainder", "__imod__": "remainder_", "__radd__": "add",
    "__rmul__": "mul", "__rmatmul__": "matmul", "__invert__": "bitwise_not", "__and__": "bitwise_and",
    "__or__": "bitwise_or", "__xor__": "bitwise_xor", "__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_",
    "__ipow__": "pow_", "__rpow__": "rpow", "__rsub__": "rsub", "__float__": "item", "__int__": "item",
    "__index__": "item", "__complex__": "item", "__array__": "numpy",
}  # fmt: skip

_UNSEEN = frozenset("""
    __bool__ __repr__ __str__ __format__ __len__ __hash__ __deepcopy__ __reduce_ex__ __setstate__ __dir__
    __contains__ __cuda_array_interface__ __dlpack_device__ __get__ __torch_dispatch__ size dim ndimension numel
    nelement stride storage storage_offset untyped_storage data_ptr element_size is_contiguous is_floating_point
    is_complex is_tensor is_same_size is_signed is_storage is_inference is_conj is_neg get_device is_pinned
    is_shared is_nonzero is_distributed is_coalesced is_set_to has_names names dense_dim sparse_dim register_hook
    register_post_accumulate_grad_hook retain_grad share_memory_ _is_view _version __cudnn__ _set_grad_enabled
    set_grad_enabled is_grad_enabled is_inference_mode_enabled _has_compatible_shallow_copy_type get_default_dtype
    set_default_dtype manual_seed result_type can_cast promote_types finfo iinfo typename equal allclose
    broadcast_shapes _assert is_autocast_enabled _record_function_enter_new _record_function_exit __rdiv_
    _get_tracing_state is_autocast_cpu_enabled get_autocast_dtype compiled_with_cxx11_abi _jit_internal numel_
""".split())  # fmt: skip


class Called:
    """What is known of one function."""

    __slots__ = (
        "function", "gave_nothing", "id", "lends", "name", "picks", "quiet", "special", "uninitialised",
        "writes_silently",
    )  # fmt: skip

    def __init__(self, name: str, function: str, special: str = "") -> None:
        self.id = 0
        self.name = name
        self.function = function
        self.special = special
        """How it is handled when it is not an ordinary op."""
        self.quiet = name not in READS and not function.startswith("torch.distributed.")
        """Not worth an op when no tensor comes out."""
        self.gave_nothing = False
        """It was called and not worth one."""
        self.lends = name in LENDS
        """Shares memory with code that PyTorch does not see."""
        self.picks = name in READERS and function.startswith("torch.")
        """Its results are cells of its arguments."""
        self.uninitialised = name in UNINITIALISED
        self.writes_silently = name in WRITES_SILENTLY


def learn(func: Callable[..., Any]) -> Called | None:
    """Names a function; None when its calls are not recorded."""
    raw = getattr(func, "__name__", None) or type(func).__name__
    if raw in ("__get__", "__set__", "__delete__"):
        return _property(func, raw)
    if raw in _UNSEEN or getattr(func, "namespace", "") == "prims":  # steps of PyTorch's own kernels in Python
        return None
    name = _OPERATORS.get(raw)
    if name is None:
        name = raw.strip("_") if raw.startswith("__") else raw
    return Called(name, _qualified(func, raw), "backward" if raw == "backward" else "")


def _property(func: Any, access: str) -> Called | None:
    name = getattr(func.__self__, "__name__", "")
    if access == "__get__":
        return Called(name, f"torch.Tensor.{name}") if name in PROPERTIES else None
    if name in ("grad", "data", "requires_grad"):
        return Called(f"{name}=", f"torch.Tensor.{name}", f"set_{name}")
    if access != "__set__" or name.startswith("_"):  # such as `_backward_hooks`, which autograd itself sets
        return None
    return Called(f"{name}=", f"torch.Tensor.{name}")


def _qualified(func: Any, raw: str) -> str:
    if hasattr(func, "__objclass__"):
        return f"torch.Tensor.{raw}"
    module = (getattr(func, "__module__", None) or "torch").removesuffix(".distributed_c10d")
    if module == TENSOR_MODULE:
        return f"torch.Tensor.{raw}"
    return f"{module}.{raw}"
