"""A mode in which tensors are on the devices that a program names, though the CPU computes them all.

Results are where their inputs are, what goes from one device to another is copied, and so is its gradient on the way
back. What PyTorch refuses is refused in its words (aten/src/ATen/TensorIterator.cpp, aten/src/ATen/TensorIndexing.h,
torch/csrc/autograd/python_variable.cpp, torch/csrc/utils/tensor_numpy.cpp, c10/cuda/CUDAException.cpp).

Like `capture.ops`, this module stands between the user's code and PyTorch, so warnings must not stick to its frames.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from engine.ops import JOINING, MOVES
from engine.worker.capture.thread_state import ThreadState
from engine.worker.devices.labels import CPU, device_of, follow, known_device, put_result
from engine.worker.pytorch.internals import default_device, device_constructors, tensor_text
from engine.worker.pytorch.modes import unseen

_ABSENT = "CUDA error: invalid device ordinal\nGPU device may be out of range, do you have enough GPUs?"
_TWO = "Expected all tensors to be on the same device, but found at least two devices, {} and {}!"
_INDICES = "indices should be either on cpu or on the same device as the indexed tensor ({})"
_ANYWHERE = frozenset(
    "copy_ __setitem__ set_ result_type is_same_size is_set_to _has_compatible_shallow_copy_type".split()
)
"""Take tensors of several devices."""
_ENGINE = frozenset(("backward", "grad"))
_SHARING = frozenset(("as_tensor", "asarray"))
_PLACES = {"to": ("device", "dtype", "non_blocking", "copy"), "cuda": ("device", "non_blocking"), "cpu": ()}
"""Arguments of ops that move, by position."""


class Simulated(TorchFunctionMode):
    """Active beneath recording: that sees what the program calls, this runs it."""

    def __init__(self, devices: Sequence[torch.device], thread: ThreadState) -> None:
        super().__init__()
        self.devices = tuple(devices)
        self.current = 0
        """Index of the device that `cuda` alone means."""
        self._thread = thread

    def named(self, given: Any) -> torch.device:
        """The device that a program names. Raises RuntimeError for one there is not."""
        device = torch.device(f"cuda:{given}" if type(given) is int else given)
        if device.type != "cuda":
            return device
        index = self.current if device.index is None else device.index
        if index >= len(self.devices):
            raise RuntimeError(_ABSENT)
        return self.devices[index]

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Runs one call."""
        kwargs = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        if name in _ENGINE:  # the hooks that run in it are the program's
            result = func(*args, **kwargs)
            if name == "grad":
                for tensor, grad in zip(_tensors((args[1:2], kwargs.get("inputs"))), result, strict=False):
                    if isinstance(grad, torch.Tensor):
                        follow(grad, tensor)
            return result
        if args and isinstance(args[0], torch.Tensor):
            if name in MOVES and len(args) - 1 <= len(_PLACES[name]):
                return self._moved(name, args[0], args[1:], kwargs)
            if name in ("__get__", "__set__"):
                return self._attribute(func, args, kwargs)
            if (there := device_of(args[0])).type == "cuda":
                told = self._told(func, name, there, args)
                if told is not None:
                    return told
        return self._run(func, name, args, kwargs)

    # What is asked of one tensor

    def _attribute(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        tensor, which = args[0], getattr(func.__self__, "__name__", "")
        if which == "grad" and func.__name__ == "__set__" and isinstance(args[1], torch.Tensor):
            if known_device(args[1]) not in (None, device_of(tensor)):
                raise RuntimeError("assigned grad has data located on a different device")
            follow(args[1], tensor)
        result = func(*args, **kwargs)
        if func.__name__ == "__set__":
            return result
        if which == "device":
            return device_of(tensor)
        if which in ("is_cuda", "is_cpu"):
            return device_of(tensor).type == which.removeprefix("is_")
        if isinstance(result, torch.Tensor):
            follow(result, tensor)
        return result

    def _told(self, func: Callable[..., Any], name: str, there: torch.device, args: tuple[Any, ...]) -> Any:
        """What a tensor on a device of CUDA says where one on the CPU says something else."""
        tensor = args[0]
        if name == "__repr__" or (name == "__format__" and tensor.dim()):
            with self:
                return tensor_text(tensor)
        if name in ("numpy", "__array__"):
            use = "Use Tensor.cpu() to copy the tensor to host memory first."
            raise TypeError(f"can't convert {there} device type tensor to numpy. {use}")
        if name == "get_device":
            return there.index
        if name == "type" and len(args) == 1:
            return str(func(tensor)).replace("torch.", "torch.cuda.")
        return None

    # Copies

    def _moved(self, name: str, tensor: torch.Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.Tensor:
        """`to`, `cuda` and `cpu`: the same tensor where there is nothing to do."""
        places = _PLACES[name]
        if args and isinstance(args[0], torch.dtype):
            places = places[1:]
        elif args and isinstance(args[0], torch.Tensor):
            places = ("other", *places[2:])
        given = dict(zip(places, args, strict=False)) | kwargs
        source, asked = device_of(tensor), given.pop("device", None)
        if (other := given.pop("other", None)) is not None:
            asked, given["dtype"] = device_of(other), other.dtype
        if name != "to":
            asked = "cuda" if name == "cuda" and asked is None else asked or CPU
        to = source if asked is None else self.named(asked)
        return self._copy(tensor, to, given)

    def _copy(self, tensor: torch.Tensor, to: torch.device, given: dict[str, Any]) -> torch.Tensor:
        """A tensor on another device, whose gradient is copied back."""
        source = device_of(tensor)
        if to.type not in ("cpu", "cuda"):
            return tensor.to(device=to, **given)
        crosses = to != source
        result = tensor.to(device=CPU, **given | {"copy": True} if crosses else given)
        if result is tensor:
            return result
        put_result(result, to)
        if crosses and result.grad_fn is not None:
            self._thread.is_internal = True
            try:
                result.grad_fn.register_hook(self._back_to(source))
            finally:
                self._thread.is_internal = False
        return result

    def _back_to(self, source: torch.device) -> Callable[..., Any]:
        def bring(left: tuple[torch.Tensor | None, ...], entered: object) -> tuple[torch.Tensor | None, ...]:
            with unseen():
                return tuple([None if grad is None else self._copy(grad, source, {}) for grad in left])

        return bring

    # Everything else

    def _run(self, func: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given = list(_tensors((args, kwargs)))
        default = default_device()
        makes = func in device_constructors()
        if kwargs.get("device") is not None or (makes and default is not None):
            device = self.named(default if kwargs.get("device") is None else kwargs["device"])
            if device.type not in ("cpu", "cuda"):
                return func(*args, **kwargs)
            kwargs["device"] = CPU
            if name in _SHARING and given and given[0] is args[0]:
                args = (self._copy(given[0], device, {}), *args[1:])
        elif makes and args and isinstance(args[0], list | tuple):
            device = CPU
        elif given and (name.startswith(("new_", "_foreach_")) or name.endswith("_like") or name in _ANYWHERE):
            device = device_of(given[0])
        else:
            device = _common(name, given)
        if default is None:
            result = func(*args, **kwargs)
        else:  # what PyTorch makes inside is not to be made there
            with unseen():
                result = func(*args, **kwargs)
        lists = name.startswith("_foreach_")
        for at, made in enumerate(_tensors(result)):
            if all(made is not one for one in given):
                put_result(made, device_of(given[at]) if lists else device)
        return result


def _common(name: str, given: Sequence[torch.Tensor]) -> torch.device:
    """Where an op runs. Raises RuntimeError for tensors on several devices, but for single numbers on the CPU."""
    places = [(tensor, there) for tensor in given if (there := known_device(tensor)) is not None]
    device = next((there for _, there in places if there != CPU), CPU)
    if name == "__getitem__":
        device = device_of(given[0])
        if any(there not in (CPU, device) for _, there in places):
            raise RuntimeError(_INDICES.format(device))
        return device
    for tensor, there in places:
        is_number = there == CPU and not tensor.dim() and name not in JOINING
        if there != device and not is_number:
            raise RuntimeError(_TWO.format(device, there))
    return device


def _tensors(value: object) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        yield from _tensors(tuple(value.values()))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _tensors(item)


__name__ = "__main__"
__warningregistry__ = None
