"""Every rule says what PyTorch computes: formulas evaluated with NumPy against PyTorch's own VJP."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from engine.rules import TABLE, Rule, rule_of, texts
from engine.rules.formula import SUBSCRIPTED, Apply, Expr, Symbol, call, equation, mathml
from engine.trace import Saved
from tests.engine.numpy_formula import Setting, known_functions, sum_to
from tests.engine.worker.forked import record

Make = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """One op on small inputs: which rule it is an example of, and what its symbols stand for besides the inputs."""

    rule: str
    make: Make
    inputs: dict[str, torch.Tensor]
    others: dict[str, Any] = field(default_factory=dict)
    """Values of symbols that are no differentiable input."""


def rand(*shape: int, low: float = -2.0, high: float = 2.0) -> torch.Tensor:
    """Reproducible numbers away from zero."""
    seed = sum((at + 1) * size for at, size in enumerate(shape)) + int(10 * high)
    values = np.random.default_rng(seed).uniform(low, high, shape)
    return torch.from_numpy(np.where(np.abs(values) < 0.1, 0.3, values))


def positive(*shape: int) -> torch.Tensor:
    return rand(*shape, low=0.2, high=0.9)


def unary(rule: str, make: Make, x: torch.Tensor | None = None, **others: Any) -> Case:
    return Case(rule, make, {"self": rand(2, 3) if x is None else x}, others)


def binary(rule: str, make: Make, a: torch.Tensor, b: torch.Tensor, name: str = "other", **others: Any) -> Case:
    return Case(rule, make, {"self": a, name: b}, others)


A, B, ROW = rand(2, 3), rand(2, 3, low=0.5, high=3.0), rand(3, low=0.5, high=2.0)
MASK = torch.tensor([[True, False, True], [False, False, True]])
T = torch.tensor([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]], dtype=torch.float64)
P = positive(2, 3)
ROWS = torch.tensor([2, 0, 2])
CLASSES = torch.tensor([2, 0])
SOME = torch.tensor([2, -100, 0])
IMAGE, KERNEL = rand(2, 3, 5, 5), rand(4, 3, 3, 2)
TIED = torch.tensor([[1.0, 3.0], [3.0, -2.0]], dtype=torch.float64)
TIED_ROWS = torch.tensor([[1.0, 3.0, 3.0], [-2.0, -2.0, 0.5]], dtype=torch.float64)
SQUARE = rand(3, 3) + 4 * torch.eye(3)
ALONG = torch.tensor([[0, 2], [1, 0]])
REDUCTIONS = ("none", "mean", "sum")


def _reduced(make: Make, target: torch.Tensor, how: str) -> Make:
    return lambda x: make(x, target, reduction=how)


def losses(rule: str, make: Make, x: torch.Tensor, target: torch.Tensor, **others: Any) -> list[Case]:
    return [
        Case(f"{rule}_{how}", _reduced(make, target, how), {"self": x}, {"target": target, **others})
        for how in REDUCTIONS
    ]


CASES = [
    binary("add", lambda a, b: a + b, A, ROW),
    binary("add_alpha", lambda a, b: torch.add(a, b, alpha=3), A, ROW, alpha=3),
    binary("sub", lambda a, b: a - b, A, ROW),
    binary("sub_alpha", lambda a, b: torch.sub(a, b, alpha=3), A, ROW, alpha=3),
    unary("rsub", lambda x: 2 - x, other=2),
    binary("mul", lambda a, b: a * b, A, ROW),
    binary("div", lambda a, b: a / b, A, ROW),
    unary("neg", lambda x: -x),
    unary("reciprocal", torch.reciprocal),
    unary("pow", lambda x: x**3, exponent=3),
    binary("pow_tensor", torch.pow, B, ROW, "exponent"),
    unary("exp", torch.exp),
    unary("log", torch.log, B),
    unary("log1p", torch.log1p, B),
    unary("log2", torch.log2, B),
    unary("sqrt", torch.sqrt, B),
    unary("rsqrt", torch.rsqrt, B),
    unary("sin", torch.sin),
    unary("cos", torch.cos),
    unary("tan", torch.tan, P),
    unary("atan", torch.atan),
    unary("erf", torch.erf),
    unary("abs", torch.abs),
    binary("maximum", torch.maximum, TIED, TIED.T.contiguous()),
    binary("minimum", torch.minimum, TIED, TIED.T.contiguous()),
    binary("atan2", torch.atan2, A, B),
    binary("hypot", torch.hypot, A, ROW),
    binary("logaddexp", torch.logaddexp, A, ROW),
    binary("xlogy", torch.xlogy, A, B),
    Case("xlogy", lambda a: torch.xlogy(a, 3.0), {"self": A}, {"other": 3.0}),
    Case("xlogy_number", lambda b: torch.xlogy(3.0, b), {"other": B}, {"self": 3.0}),
    binary("lerp", lambda a, b: torch.lerp(a, b, 0.3), A, B, "end", weight=0.3),
    Case("lerp_tensor", torch.lerp, {"self": A, "end": B, "weight": P}),
    Case("addcmul", partial(torch.addcmul, value=0.5), {"self": A, "tensor1": B, "tensor2": P}, {"value": 0.5}),
    Case("addcdiv", partial(torch.addcdiv, value=2), {"self": P, "tensor1": A, "tensor2": B}, {"value": 2}),
    unary("remainder", lambda x: x % 0.7, other=0.7),
    binary("remainder_tensor", torch.remainder, A, ROW),
    unary("clamp", lambda x: x.clamp(-1, 1), min=-1, max=1),
    unary("clamp_min", lambda x: x.clamp_min(0.5), min=0.5),
    binary("where", lambda a, b: torch.where(MASK, a, b), A, B, condition=MASK),
    unary("masked_fill", lambda x: x.masked_fill(MASK, 9.0), mask=MASK, value=9.0),
    unary("relu", torch.relu),
    unary("leaky_relu", lambda x: F.leaky_relu(x, 0.1), negative_slope=0.1),
    unary("elu", lambda x: F.elu(x, 1.5), alpha=1.5),
    unary("elu_scaled", F.selu, alpha=1.6732632423543772, scale=1.0507009873554805),
    unary("sigmoid", torch.sigmoid),
    unary("tanh", torch.tanh),
    unary("log_sigmoid", F.logsigmoid),
    unary("softplus", lambda x: F.softplus(x, 2.0), beta=2.0),
    unary("silu", F.silu),
    unary("gelu", F.gelu),
    unary("hardtanh", lambda x: F.hardtanh(x, -1.5, 0.5), min_val=-1.5, max_val=0.5),
    unary("softmax", lambda x: torch.softmax(x, 1), dim=1),
    unary("log_softmax", lambda x: torch.log_softmax(x, 1), dim=1),
    unary("sum", torch.sum),
    unary("sum_dim", lambda x: x.sum(1), dim=1),
    unary("sum_dim", lambda x: x.sum((0, 2), keepdim=True), rand(2, 3, 4), dim=(0, 2)),
    unary("mean", torch.mean),
    unary("mean_dim", lambda x: x.mean((0, 1)), rand(2, 3, 4), dim=(0, 1)),
    unary("prod", torch.prod),
    unary("prod", torch.prod, torch.tensor([2.0, 0.0, 3.0])),
    unary("cumsum", lambda x: x.cumsum(1), dim=1),
    unary("logsumexp", lambda x: x.logsumexp(1), dim=1),
    unary("var_whole", torch.var),
    unary("var_whole_corrected", lambda x: x.var(correction=0, keepdim=True), correction=0),
    unary("var", lambda x: x.var(1, correction=0, keepdim=True), dim=1, correction=0),
    unary("std_whole", torch.std),
    unary("std_whole_corrected", lambda x: x.std(correction=2), correction=2),
    unary("std", lambda x: x.std(1, keepdim=True), dim=1, correction=1),
    unary("max", torch.max, TIED),
    unary("min", torch.min, TIED),
    unary("max_dim", lambda x: x.max(1).values, dim=1, indices=A.max(1).indices),
    unary("min_dim", lambda x: x.min(1).values, dim=1, indices=A.min(1).indices),
    unary("linalg_vector_norm", torch.linalg.vector_norm, dim=None),
    unary("linalg_vector_norm_whole", torch.norm),
    unary("linalg_vector_norm", lambda x: torch.linalg.vector_norm(x, dim=1), dim=1),
    binary("mm", torch.mm, A, rand(3, 4), "mat2"),
    binary("bmm", torch.bmm, rand(2, 2, 3), rand(2, 3, 4), "mat2"),
    Case("addmm", torch.addmm, {"self": rand(4), "mat1": A, "mat2": rand(3, 4)}),
    binary("mv", torch.mv, A, ROW, "vec"),
    binary("dot", torch.dot, rand(4), rand(4, high=1.0), "tensor"),
    unary("t", torch.t),
    unary("view", lambda x: x.view(3, 2)),
    unary("transpose", lambda x: x.transpose(0, 2), rand(2, 3, 4), dim0=0, dim1=2),
    unary("permute", lambda x: x.permute(2, 0, 1), rand(2, 3, 4), dims=(2, 0, 1)),
    unary("expand", lambda x: x.expand(5, 2, 3), rand(2, 1)),
    unary("squeeze", torch.squeeze, rand(2, 1, 3)),
    unary("unsqueeze", lambda x: x.unsqueeze(1), dim=1),
    unary("t", lambda x: (x * 1).t_()),
    unary("transpose", lambda x: (x * 1).transpose_(0, 2), rand(2, 3, 4), dim0=0, dim1=2),
    unary("squeeze", lambda x: (x * 1).squeeze_(1), rand(2, 1, 3)),
    unary("unsqueeze", lambda x: (x * 1).unsqueeze_(1), dim=1),
    unary("select", lambda x: x.select(1, 2), dim=1, index=2),
    unary("slice", lambda x: x[:, 1:3], dim=1, start=1, end=3),
    unary("slice_step", lambda x: x[:, ::2], dim=1, start=0, end=4, step=2),
    unary("index", lambda x: x[ROWS], rand(3, 2), indices=ROWS),
    unary("index_select", lambda x: x.index_select(1, ROWS), dim=1, index=ROWS),
    unary("gather", lambda x: x.gather(1, torch.tensor([[2, 2], [0, 1]])), dim=1, index=np.array([[2, 2], [0, 1]])),
    Case(
        "index_add",
        lambda x, s: x.index_add(0, ROWS, s),
        {"self": rand(3, 2), "source": rand(3, 2, high=1.0)},
        {"dim": 0, "index": ROWS},
    ),
    Case(
        "index_put",
        lambda x, v: x.index_put((ROWS[:2],), v),
        {"self": rand(3, 2), "values": rand(2, 2, high=1.0)},
        {"indices": ROWS[:2]},
    ),
    Case("cat", lambda a: torch.cat([a, B], 1), {"tensors": A}, {"dim": 1, "start": 0, "end": 3}),
    Case("cat", lambda a: torch.cat([B, a], 0), {"tensors": A}, {"dim": 0, "start": 2, "end": 4}),
    Case("stack", lambda a: torch.stack([B, a], 1), {"tensors": A}, {"dim": 1, "start": 1}),
    unary("roll", lambda x: x.roll(2), shifts=2),
    unary("roll_dims", lambda x: x.roll((1, 2), (0, 1)), shifts=(1, 2), dims=(0, 1)),
    unary("repeat", lambda x: x.repeat(2, 3), repeats=(2, 3)),
    unary("flip", lambda x: x.flip(1), dims=1),
    unary("tril", torch.tril),
    unary("triu", torch.triu),
    unary("clone", torch.clone),
    unary("to_copy", lambda x: x.to(torch.float32)),
    binary("copys", lambda a, b: (a + 0).copy_(b), A, ROW, "src"),
    *losses("mse_loss", F.mse_loss, A, T),
    *losses("binary_cross_entropy", F.binary_cross_entropy, P, T),
    *losses("binary_cross_entropy_with_logits", F.binary_cross_entropy_with_logits, A, T),
    *losses("smooth_l1_loss", partial(F.smooth_l1_loss, beta=0.7), A, T, beta=0.7),
    *losses("huber_loss", partial(F.huber_loss, delta=0.7), A, T, delta=0.7),
    unary("nll_loss_mean", lambda x: F.nll_loss(x, CLASSES), target=CLASSES, total_weight=2),
    unary("nll_loss_mean", lambda x: F.nll_loss(x, SOME), rand(3, 3), target=SOME, total_weight=2),
    unary(
        "nll_loss_weighted",
        lambda x: F.nll_loss(x, SOME, weight=ROW),
        rand(3, 3),
        target=SOME,
        weight=ROW,
        total_weight=float(ROW[2] + ROW[0]),
    ),
    unary("nll_loss_sum", lambda x: F.nll_loss(x, SOME, reduction="sum"), rand(3, 3), target=SOME),
    Case("convolution", F.conv2d, {"input": IMAGE, "weight": KERNEL, "bias": rand(4)}),
    Case("convolution_unbiased", F.conv2d, {"input": IMAGE, "weight": KERNEL}),
    unary("avg_pool2d", lambda x: F.avg_pool2d(x, 2), rand(1, 1, 4, 4), window=torch.ones(2, 2)),
    unary("avg_pool2d", lambda x: F.avg_pool2d(x, (1, 2)), rand(1, 1, 4, 4), window=torch.ones(1, 2)),
    unary(
        "avg_pool2d_unpadded",
        lambda x: F.avg_pool2d(x, 2, count_include_pad=False),
        rand(1, 1, 4, 4),
        window=torch.ones(2, 2),
    ),
    unary("avg_pool2d_divided", lambda x: F.avg_pool2d(x, 2, divisor_override=3), rand(1, 1, 4, 4), divisor_override=3),
    unary("adaptive_avg_pool2d", lambda x: F.adaptive_avg_pool2d(x, 2), rand(1, 1, 4, 4), window=torch.ones(2, 2)),
    Case("embedding", lambda w: F.embedding(ROWS, w), {"weight": rand(3, 2)}, {"indices": ROWS}),
    Case(
        "embedding_padding",
        lambda w: F.embedding(ROWS, w, padding_idx=2),
        {"weight": rand(3, 2)},
        {"indices": ROWS, "padding_idx": 2},
    ),
    unary("asin", torch.asin, P),
    unary("acos", torch.acos, P),
    Case("pow_number", lambda p: 2**p, {"exponent": A}, {"self": 2.0}),
    unary("sign", torch.sign),
    unary("floor", torch.floor),
    unary("ceil", torch.ceil),
    unary("round", torch.round),
    unary("trunc", torch.trunc),
    Case("tanh_backward", torch.ops.aten.tanh_backward, {"grad_output": A, "output": P}),
    Case("sigmoid_backward", torch.ops.aten.sigmoid_backward, {"grad_output": A, "output": P}),
    Case(
        "threshold_backward",
        lambda u, x: torch.ops.aten.threshold_backward(u, x, 0.5),
        {"grad_output": A, "self": B},
        {"threshold": 0.5},
    ),
    unary("fill", lambda x: (x * 1).zero_()),
    unary("fill", lambda x: (x * 1).fill_(2.0)),
    Case("prelu_kernel", torch.ops.aten._prelu_kernel, {"self": A, "weight": rand(1, 3, high=1.0)}),
    unary("mish", F.mish),
    unary("amax", lambda x: x.amax(1), TIED_ROWS, dim=1),
    unary("amin", lambda x: x.amin(1, keepdim=True), TIED_ROWS, dim=1),
    unary("median", torch.median, TIED),
    unary("median_dim", lambda x: x.median(1).values, dim=1, indices=A.median(1).indices),
    unary("median_dim", lambda x: x.kthvalue(2, 1).values, dim=1, indices=A.kthvalue(2, 1).indices),
    unary("sort", lambda x: x.sort(1).values, dim=1, indices=A.sort(1).indices),
    unary("sort", lambda x: x.topk(2, 1).values, dim=1, indices=A.topk(2, 1).indices),
    unary("prod_dim", lambda x: x.prod(1), dim=1),
    unary("prod_dim", lambda x: x.prod(0), torch.tensor([[2.0, 0.0], [0.0, 0.0], [3.0, 4.0]]), dim=0),
    unary("cumprod", lambda x: x.cumprod(1), dim=1),
    unary("norm_dim", lambda x: torch.ops.aten.norm.ScalarOpt_dim(x, 2, [1]), dim=1),
    unary("trace", torch.trace, SQUARE),
    Case("linalg_inv_ex", torch.linalg.inv, {"A": SQUARE}),
    Case("linalg_det", torch.linalg.det, {"A": SQUARE}),
    Case("scatter", lambda x, s: x.scatter(1, ALONG, s), {"self": A, "src": rand(2, 2)}, {"dim": 1, "index": ALONG}),
    Case(
        "scatter_add",
        lambda x, s: x.scatter_add(1, ALONG, s),
        {"self": A, "src": rand(2, 2)},
        {"dim": 1, "index": ALONG},
    ),
    unary("masked_select", lambda x: x.masked_select(MASK), mask=MASK),
    unary("diagonal", lambda x: x.diagonal(1), SQUARE, offset=1),
    unary("constant_pad_nd", lambda x: F.pad(x, (1, 2, 0, 1)), pad=(1, 2, 0, 1)),
    unary("upsample_nearest2d", lambda x: F.interpolate(x, scale_factor=2), rand(1, 1, 2, 3)),
    unary("nll_loss_none", lambda x: F.nll_loss(x, SOME, reduction="none"), rand(3, 3), target=SOME),
]


def numpy_of(value: Any) -> Any:
    return value.detach().numpy() if isinstance(value, torch.Tensor) else value


def row(identifier: str) -> Rule:
    return next(rule for rule in TABLE if rule.id == identifier)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_the_formula_is_pytorchs_vjp(case: Case) -> None:
    rule = row(case.rule)
    inputs = {name: value.clone().requires_grad_() for name, value in case.inputs.items()}
    result = case.make(*inputs.values())
    assert type(result.grad_fn).__name__ in rule.types
    seed = torch.from_numpy(np.random.default_rng(7).uniform(-1, 1, result.shape)).to(result.dtype)
    gradients = torch.autograd.grad(result, list(inputs.values()), seed)
    values = {**inputs, "result": result, "g": seed, **case.others}
    symbols = {name: numpy_of(value) for name, value in values.items()}
    for (name, value), expected in zip(inputs.items(), gradients, strict=True):
        got = Setting(symbols, tuple(value.shape)).evaluate(rule.slots[name])
        if name == "bias" and value.dim() == 1 and result.dim() == 4:
            got = seed.sum((0, 2, 3)).numpy()
        got = sum_to(got, tuple(value.shape))
        assert got.shape == tuple(expected.shape)
        np.testing.assert_allclose(got, expected.numpy(), rtol=1e-6, atol=1e-9)


def normalised(x: torch.Tensor, axes: tuple[int, ...]) -> dict[str, Any]:
    mean = x.mean(axes, keepdim=True)
    return {"result1": mean, "result2": (x.var(axes, correction=0, keepdim=True) + 1e-5).rsqrt(), "axes": axes}


@pytest.mark.parametrize(
    ("identifier", "make", "axes", "shape"),
    [
        ("native_layer_norm", lambda x, w, b: F.layer_norm(x, (3,), w, b), (1,), (4, 3)),
        ("native_layer_norm_unbiased", lambda x, w: F.layer_norm(x, (3,), w), (1,), (4, 3)),
        ("native_layer_norm_plain", lambda x: F.layer_norm(x, (3,)), (1,), (4, 3)),
        ("native_batch_norm", lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), (0,), (4, 3)),
        ("native_batch_norm_plain", lambda x: F.batch_norm(x, None, None, training=True), (0,), (4, 3)),
    ],
)
def test_normalisation_formulas_are_pytorchs_vjp(
    identifier: str, make: Make, axes: tuple[int, ...], shape: tuple[int, ...]
) -> None:
    rule = row(identifier)
    every = [rand(*shape).requires_grad_(), rand(3).requires_grad_(), rand(3, high=1.0).requires_grad_()]
    inputs = every[: len(rule.slots)]
    result = make(*inputs)
    assert type(result.grad_fn).__name__ in rule.types
    seed = rand(*shape, high=1.5)
    gradients = torch.autograd.grad(result, inputs, seed)
    values = {"g": seed, "input": inputs[0], "weight": every[1], **normalised(inputs[0].detach(), axes)}
    setting = Setting({name: numpy_of(value) for name, value in values.items()}, shape)
    np.testing.assert_allclose(setting.evaluate(rule.slots["input"]), gradients[0].numpy(), atol=1e-8)
    for name, expected in zip(list(rule.slots)[1:], gradients[1:], strict=True):
        summand = rule.slots[name]
        assert isinstance(summand, Apply) and summand.function == "total"
        np.testing.assert_allclose(setting.evaluate(summand.arguments[0]).sum(axis=0), expected.numpy(), atol=1e-8)


@pytest.mark.parametrize("identifier", ["native_group_norm", "native_group_norm_plain"])
def test_the_group_norm_formula_is_pytorchs_vjp(identifier: str) -> None:
    x, weight, bias = rand(2, 4, 3).requires_grad_(), rand(4).requires_grad_(), rand(4, high=1.0).requires_grad_()
    rule = row(identifier)
    inputs = [x, weight, bias][: len(rule.slots)]
    result = F.group_norm(x, 2, weight, bias) if inputs[1:] else F.group_norm(x, 2)
    assert type(result.grad_fn).__name__ in rule.types
    seed = rand(2, 4, 3, high=1.5)
    gradients = torch.autograd.grad(result, inputs, seed)
    grouped = {"g": seed, "input": x, "weight": weight[None, :, None].expand(2, 4, 3)}
    values = {name: numpy_of(value).reshape(2, 2, 2, 3) for name, value in grouped.items()}
    values |= {name: numpy_of(value) for name, value in normalised(x.detach().reshape(2, 2, 2, 3), (2, 3)).items()}
    setting = Setting(values, (2, 2, 2, 3))
    np.testing.assert_allclose(setting.evaluate(rule.slots["input"]).reshape(2, 4, 3), gradients[0].numpy(), atol=1e-8)
    for name, expected in zip(list(rule.slots)[1:], gradients[1:], strict=True):
        summand = rule.slots[name]
        assert isinstance(summand, Apply) and summand.function == "total"
        got = setting.evaluate(summand.arguments[0]).reshape(2, 4, 3).sum((0, 2))
        np.testing.assert_allclose(got, expected.numpy(), atol=1e-8)


@pytest.mark.parametrize("identifier", ["native_batch_norm_eval", "native_batch_norm_eval_plain"])
def test_the_batch_norm_formula_in_evaluation_is_pytorchs_vjp(identifier: str) -> None:
    x, weight, bias = rand(4, 3).requires_grad_(), rand(3).requires_grad_(), rand(3, high=1.0).requires_grad_()
    mean, var = rand(3, high=0.7), positive(3)
    rule = row(identifier)
    inputs = [x, weight, bias][: len(rule.slots)]
    result = F.batch_norm(x, mean, var, weight, bias) if inputs[1:] else F.batch_norm(x, mean, var)
    assert type(result.grad_fn).__name__ in rule.types
    seed = rand(4, 3, high=1.5)
    gradients = torch.autograd.grad(result, inputs, seed)
    values = {"g": seed, "input": x, "weight": weight, "running_mean": mean, "running_var": var, "eps": 1e-5}
    setting = Setting({name: numpy_of(value) for name, value in values.items()}, (4, 3))
    np.testing.assert_allclose(setting.evaluate(rule.slots["input"]), gradients[0].numpy(), atol=1e-8)
    for name, expected in zip(list(rule.slots)[1:], gradients[1:], strict=True):
        summand = rule.slots[name]
        assert isinstance(summand, Apply) and summand.function == "total"
        np.testing.assert_allclose(setting.evaluate(summand.arguments[0]).sum(axis=0), expected.numpy(), atol=1e-8)


@pytest.mark.parametrize(("identifier", "cut"), [("split", torch.split), ("unbind", None)])
def test_cutting_is_undone_by_joining(identifier: str, cut: Make | None) -> None:
    x = rand(3, 2).requires_grad_()
    pieces = cut(x, 1) if cut is not None else x.unbind(0)
    seeds = [rand(*piece.shape, high=1.0 + at) for at, piece in enumerate(pieces)]
    (expected,) = torch.autograd.grad(pieces, x, seeds)
    got = Setting({"g": [seed.numpy() for seed in seeds], "dim": 0}, (3, 2)).evaluate(row(identifier).slots["self"])
    np.testing.assert_allclose(got, expected.numpy())


def functions_in(expr: Expr) -> set[str]:
    if not isinstance(expr, Apply):
        return set()
    return {expr.function}.union(*(functions_in(argument) for argument in expr.arguments))


def test_every_formula_is_checked_except_those_in_words() -> None:
    checked = {case.rule for case in CASES} | {"split", "unbind"}
    checked |= {rule.id for rule in TABLE if "norm" in rule.id and rule.id.startswith("native")}
    in_words = {
        "max_pool2d_with_indices",
        "copy_slices",
        "scaled_dot_product_flash_attention_for_cpu",
        "scaled_dot_product_flash_attention_for_cpu_masked",
        "native_dropout",
        "convolution_transposed",
        "convolution_transposed_unbiased",
        "as_strided",
        "unfold",
        "accumulate_grad",
        "add_number",
    }
    assert {rule.id for rule in TABLE} - checked == in_words
    for rule in TABLE:
        if rule.id not in in_words:
            assert set().union(*(functions_in(slot) for slot in rule.slots.values())) <= known_functions(), rule.id


def written_below(expr: Expr) -> Iterator[str]:
    """What stands below the name of a function, in an expression."""
    if isinstance(expr, Apply):
        if expr.function in SUBSCRIPTED and len(expr.arguments) > 1:
            last = expr.arguments[-1]
            yield last.name if isinstance(last, Symbol) else f"{expr.function} {last}"
        for argument in expr.arguments:
            yield from written_below(argument)


def test_only_an_axis_or_an_index_is_written_below_a_name() -> None:
    places = {"start", "dim", "dims", "axes", "index", "indices", "mask", "offset", "pad", "repeats", "result1"}
    for rule in TABLE:
        for expr in (rule.forward, *rule.slots.values()):
            assert set(written_below(expr)) <= {*places, "expand Number(value=1)"}, rule.id


def symbols_in(expr: Expr) -> set[str]:
    if isinstance(expr, Apply):
        return set().union(*map(symbols_in, expr.arguments)) if expr.function != "count" else {"n"}
    return {expr.name} if isinstance(expr, Symbol) else set()


def test_no_letter_of_a_rule_stands_for_two_things() -> None:
    for rule in TABLE:
        symbols = {"result", *rule.slots}.union(*map(symbols_in, (rule.forward, *rule.slots.values())))
        assert len({rule.letters.get(name, name) for name in symbols}) == len(symbols), rule.id


def test_ids_are_unique_and_known_by_type() -> None:
    assert len({rule.id for rule in TABLE}) == len(TABLE)
    assert rule_of("MulBackward0") == "mul"
    assert rule_of("ReshapeAliasBackward0") == "view"
    assert rule_of("MineBackward") is None


def saved(**fields: str) -> tuple[Saved, ...]:
    return tuple(Saved(field=name, text=value) for name, value in fields.items())


@pytest.mark.parametrize(
    ("node_type", "fields", "expected"),
    [
        ("AddBackward0", {"alpha": "1"}, "add"),
        ("AddBackward0", {"alpha": "0.5"}, "add_alpha"),
        ("MseLossBackward0", {"reduction": "1"}, "mse_loss_mean"),
        ("MseLossBackward0", {"reduction": "2"}, "mse_loss_sum"),
        ("NllLossBackward0", {"reduction": "1"}, "nll_loss_mean"),
        ("NllLossBackward0", {"reduction": "1", "weight": "tensor"}, "nll_loss_weighted"),
        ("NllLossBackward0", {"reduction": "2", "weight": "tensor"}, None),
        ("BinaryCrossEntropyBackward0", {"reduction": "1", "weight": "tensor"}, None),
        ("BinaryCrossEntropyWithLogitsBackward0", {"reduction": "1", "pos_weight": "tensor"}, None),
        (
            "EluBackward0",
            {"alpha": "1.6732632423543772", "scale": "1.0507009873554805", "input_scale": "1"},
            "elu_scaled",
        ),
        ("AddmmBackward0", {"alpha": "2", "beta": "1"}, None),
        ("RsubBackward1", {"alpha": "3"}, None),
        ("AvgPool2DBackward0", {"divisor_override": "3", "count_include_pad": "True"}, "avg_pool2d_divided"),
        ("AvgPool2DBackward0", {"count_include_pad": "False"}, "avg_pool2d_unpadded"),
        ("ConvolutionBackward0", {"transposed": "False", "bias_sym_sizes_opt": "(0,)"}, "convolution_unbiased"),
        ("ConvolutionBackward0", {"transposed": "True", "bias_sym_sizes_opt": "(2,)"}, "convolution_transposed"),
        ("NativeLayerNormBackward0", {"weight": ""}, "native_layer_norm_unbiased"),
        ("NativeLayerNormBackward0", {"weight": "", "bias": ""}, "native_layer_norm"),
        ("NativeGroupNormBackward0", {"eps": "1e-05"}, "native_group_norm_plain"),
        ("EmbeddingBackward0", {"padding_idx": "2", "scale_grad_by_freq": "True"}, None),
        ("IndexAddBackward0", {"alpha": "2"}, None),
        ("IndexPutBackward0", {"accumulate": "True"}, None),
        (
            "ScaledDotProductFlashAttentionForCpuBackward0",
            {"is_causal": "True"},
            "scaled_dot_product_flash_attention_for_cpu_masked",
        ),
        ("GeluBackward0", {"approximate": "'none'"}, "gelu"),
        ("GeluBackward0", {"approximate": "'tanh'"}, None),
        ("LinalgVectorNormBackward0", {"ord": "2.0", "dim": "(1,)"}, "linalg_vector_norm"),
        ("LinalgVectorNormBackward0", {"ord": "2"}, "linalg_vector_norm_whole"),
        ("LinalgVectorNormBackward0", {"ord": "1"}, None),
        ("NativeBatchNormBackward0", {"training": "False"}, "native_batch_norm_eval_plain"),
        ("NativeBatchNormBackward0", {"training": "False", "weight": ""}, "native_batch_norm_eval"),
        ("NormBackward1", {"p": "1"}, None),
    ],
)
def test_a_rule_holds_only_for_what_the_node_saved(
    node_type: str, fields: dict[str, str], expected: str | None
) -> None:
    assert rule_of(node_type, saved(**fields)) == expected


COMPLEX = """import torch
z = torch.tensor([1 + 2j, -0.5j], requires_grad=True)
((z * z + 2 * z).abs().sum() + (z - 1).real.sum()).backward()
"""


def test_complex_numbers_have_the_rules_that_need_no_conjugate() -> None:
    rules = {node.type: node.rule for node in record(COMPLEX).nodes}
    assert {"MulBackward0", "AbsBackward0"} <= {node for node, rule in rules.items() if rule is None}
    assert rules["SubBackward0"] == "sub"
    assert rules["SumBackward0"] == "sum"


def test_texts_are_well_formed_mathml_with_places_for_numbers() -> None:
    for rule in texts():
        for piece in (rule.forward_mathml, *(slot.mathml for slot in rule.slots)):
            ET.fromstring(piece)
        assert set(rule.words) == {"zh", "en"}
        assert all(rule.words.values())
    mul = next(rule for rule in texts() if rule.id == "mul")
    (first, _) = mul.slots
    assert (first.name, first.letter, first.terms) == ("self", "a", ["mul", "g", "other"])
    after = '<mrow><mo form="infix">⊙</mo><mi data-slot="other">b</mi></mrow>'
    assert first.mathml == f'<mrow><mi data-slot="g">g</mi>{after}</mrow>', "a sign stays with what follows it"


def test_the_sentences_name_no_letter() -> None:
    """The page chooses letters that the program leaves free; a sentence cannot follow it."""
    for rule in texts():
        for words in rule.words.values():
            assert not re.findall(r"(?<![A-Za-z0-9'’])(?!a |A |to |of )[A-Za-zα-ωΑ-ΡΤ-Ω](?![A-Za-z0-9'’])", words), (
                words
            )


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (Symbol("a") * (Symbol("b") + 1), "a⊙(b+1)"),
        (-(Symbol("a") + 1), "−(a+1)"),
        ((Symbol("a") - (Symbol("b") - 2)) / 2, "a−(b−2)2"),
        (Symbol("a") ** (Symbol("p") - 1), "ap−1"),
        ((Symbol("a") + 1) ** 2, "(a+1)2"),
        ((Symbol("a") @ Symbol("b")).T, "(a\u2062b)⊤"),
        (call("indicator", Symbol("a") > 0), "[a>0]"),
        (2 - Symbol("a") * -3, "2−a·−3"),
        (call("where", Symbol("m"), Symbol("a"), 0), "{aif\u00a0m0else"),
    ],
)
def test_brackets_stand_where_they_matter(formula: Expr, expected: str) -> None:
    written = mathml(formula, {})
    assert "".join(ET.fromstring(f"<math>{written}</math>").itertext()) == expected


def test_letters_are_escaped() -> None:
    assert mathml(Symbol("a"), {"a": "<"}) == '<mi data-slot="a">&lt;</mi>'
    assert (
        equation("<mi>a</mi>", "<mn>1</mn>") == '<mrow><mi>a</mi><mrow><mo form="infix">=</mo><mn>1</mn></mrow></mrow>'
    )
