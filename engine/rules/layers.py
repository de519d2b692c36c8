"""Rules of layers and of the engine's own nodes."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from engine.rules.formula import Expr, Letters, Symbol
from engine.rules.rule import ENGINE, LAYER, UNARY, Rule, bias, f, g, mask, weight, x

_inp = Symbol("input")
_mean, _rstd, _axes = Symbol("result1"), Symbol("result2"), Symbol("axes")
_NORM: Letters = {"input": "x", "weight": "γ", "bias": "β", "result": "y", "result1": "μ", "result2": "rstd"}
_hat = (_inp - _mean) * _rstd
_seen_root = f("sqrt", Symbol("running_var") + Symbol("eps"))
_seen_hat = (_inp - Symbol("running_mean")) / _seen_root

_root = f("sqrt", Symbol("d"))
_scores = Symbol("query") @ Symbol("key").T / _root

_cells = f("size", Symbol("window"))
_divisor = Symbol("divisor_override")

_Scale: TypeAlias = Callable[[Expr], Expr]
_NO_BIAS = {"bias_sym_sizes_opt": "(0,)"}
_NO_AFFINE = {"weight": "None", "bias": "None"}


def _affine(
    hat: Expr, of_input: Callable[[_Scale], Expr], *, keeps_bias: bool = False
) -> Iterator[tuple[str, Expr, dict[str, Expr], dict[str, str]]]:
    """Variant, forward, slots and `only` of a normalisation, with less for weight and bias that it may lack. Of those
    that keep no bias it is known to be absent together with the weight only, as in a module."""
    scaled = {"input": of_input(lambda part: part * weight), "weight": f("total", g * hat)}
    yield "plain", hat, {"input": of_input(lambda part: part)}, _NO_AFFINE
    if keeps_bias:
        yield "unbiased", hat * weight, scaled, {"bias": "None"}
    yield "", hat * weight + bias, {**scaled, "bias": f("total", g)}, {}


def _of_input(scale: _Scale) -> Expr:
    """The gradient for the input of a normalisation whose weight differs within what it is taken over."""
    return _rstd * (scale(g) - f("mean", scale(g), _axes) - _hat * f("mean", scale(g) * _hat, _axes))


_NO_ROW = str(2**64 - 1)
"""What an embedding without a row for padding saves: -1, as an unsigned number."""

LAYERS: list[Rule] = [
    *(
        Rule("ConvolutionBackward0", f("conv", _inp, weight) + bias if slots else f("conv", _inp, weight),
             {"input": f("conv_transpose", g, weight), "weight": f("correlate", _inp, g), **slots},
             letters=LAYER, variant=variant, only={"transposed": "False", **only},
             zh=f"输入得到梯度与卷积核的转置卷积（与翻转后的核做相关）；卷积核得到输入与梯度的相关{zh}。",
             en="The input gets the gradient correlated with the flipped kernel: a transposed convolution. The kernel "
                f"gets input and gradient correlated{en}.")
        for variant, slots, only, zh, en in (
            ("unbiased", {}, _NO_BIAS, "", ""),
            ("", {"bias": f("total", g)}, {}, "；偏置得到梯度的和", ", the bias the sum of the gradient"),
        )
    ),
    Rule("MaxPool2DWithIndicesBackward0 MaxPool3DWithIndicesBackward0 "
         "AdaptiveMaxPool2DBackward0 AdaptiveMaxPool3DBackward0", f("max_pool", x),
         {"self": f("put_add", g, Symbol("result1"))},
         letters={**UNARY, "result1": "argmax"},
         zh="每个窗口里只有最大的那一格得到梯度。", en="In each window only the largest cell gets the gradient."),
    Rule("AvgPool2DBackward0 AvgPool3DBackward0", f("avg_pool", x), {"self": f("spread", g / _cells)},
         only={"divisor_override": "None", "count_include_pad": "True"},
         zh="每个窗口把梯度平分给它的各格。", en="Each window splits its gradient evenly over its cells."),
    Rule("AvgPool2DBackward0 AvgPool3DBackward0", f("avg_pool", x), {"self": f("spread", g / _cells)},
         variant="unpadded", only={"divisor_override": "None"},
         zh="每个窗口把梯度平分给它的各格，填充的格不算在内。",
         en="Each window splits its gradient evenly over its cells; those of the padding do not count."),
    Rule("AvgPool2DBackward0 AvgPool3DBackward0", f("sum_pool", x) / _divisor, {"self": f("spread", g / _divisor)},
         variant="divided", letters={**UNARY, "divisor_override": "d"},
         zh="每个窗口的和除以 divisor_override；它的每一格得到梯度除以同一个数。",
         en="The sum of each window is divided by divisor_override; each of its cells gets the gradient divided by "
            "the same number."),
    Rule("AdaptiveAvgPool2DBackward0 AdaptiveAvgPool3DBackward0", f("avg_pool", x), {"self": f("spread", g / _cells)},
         zh="每个窗口把梯度平分给它的各格。", en="Each window splits its gradient evenly over its cells."),
    *(
        Rule("NativeLayerNormBackward0", forward, slots, variant=variant, only=only,
             letters={**_NORM, "axes": "row"},
             zh="先减去梯度的平均，再减去与归一化值同向的部分：每行梯度之和为 0。",
             en="The gradient's mean and its part along the normalised value are removed: each row then sums to 0.")
        for variant, forward, slots, only in _affine(_hat, _of_input, keeps_bias=True)
    ),
    *(
        Rule("NativeBatchNormBackward0", forward, slots, variant=variant, only={"training": "True", **only},
             letters={**_NORM, "axes": "batch"},
             zh="训练时均值和方差也依赖输入，所以一批样本的梯度互相影响。",
             en="In training mean and variance depend on the input too, so the samples of a batch affect each other.")
        for variant, forward, slots, only in _affine(
            _hat, lambda scale: scale(_rstd) * (g - f("mean", g, _axes) - _hat * f("mean", g * _hat, _axes))
        )
    ),
    Rule("EmbeddingBackward0", f("index", weight, Symbol("indices")), {"weight": f("put_add", g, Symbol("indices"))},
         letters={"weight": "W", "indices": "i", "result": "y"},
         only={"padding_idx": _NO_ROW, "scale_grad_by_freq": "False"},
         zh="只有被查到的行得到梯度；查到几次就加几次。",
         en="Only rows that were looked up get a gradient; looked up twice, added twice."),
    Rule("EmbeddingBackward0", f("index", weight, Symbol("indices")),
         {"weight": f("zero_at", f("put_add", g, Symbol("indices")), Symbol("padding_idx"))}, variant="padding",
         letters={"weight": "W", "indices": "i", "result": "y", "padding_idx": "p"},
         only={"scale_grad_by_freq": "False"},
         zh="被查到的行得到梯度，查到几次就加几次；padding_idx 那一行没有梯度。",
         en="Rows that were looked up get a gradient, looked up twice, added twice; the row of padding_idx gets none."),
    *(
        Rule("ScaledDotProductFlashAttentionForCpuBackward0", weights @ Symbol("value"),
             {"query": f("dS") @ Symbol("key") / _root, "key": f("dS").T @ Symbol("query") / _root,
              "value": weights.T @ g}, variant=variant, only=only,
             letters={"query": "Q", "key": "K", "value": "V", "result": "Y", "mask": "M"},
             zh="value 得到注意力的转置乘以梯度；query 和 key 的梯度经过 softmax 的规则。",
             en="The value gets the transposed attention times the gradient; query and key follow the rule of softmax.")
        for variant, weights, only in (
            ("", f("softmax", _scores), {"scale": "None", "is_causal": "False", "attn_mask": "None"}),
            ("masked", f("softmax", _scores + mask), {"scale": "None"}),
        )
    ),
    Rule("NativeDropoutBackward0", x * mask / (1 - Symbol("p")), {"self": g * mask / (1 - Symbol("p"))},
         letters={**UNARY, "mask": "m"},
         zh="丢掉的元素没有梯度，其余放大同样的倍数。",
         en="Dropped elements get no gradient, the rest are scaled alike."),
    Rule("AccumulateGrad", Symbol("variable"), {"variable": Symbol("grad") + g}, source=ENGINE,
         letters={"variable": "x", "grad": "x.grad"},
         zh="到达的梯度加到 .grad 上；不清零就会一直累加。",
         en="What arrives is added to .grad; without zeroing it keeps adding up."),
    *(
        Rule("NativeGroupNormBackward0", forward, slots, variant=variant, only=only,
             letters={**_NORM, "axes": "group"},
             zh="和 layer norm 一样，只是平均取在每组通道上：每组梯度之和为 0。",
             en="As layer norm, with means over each group of channels: each group then sums to 0.")
        for variant, forward, slots, only in _affine(_hat, _of_input)
    ),
    *(
        Rule("NativeBatchNormBackward0", forward, slots, variant="_".join(filter(None, ("eval", variant))),
             letters={**_NORM, "running_mean": "m", "running_var": "v"}, only={"training": "False", **only},
             zh="评估时均值和方差是存下来的常数，每个元素只乘一个系数。",
             en="In evaluation mean and variance are stored constants: each element has one factor.")
        for variant, forward, slots, only in _affine(_seen_hat, lambda scale: scale(g) / _seen_root)
    ),
    *(
        Rule("ConvolutionBackward0", f("conv_transpose", _inp, weight) + bias if slots else
             f("conv_transpose", _inp, weight),
             {"input": f("conv", g, weight), "weight": f("correlate", g, _inp), **slots},
             letters=LAYER, variant=variant, only={"transposed": "True", **only},
             zh="转置卷积的反向就是普通卷积。", en="The backward of a transposed convolution is a convolution.")
        for variant, slots, only in (
            ("transposed_unbiased", {}, _NO_BIAS), ("transposed", {"bias": f("total", g)}, {}),
        )
    ),
]  # fmt: skip
