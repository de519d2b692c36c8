"""Rules of layers and of the engine's own nodes."""

from engine.rules.formula import Letters, Symbol
from engine.rules.rule import ENGINE, LAYER, UNARY, Rule, bias, f, g, mask, weight, x

_inp = Symbol("input")
_mean, _rstd, _axes = Symbol("result1"), Symbol("result2"), Symbol("axes")
_NORM: Letters = {"input": "x", "weight": "γ", "bias": "β", "result": "y", "result1": "μ", "result2": "r"}
_hat = (_inp - _mean) * _rstd
_seen_mean, _seen_root = Symbol("running_mean"), f("sqrt", Symbol("running_var") + Symbol("eps"))

_root = f("sqrt", Symbol("d"))
_scores = Symbol("query") @ Symbol("key").T / _root

_NO_ROW = str(2**64 - 1)
"""What an embedding without a row for padding saves: -1, as an unsigned number."""

LAYERS: list[Rule] = [
    Rule("ConvolutionBackward0", f("conv", _inp, weight) + bias,
         {"input": f("conv_transpose", g, weight), "weight": f("correlate", _inp, g), "bias": f("total", g)},
         letters=LAYER, only={"transposed": "False"},
         zh="输入得到梯度与卷积核的转置卷积（与翻转后的核做相关）；卷积核得到输入与梯度的相关；偏置得到梯度的和。",
         en="The input gets the gradient correlated with the flipped kernel: a transposed convolution. The kernel gets "
            "input and gradient correlated, the bias the sum of the gradient."),
    Rule("MaxPool2DWithIndicesBackward0 MaxPool3DWithIndicesBackward0 "
         "AdaptiveMaxPool2DBackward0 AdaptiveMaxPool3DBackward0", f("max_pool", x),
         {"self": f("put_add", g, Symbol("result1"))},
         letters={**UNARY, "result1": "argmax"},
         zh="每个窗口里只有最大的那一格得到梯度。", en="In each window only the largest cell gets the gradient."),
    Rule("AvgPool2DBackward0 AvgPool3DBackward0", f("avg_pool", x), {"self": f("spread", g) / Symbol("cells")},
         letters={**UNARY, "cells": "n"}, only={"divisor_override": "None"},
         zh="每个窗口把梯度平分给它的各格。", en="Each window splits its gradient evenly over its cells."),
    Rule("AdaptiveAvgPool2DBackward0 AdaptiveAvgPool3DBackward0", f("avg_pool", x),
         {"self": f("spread", g) / Symbol("cells")}, letters={**UNARY, "cells": "n"},
         zh="每个窗口把梯度平分给它的各格。", en="Each window splits its gradient evenly over its cells."),
    Rule("NativeLayerNormBackward0", _hat * weight + bias,
         {"input": _rstd * (g * weight - f("mean", g * weight, _axes) - _hat * f("mean", g * weight * _hat, _axes)),
          "weight": f("total", g * _hat), "bias": f("total", g)},
         letters={**_NORM, "axes": "row"},
         zh="先减去梯度的平均，再减去与归一化值同向的部分：每行梯度之和为 0。",
         en="The gradient's mean and its part along the normalised value are removed: each row then sums to 0."),
    Rule("NativeBatchNormBackward0", _hat * weight + bias,
         {"input": weight * _rstd * (g - f("mean", g, _axes) - _hat * f("mean", g * _hat, _axes)),
          "weight": f("total", g * _hat), "bias": f("total", g)},
         letters={**_NORM, "axes": "batch"},
         only={"training": "True"},
         zh="训练时均值和方差也依赖输入，所以一批样本的梯度互相影响。",
         en="In training mean and variance depend on the input too, so the samples of a batch affect each other."),
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
    Rule("NativeGroupNormBackward0", _hat * weight + bias,
         {"input": _rstd * (g * weight - f("mean", g * weight, _axes) - _hat * f("mean", g * weight * _hat, _axes)),
          "weight": f("total", g * _hat), "bias": f("total", g)},
         letters={**_NORM, "axes": "group"},
         zh="和 layer norm 一样，只是平均取在每组通道上：每组梯度之和为 0。",
         en="As layer norm, with means over each group of channels: each group then sums to 0."),
    Rule("NativeBatchNormBackward0", (_inp - _seen_mean) / _seen_root * weight + bias,
         {"input": g * weight / _seen_root, "weight": f("total", g * (_inp - _seen_mean) / _seen_root),
          "bias": f("total", g)},
         letters={**_NORM, "running_mean": "m", "running_var": "v"}, variant="eval", only={"training": "False"},
         zh="评估时均值和方差是存下来的常数，每个元素只乘一个系数。",
         en="In evaluation mean and variance are stored constants: each element has one factor."),
    Rule("ConvolutionBackward0", f("conv_transpose", _inp, weight) + bias,
         {"input": f("conv", g, weight), "weight": f("correlate", g, _inp), "bias": f("total", g)},
         letters=LAYER, variant="transposed", only={"transposed": "True"},
         zh="转置卷积的反向就是普通卷积。", en="The backward of a transposed convolution is a convolution."),
]  # fmt: skip
