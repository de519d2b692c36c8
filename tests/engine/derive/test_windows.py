"""The size formula of convolutions and poolings, beside the shapes PyTorch gave."""

import random
from collections.abc import Iterator

import pytest
import torch
from msgspec.structs import replace

from engine import laws
from engine.derive.windows import size_after
from engine.limits import DEFAULT_LIMITS
from engine.trace import Op, Trace, Window, WindowAxis
from tests.engine.worker.forked import record

START = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"


def _some(rng: random.Random, low: int, high: int, axes: int) -> str:
    """One number for all axes, or one for each."""
    if rng.random() < 0.4:
        return str(rng.randint(low, high))
    return f"({', '.join(str(rng.randint(low, high)) for _ in range(axes))},)"


def _calls(rng: random.Random, count: int) -> Iterator[str]:
    for _ in range(count):
        axes = rng.randint(1, 3)
        sizes = ", ".join(str(rng.randint(7, 10)) for _ in range(axes))
        x = f"torch.zeros(1, 2, {sizes})"
        kernel, stride, dilation = _some(rng, 1, 3, axes), _some(rng, 1, 3, axes), _some(rng, 1, 2, axes)
        padding = rng.choice([_some(rng, 0, 2, axes), "'valid'"])
        form = rng.randrange(8)
        if form == 0:
            yield f"nn.Conv{axes}d(2, 3, {kernel}, stride={stride}, padding={padding}, dilation={dilation})({x})"
        elif form == 1:
            weight = f"torch.zeros(3, 2, {', '.join('3' * axes)})"
            yield f"F.conv{axes}d({x}, {weight}, None, {stride}, {padding}, {dilation})"
        elif form == 2:
            yield f"nn.Conv{axes}d(2, 3, {kernel}, padding='same', dilation={dilation})({x})"
        elif form == 3:
            padding = _some(rng, 0, 1, axes)
            more = _some(rng, 0, 2, axes)
            yield f"nn.ConvTranspose{axes}d(2, 3, {kernel}, 3, {padding}, {more}, dilation={dilation})({x})"
        elif form == 4:
            weight = f"torch.zeros(2, 3, {', '.join('2' * axes)})"
            yield f"F.conv_transpose{axes}d(weight={weight}, input={x}, stride={stride})"
        elif form == 5:
            ceil = rng.choice(["True", "False"])
            options = f"padding=1, dilation={dilation}, ceil_mode={ceil}, return_indices={ceil}"
            yield f"nn.MaxPool{axes}d(3, {stride}, {options})({x})"
        elif form == 6:
            yield f"nn.AvgPool{axes}d(3, {stride}, 1, ceil_mode={rng.choice(['True', 'False'])})({x})"
        else:
            ceil = rng.choice([", ceil_mode=True", ""])
            name = rng.choice(["max_pool", "avg_pool"])
            yield f"F.{name}{axes}d({x}, {rng.randint(2, 4)}{ceil})"


def _windows(trace: Trace) -> dict[int, Op]:
    return {op.span.line: op for op in trace.ops if op.window is not None and op.span is not None}


@pytest.mark.slow
def test_the_formula_gives_the_shapes_of_many_settings() -> None:
    calls = list(_calls(random.Random(5), 400))
    code = START + "".join(f"try: y = {call}\nexcept RuntimeError: pass\n" for call in calls)
    trace = record(code, replace(DEFAULT_LIMITS, wall_s=60))
    tensors = {tensor.id: tensor for tensor in trace.tensors}
    windows = _windows(trace)
    for op in windows.values():
        assert op.window is not None
        axes = op.window.axes
        assert tuple(size_after(op.window, axis) for axis in axes) == tensors[op.outputs[0]].shape[2:], (op, axes)
        assert tuple(axis.size for axis in axes) == tensors[op.inputs[_at(op)]].shape[2:]
    kinds = [op.window.kind for op in windows.values() if op.window is not None]
    assert len(windows) > 350 and min(kinds.count(kind) for kind in set(kinds)) > 50
    assert any(op.window.ceil for op in windows.values() if op.window is not None)
    assert any(axis.padding_end for op in windows.values() if op.window is not None for axis in op.window.axes)


def _at(op: Op) -> int:
    """Which of its inputs is the one the window slid over."""
    return next((place for place, argument in enumerate(op.arguments) if argument.name == "input"), 0)


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "padding", "more", "dilation"),
    [
        (5, 3, 1, 0, 0, 1),
        (5, 3, 2, 0, 0, 1),
        (5, 3, 2, 1, 0, 1),
        (5, 3, 3, 1, 2, 1),
        (6, 2, 3, 0, 1, 2),
        (1, 4, 5, 2, 3, 3),
    ],
)
def test_a_transposed_convolution_spreads_as_pytorch_s_does(
    size: int, kernel: int, stride: int, padding: int, more: int, dilation: int
) -> None:
    layer = torch.nn.ConvTranspose1d(1, 1, kernel, stride, padding, more, dilation=dilation)
    out = layer(torch.zeros(1, 1, size)).shape[2]
    axis = WindowAxis(
        size=size, kernel=kernel, stride=stride, padding=padding, output_padding=more, dilation=dilation, out=out
    )
    assert size_after(Window(kind="transpose", axes=(axis,)), axis) == out


def test_unbatched_inputs_and_other_spellings_are_known() -> None:
    code = """x = torch.zeros(2, 9, 9)
y = nn.MaxPool2d(3)(x)
y = torch.max_pool2d(x, [3, 2], stride=[2])
y = F.lp_pool2d(x, 2, 3)
y = nn.Conv2d(2, 3, 3)(x)
y = F.max_pool2d(x, 2, return_indices=True)
y = nn.Conv2d(2, 3, 3, padding=1, padding_mode="reflect")(x)
"""
    trace = record(START + code)
    assert laws.broken(trace) == []
    assert set(_windows(trace)) == {5, 6, 7, 8, 9, 10}


def test_other_ops_have_no_window() -> None:
    code = """x = torch.zeros(1, 2, 9, 9)
y = nn.AdaptiveAvgPool2d(3)(x)
y = F.unfold(x, 3)
try: y = nn.Conv2d(3, 3, 3)(x)
except RuntimeError: pass
def max_pool2d(x): return x + 1
y = max_pool2d(x)
class conv2d(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
y = conv2d.apply(x)
"""
    trace = record(START + code)
    assert trace.status == "ok" and _windows(trace) == {}


@pytest.mark.parametrize("name", ["kernel", "stride", "padding", "size", "dilation", "out"])
def test_a_wrong_number_breaks_the_law(name: str) -> None:
    trace = record(START + "y = nn.Conv1d(2, 3, 3, stride=2, padding=1, dilation=2)(torch.zeros(1, 2, 20))\n")
    assert laws.broken(trace) == []

    def wrong(window: Window | None) -> Window | None:
        if window is None:
            return None
        return replace(window, axes=tuple(replace(axis, **{name: getattr(axis, name) + 3}) for axis in window.axes))

    assert laws.broken(replace(trace, ops=tuple(replace(op, window=wrong(op.window)) for op in trace.ops))) != []
