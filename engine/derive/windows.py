"""How convolutions and poolings come to the sizes of their results: the numbers of the formula, axis by axis."""

import re
from collections.abc import Mapping
from typing import Literal

import msgspec

from engine.trace import Argument, Op, Tensor, Window, WindowAxis

_NAME = re.compile(r"(?P<base>conv_transpose|conv|max_pool|avg_pool|lp_pool)(?P<axes>[123])d(_with_indices)?")
_CONV = ("input", "weight", "bias", "stride", "padding", "dilation", "groups")
_TRANSPOSE = ("input", "weight", "bias", "stride", "padding", "output_padding", "groups", "dilation")
_MAX_POOL = ("input", "kernel_size", "stride", "padding", "dilation", "ceil_mode")
_AVG_POOL = ("input", "kernel_size", "stride", "padding", "ceil_mode")
_LP_POOL = ("input", "norm_type", "kernel_size", "stride", "ceil_mode")
_PARAMETERS = {
    "conv": _CONV, "conv_transpose": _TRANSPOSE, "max_pool": _MAX_POOL, "avg_pool": _AVG_POOL, "lp_pool": _LP_POOL,
}  # fmt: skip
_KINDS: Mapping[str, Literal["conv", "transpose"]] = {"conv": "conv", "conv_transpose": "transpose"}
_SIZES = re.compile(r"-?\d+|[(\[](-?\d+(, )?)+,?[)\]]")
_SIZE = re.compile(r"-?\d+")


def size_after(window: Window, axis: WindowAxis) -> int:
    """What the formula gives along one axis (the `Shape` sections of `torch.nn.Conv2d`, `ConvTranspose2d` and
    `MaxPool2d`, 2.13; `pooling_output_shape` in ATen/native/Pool.h)."""
    reach = axis.dilation * (axis.kernel - 1)
    if window.kind == "transpose":
        return (axis.size - 1) * axis.stride - 2 * axis.padding + reach + axis.output_padding + 1
    room = axis.size + 2 * axis.padding + axis.padding_end - reach - 1
    if not window.ceil:
        return room // axis.stride + 1
    out = -(-room // axis.stride) + 1
    return out - 1 if (out - 1) * axis.stride >= axis.size + axis.padding else out


def with_windows(ops: tuple[Op, ...], tensors: Mapping[str, Tensor]) -> tuple[Op, ...]:
    """The ops, those that slide a window over their input with the numbers it slid by."""
    candidates = [op for op in ops if op.outputs and _NAME.fullmatch(op.name) and op.function.startswith("torch.")]
    if not candidates:
        return ops
    found = {op.id: window for op in candidates if (window := _window(op, tensors)) is not None}
    return tuple(msgspec.structs.replace(op, window=found[op.id]) if op.id in found else op for op in ops)


def _window(op: Op, tensors: Mapping[str, Tensor]) -> Window | None:
    named = _NAME.fullmatch(op.name)
    if named is None:
        return None
    base, count = named["base"], int(named["axes"])
    given = _given(op, _PARAMETERS[base])
    taken, made = _tensor(given.get("input"), tensors), tensors.get(op.outputs[0])
    if taken is None or made is None or min(len(taken.shape), len(made.shape)) < count:
        return None
    weight = _tensor(given.get("weight"), tensors)
    kernel = weight.shape[-count:] if weight is not None else _sizes(given.get("kernel_size"), count, None)
    if kernel is None or len(kernel) != count:
        return None
    numbers = _numbers(given, count, kernel, pools="pool" in base)
    if numbers is None:
        return None
    sizes = zip(taken.shape[-count:], kernel, *numbers, made.shape[-count:], strict=True)
    axes = tuple(
        WindowAxis(
            size=size,
            kernel=width,
            stride=stride,
            padding=padding,
            padding_end=end,
            dilation=dilation,
            output_padding=more,
            out=out,
        )
        for size, width, stride, (padding, end), dilation, more, out in sizes
    )
    ceil = given.get("ceil_mode")
    return Window(kind=_KINDS.get(base, "pool"), axes=axes, ceil=ceil is not None and ceil.text == "True")


_Sizes = tuple[int, ...]


def _numbers(
    given: Mapping[str, Argument], count: int, kernel: _Sizes, pools: bool
) -> tuple[_Sizes, tuple[tuple[int, int], ...], _Sizes, _Sizes] | None:
    """Stride, padding at both ends, dilation and output padding along each axis."""
    stride = _sizes(given.get("stride"), count, kernel if pools else (1,) * count)
    dilation = _sizes(given.get("dilation"), count, (1,) * count)
    more = _sizes(given.get("output_padding"), count, (0,) * count)
    if stride is None or dilation is None or more is None:
        return None
    padding_given = given.get("padding")
    if padding_given is not None and padding_given.text == "'same'":
        reach = [step * (width - 1) for step, width in zip(dilation, kernel, strict=True)]
        return stride, tuple((whole // 2, whole % 2) for whole in reach), dilation, more
    none = (0,) * count
    is_valid = padding_given is not None and padding_given.text == "'valid'"
    padding = none if is_valid else _sizes(padding_given, count, none)
    return None if padding is None else (stride, tuple((begin, 0) for begin in padding), dilation, more)


def _given(op: Op, parameters: tuple[str, ...]) -> dict[str, Argument]:
    return {
        argument.name or parameters[place]: argument
        for place, argument in enumerate(op.arguments)
        if argument.name or place < len(parameters)
    }


def _tensor(argument: Argument | None, tensors: Mapping[str, Tensor]) -> Tensor | None:
    return None if argument is None or argument.tensor is None else tensors.get(argument.tensor)


def _sizes(argument: Argument | None, count: int, default: _Sizes | None) -> _Sizes | None:
    """A number for each axis, from one for all of them or one for each; the default where nothing was given."""
    if argument is None or argument.text in (None, "None", "()", "[]"):
        return default
    if not _SIZES.fullmatch(argument.text or ""):
        return None
    sizes = tuple(int(size) for size in _SIZE.findall(argument.text or ""))
    return sizes * count if len(sizes) == 1 else sizes if len(sizes) == count else None
