"""Derivative rules: node type to forward formula and one gradient formula for each slot.

A rule says in letters what the C++ node computes for real numbers; sums over broadcast axes happen after it, on the
edge. `python -m engine.rules` prints all of them as JSON."""

import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache

import msgspec

from engine.formula import Apply, Expr, Letters, Number, Symbol, call, equation, mathml, symbol
from engine.trace import Record, Saved

g = Symbol("g")  # the gradient that enters
x = Symbol("self")
other = Symbol("other")
y = Symbol("result")
dim = Symbol("dim")
index = Symbol("index")
mask = Symbol("mask")
target = Symbol("target")
weight = Symbol("weight")
bias = Symbol("bias")
n = call("count", x)
_alpha = Symbol("alpha")

UNARY: Letters = {"self": "x", "result": "y"}
BINARY: Letters = {"self": "a", "other": "b", "result": "c"}
LOSS: Letters = {"self": "x", "target": "t", "result": "ℓ", "weight": "w"}
LAYER: Letters = {"input": "x", "weight": "W", "bias": "b", "result": "y"}
GREEK: Letters = {"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "eps": "ε", "negative_slope": "α"}
YAML = "PyTorch 2.13, derivatives.yaml"
MANUAL = "PyTorch 2.13, FunctionsManual.cpp"
ENGINE = "PyTorch 2.13, autograd engine"


class RuleSlot(Record, frozen=True):
    """The gradient for one input."""

    name: str
    """Slot name: `self`, `other`, `weight`."""
    mathml: str
    """The formula in letters."""
    substituted: str
    """The same with `<mi data-slot>` in place of each letter, for the numbers of a node."""


class RuleText(Record, frozen=True):
    """A rule, ready to show."""

    id: str
    """Rule id, as in a node's `rule`."""
    forward_mathml: str
    """What the op computed."""
    slots: tuple[RuleSlot, ...]
    """One for each input that gets a gradient."""
    words: dict[str, str]
    """One plain sentence in `zh` and `en`."""
    source: str
    """Where the rule comes from."""


class Rule:
    """One row of the table; `only` names saved fields and the text they must have for the row to be true."""

    __slots__ = ("en", "forward", "id", "letters", "only", "slots", "source", "types", "zh")

    def __init__(
        self,
        types: str,
        forward: Expr,
        slots: Mapping[str, Expr],
        *,
        zh: str,
        en: str,
        letters: Letters = UNARY,
        source: str = MANUAL,
        variant: str = "",
        only: Mapping[str, str] | None = None,
    ) -> None:
        self.types = tuple(types.split())
        self.id = "_".join(filter(None, (_snake(_BACKWARD.sub("", self.types[0])), variant)))
        self.only = dict(only or {})
        self.forward = forward
        self.slots = dict(slots)
        self.zh = zh
        self.en = en
        self.letters: Letters = {**GREEK, **letters}
        self.source = source


_BACKWARD = re.compile(r"Backward(\d*)")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])")


def _snake(name: str) -> str:
    return _HUMP.sub("_", name).lower()


def f(name: str, *arguments: Expr | float) -> Apply:
    """A function in a formula."""
    return call(name, *arguments)


def holds(condition: Expr) -> Apply:
    """1 where the condition holds, 0 elsewhere."""
    return call("indicator", condition)


_ELEMENTWISE = [
    Rule("AddBackward0", x + other, {"self": g, "other": g}, letters=BINARY, only={"alpha": "1"},
         zh="加法把收到的梯度原样送给两边。", en="Addition hands the gradient on unchanged to both sides."),
    Rule("AddBackward0", x + _alpha * other, {"self": g, "other": _alpha * g}, letters=BINARY, variant="alpha",
         zh="左边原样得到梯度，右边得到 α 倍。",
         en="The left side gets the gradient unchanged, the right side α times it."),
    Rule("AddBackward1", x + other, {"self": g}, letters=BINARY, variant="number", source=YAML,
         zh="加一个数，梯度原样通过。", en="Adding a number passes the gradient unchanged."),
    Rule("SubBackward0", x - other, {"self": g, "other": -g}, letters=BINARY, only={"alpha": "1"},
         zh="减法把梯度原样送给左边，变号后送给右边。",
         en="Subtraction sends the gradient to the left and its negative to the right."),
    Rule("SubBackward0", x - _alpha * other, {"self": g, "other": -_alpha * g}, letters=BINARY, variant="alpha",
         zh="左边原样得到梯度，右边得到 −α 倍。",
         en="The left side gets the gradient unchanged, the right side −α times it."),
    Rule("RsubBackward0 RsubBackward1", other - x, {"self": -g, "other": g}, letters=BINARY,
         zh="这里是 other − self，所以 self 得到变号的梯度。",
         en="This is other − self, so self gets the negative gradient."),
    Rule("MulBackward0 MulBackward1", x * other, {"self": g * other, "other": g * x}, letters=BINARY,
         zh="乘法里每一边的梯度，是收到的梯度乘以另一边的值。",
         en="Each factor's gradient is the incoming gradient times the other factor."),
    Rule("DivBackward0 DivBackward1", x / other, {"self": g / other, "other": -g * x / other**2}, letters=BINARY,
         zh="分子得到 g 除以分母；分母得到 −g·a/b²。",
         en="The numerator gets g over the denominator; the denominator gets −g·a/b²."),
    Rule("NegBackward0", -x, {"self": -g}, source=YAML,
         zh="取负，梯度也取负。", en="Negation negates the gradient."),
    Rule("ReciprocalBackward0", 1 / x, {"self": -g * y**2}, source=YAML,
         zh="1/x 的导数是 −1/x²，也就是 −y²。", en="The derivative of 1/x is −1/x², which is −y²."),
    Rule("PowBackward0", x ** Symbol("exponent"),
         {"self": g * (Symbol("exponent") * x ** (Symbol("exponent") - 1))}, letters={**UNARY, "exponent": "p"},
         zh="幂函数：指数拿下来做系数，指数减一。",
         en="Power rule: the exponent comes down as a factor and drops by one."),
    Rule("PowBackward1", x ** Symbol("exponent"),
         {"self": g * (Symbol("exponent") * x ** (Symbol("exponent") - 1)), "exponent": g * (y * f("log", x))},
         letters={"self": "a", "exponent": "b", "result": "c"}, variant="tensor",
         zh="底数得到 b·a^(b−1)，指数得到 c·ln a。", en="The base gets b·a^(b−1), the exponent gets c·ln a."),
    Rule("Exp2Backward0", Number(2) ** x, {"self": g * (y * f("log", 2))}, source=YAML,
         zh="2 的幂多乘一个 ln 2。", en="Powers of two carry a factor ln 2."),
    Rule("ExpBackward0", f("exp", x), {"self": g * y}, source=YAML,
         zh="指数函数的导数就是它的结果，所以保存的是结果。",
         en="The exponential is its own derivative, so the result is what is saved."),
    Rule("Expm1Backward0", f("exp", x) - 1, {"self": g * (y + 1)}, source=YAML,
         zh="e^x − 1 的导数是 e^x，也就是结果加一。", en="The derivative of e^x − 1 is e^x, the result plus one."),
    Rule("LogBackward0", f("log", x), {"self": g / x}, source=YAML,
         zh="对数的导数是 1/x：x 越接近 0，梯度越大。",
         en="The derivative of the logarithm is 1/x: the closer x is to 0, the larger the gradient."),
    Rule("Log1PBackward0", f("log", 1 + x), {"self": g / (x + 1)}, source=YAML,
         zh="ln(1+x) 的导数是 1/(1+x)。", en="The derivative of ln(1+x) is 1/(1+x)."),
    Rule("Log2Backward0", f("log", x) / f("log", 2), {"self": g / (x * f("log", 2))}, source=YAML,
         zh="以 2 为底的对数多除一个 ln 2。", en="Base 2 divides by ln 2 once more."),
    Rule("SqrtBackward0", f("sqrt", x), {"self": g / (2 * y)}, source=YAML,
         zh="平方根的导数是 1/(2√x)；x 为 0 时是无穷大。",
         en="The derivative of the root is 1/(2√x); at 0 it is infinite."),
    Rule("RsqrtBackward0", 1 / f("sqrt", x), {"self": -0.5 * g * y**3}, source=YAML,
         zh="1/√x 的导数是 −y³/2。", en="The derivative of 1/√x is −y³/2."),
    Rule("SinBackward0", f("sin", x), {"self": g * f("cos", x)}, source=YAML,
         zh="正弦的导数是余弦。", en="The derivative of sine is cosine."),
    Rule("CosBackward0", f("cos", x), {"self": g * -f("sin", x)}, source=YAML,
         zh="余弦的导数是负的正弦。", en="The derivative of cosine is minus sine."),
    Rule("TanBackward0", f("tan", x), {"self": g * (1 + y**2)}, source=YAML,
         zh="正切的导数是 1 + tan²x。", en="The derivative of tangent is 1 + tan²x."),
    Rule("AtanBackward0", f("arctan", x), {"self": g / (x**2 + 1)}, source=YAML,
         zh="反正切的导数是 1/(1+x²)。", en="The derivative of arctangent is 1/(1+x²)."),
    Rule("SinhBackward0", f("sinh", x), {"self": g * f("cosh", x)}, source=YAML,
         zh="双曲正弦的导数是双曲余弦。", en="The derivative of sinh is cosh."),
    Rule("CoshBackward0", f("cosh", x), {"self": g * f("sinh", x)}, source=YAML,
         zh="双曲余弦的导数是双曲正弦。", en="The derivative of cosh is sinh."),
    Rule("ErfBackward0", f("erf", x), {"self": g * (2 / f("sqrt", Symbol("π")) * f("exp", -(x**2)))}, source=YAML,
         zh="误差函数的导数是一条钟形曲线。", en="The derivative of the error function is a bell curve."),
    Rule("AbsBackward0", f("abs", x), {"self": g * f("sign", x)}, source=YAML,
         zh="绝对值按 x 的符号送梯度；在 0 处送 0。",
         en="The absolute value passes the gradient with the sign of x; at 0 it passes 0."),
    Rule("MaximumBackward0", f("max", x, other),
         {"self": g * holds(x > other) + g / 2 * holds(f("eq", x, other)),
          "other": g * holds(other > x) + g / 2 * holds(f("eq", x, other))}, letters=BINARY, source=YAML,
         zh="梯度只给较大的一边；相等时各得一半。", en="The larger side gets the gradient; on a tie each gets half."),
    Rule("MinimumBackward0", f("min", x, other),
         {"self": g * holds(x < other) + g / 2 * holds(f("eq", x, other)),
          "other": g * holds(other < x) + g / 2 * holds(f("eq", x, other))}, letters=BINARY, source=YAML,
         zh="梯度只给较小的一边；相等时各得一半。", en="The smaller side gets the gradient; on a tie each gets half."),
    Rule("ClampBackward1", f("clamp", x, Symbol("min"), Symbol("max")),
         {"self": g * holds(f("and", x >= Symbol("min"), x <= Symbol("max")))},
         zh="范围之内梯度照常通过，被截断的地方是 0。",
         en="Inside the range the gradient passes; where the value was cut it is 0."),
    Rule("ClampMinBackward0", f("max", x, Symbol("min")), {"self": g * holds(x >= Symbol("min"))}, source=YAML,
         zh="被抬到下限的地方梯度是 0。", en="Where the value was raised to the bound the gradient is 0."),
    Rule("ClampMaxBackward0", f("min", x, Symbol("max")), {"self": g * holds(x <= Symbol("max"))}, source=YAML,
         zh="被压到上限的地方梯度是 0。", en="Where the value was lowered to the bound the gradient is 0."),
    Rule("WhereBackward0", f("where", Symbol("condition"), x, other),
         {"self": f("where", Symbol("condition"), g, 0), "other": f("where", Symbol("condition"), 0, g)},
         letters={**BINARY, "condition": "m"}, source=YAML,
         zh="每个元素的梯度只给被选中的那一边。", en="Each element's gradient goes only to the side that was chosen."),
    Rule("MaskedFillBackward0", f("where", mask, Symbol("value"), x), {"self": f("where", mask, 0, g)},
         letters={**UNARY, "mask": "m", "value": "v"}, source=YAML,
         zh="被填掉的位置没有梯度，其余照常。", en="Positions that were filled get no gradient, the others pass."),
    Rule("LerpBackward0", x + weight * (Symbol("end") - x),
         {"self": g * (1 - weight), "end": g * weight}, letters={**UNARY, "end": "e", "weight": "w"},
         zh="线性插值按权重把梯度分给两端。", en="Interpolation splits the gradient between the ends by weight."),
    Rule("AddcmulBackward0", x + Symbol("value") * (Symbol("tensor1") * Symbol("tensor2")),
         {"self": g, "tensor1": g * (Symbol("tensor2") * Symbol("value")),
          "tensor2": g * (Symbol("tensor1") * Symbol("value"))},
         letters={**UNARY, "tensor1": "a", "tensor2": "b", "value": "v"},
         zh="加上一个乘积：和传原样，乘积按乘法规则。",
         en="A sum with a product: the sum passes on, the product follows the product rule."),
]  # fmt: skip

_ACTIVATIONS = [
    Rule("ReluBackward0", f("max", x, 0), {"self": g * holds(y > 0)},
         zh="结果大于 0 的地方梯度通过，其余是 0（在 0 处也取 0）。",
         en="Where the result is above 0 the gradient passes, elsewhere it is 0 (also at 0)."),
    Rule("LeakyReluBackward0", f("where", x > 0, x, Symbol("negative_slope") * x),
         {"self": f("where", x > 0, g, Symbol("negative_slope") * g)},
         zh="负的一侧不归零，而是乘上一个小斜率。",
         en="The negative side is not cut off but multiplied by a small slope."),
    Rule("EluBackward0", f("where", x > 0, x, Symbol("alpha") * (f("exp", x) - 1)),
         {"self": f("where", x > 0, g, g * (Symbol("alpha") * f("exp", x)))},
         zh="正的一侧原样通过，负的一侧按 α·e^x 衰减。",
         en="The positive side passes, the negative side decays as α·e^x."),
    Rule("SigmoidBackward0", f("sigmoid", x), {"self": g * (y * (1 - y))},
         zh="σ 的导数是 y(1−y)，最大 0.25，两端趋于 0。",
         en="The derivative of σ is y(1−y): at most 0.25, near 0 at both ends."),
    Rule("TanhBackward0", f("tanh", x), {"self": g * (1 - y**2)},
         zh="tanh 的导数是 1−y²，在 0 处最大为 1，两端趋于 0。",
         en="The derivative of tanh is 1−y²: 1 at zero, near 0 at both ends."),
    Rule("LogSigmoidBackward0", f("log", f("sigmoid", x)), {"self": g * f("sigmoid", -x)},
         zh="ln σ(x) 的导数是 σ(−x)。", en="The derivative of ln σ(x) is σ(−x)."),
    Rule("SoftplusBackward0", f("log", 1 + f("exp", Symbol("beta") * x)) / Symbol("beta"),
         {"self": g * f("sigmoid", Symbol("beta") * x)},
         zh="softplus 的导数就是 σ(βx)。", en="The derivative of softplus is σ(βx)."),
    Rule("SiluBackward0", x * f("sigmoid", x),
         {"self": g * (f("sigmoid", x) * (1 + x * (1 - f("sigmoid", x))))},
         zh="x·σ(x) 按乘积法则求导。", en="x·σ(x) by the product rule."),
    Rule("GeluBackward0", x * f("normal_cdf", x), {"self": g * (f("normal_cdf", x) + x * f("normal_pdf", x))},
         only={"approximate": "none"},
         zh="x·Φ(x) 按乘积法则：Φ 是正态分布函数，φ 是它的密度。",
         en="x·Φ(x) by the product rule: Φ is the normal distribution, φ its density."),
    Rule("HardtanhBackward0", f("clamp", x, Symbol("min_val"), Symbol("max_val")),
         {"self": g * holds(f("and", x > Symbol("min_val"), x < Symbol("max_val")))},
         letters={**UNARY, "min_val": "min", "max_val": "max"},
         zh="两端平的地方梯度是 0。", en="On the flat ends the gradient is 0."),
    Rule("SoftmaxBackward0 SafeSoftmaxBackward0", f("softmax", x, dim), {"self": y * (g - f("total", g * y, dim))},
         zh="先减去 g 与 y 的加权和，再乘 y：同一组里的元素互相影响。",
         en="Subtract the y-weighted sum of g, then multiply by y: elements of one group affect each other."),
    Rule("LogSoftmaxBackward0", f("log", f("softmax", x, dim)), {"self": g - f("exp", y) * f("total", g, dim)},
         zh="g 减去概率乘以 g 的总和。", en="g minus the probabilities times the sum of g."),
]  # fmt: skip

_REDUCTIONS = [
    Rule("SumBackward0", f("total", x), {"self": g * f("ones", x)}, source=YAML,
         zh="求和把同一个梯度送给每个元素。", en="The sum sends the same gradient to every element."),
    Rule("SumBackward1", f("total", x, dim), {"self": f("expand", g, dim)}, variant="dim",
         zh="沿求和的轴，把同一个梯度复制给每个元素。",
         en="Along the summed axis every element gets the same gradient."),
    Rule("MeanBackward0", f("total", x) / n, {"self": g / n * f("ones", x)}, source=YAML,
         zh="平均把梯度平分：每个元素得到 g/n。", en="The mean splits the gradient evenly: each element gets g/n."),
    Rule("MeanBackward1", f("mean", x, dim), {"self": f("expand", g, dim) / f("size", x, dim)}, variant="dim",
         zh="沿平均的轴平分梯度。", en="Along the averaged axis the gradient is split evenly."),
    Rule("ProdBackward0", f("prod", x), {"self": g * y / x},
         zh="每个元素得到其余元素的乘积乘 g。", en="Each element gets g times the product of all the others."),
    Rule("CumsumBackward0", f("cumsum", x, dim), {"self": f("reverse", f("cumsum", f("reverse", g, dim), dim), dim)},
         zh="前缀和的梯度是反方向的前缀和。",
         en="The gradient of a running sum is the running sum from the other end."),
    Rule("LogsumexpBackward0", f("log", f("total", f("exp", x), dim)),
         {"self": f("expand", g, dim) * f("exp", x - f("expand", y, dim))},
         zh="按 softmax 的比例分配梯度。", en="The gradient is shared in proportion to the softmax."),
    Rule("VarBackward0", f("var", x, dim),
         {"self": 2 / (f("size", x, dim) - Symbol("correction")) * f("expand", g, dim) * (x - f("mean", x, dim))},
         letters={**UNARY, "correction": "k"},
         zh="离平均值越远的元素，得到的梯度越大。",
         en="The farther an element is from the mean, the larger its gradient."),
    Rule("StdBackward0", f("std", x, dim),
         {"self": f("expand", g / ((f("size", x, dim) - Symbol("correction")) * y), dim) * (x - f("mean", x, dim))},
         letters={**UNARY, "correction": "k"},
         zh="标准差是方差的平方根，再除以 2σ。",
         en="The deviation is the root of the variance, hence another division by 2σ."),
    Rule("MaxBackward1", f("max", x), {"self": g / f("total", holds(f("eq", x, y))) * holds(f("eq", x, y))},
         zh="只有最大的元素得到梯度；并列时平分。", en="Only the largest element gets the gradient; ties share it."),
    Rule("MinBackward1", f("min", x), {"self": g / f("total", holds(f("eq", x, y))) * holds(f("eq", x, y))},
         zh="只有最小的元素得到梯度；并列时平分。", en="Only the smallest element gets the gradient; ties share it."),
    Rule("MaxBackward0", f("max", x, dim), {"self": f("scatter", g, dim, Symbol("indices"))}, source=YAML,
         variant="dim", letters={**UNARY, "indices": "i"},
         zh="沿轴取最大：梯度回到记住的位置，其余是 0。",
         en="Maximum along an axis: the gradient returns to the remembered position, the rest get 0."),
    Rule("MinBackward0", f("min", x, dim), {"self": f("scatter", g, dim, Symbol("indices"))}, source=YAML,
         variant="dim", letters={**UNARY, "indices": "i"},
         zh="沿轴取最小：梯度回到记住的位置，其余是 0。",
         en="Minimum along an axis: the gradient returns to the remembered position, the rest get 0."),
    Rule("LinalgVectorNormBackward0", f("norm2", x), {"self": f("expand", g / y, dim) * x}, only={"ord": "2"},
         zh="二范数的梯度是单位方向 x/‖x‖。", en="The gradient of the 2-norm is the unit direction x/‖x‖."),
]  # fmt: skip

_MATRICES = [
    Rule("MmBackward0", x @ Symbol("mat2"), {"self": g @ Symbol("mat2").T, "mat2": x.T @ g},
         letters={"self": "A", "mat2": "B", "result": "C"},
         zh="矩阵乘法：左边得到 g·Bᵀ，右边得到 Aᵀ·g。", en="Matrix product: the left gets g·Bᵀ, the right gets Aᵀ·g."),
    Rule("BmmBackward0", x @ Symbol("mat2"), {"self": g @ Symbol("mat2").T, "mat2": x.T @ g},
         letters={"self": "A", "mat2": "B", "result": "C"}, source=YAML,
         zh="成批的矩阵乘法，每一批各按矩阵乘法求导。", en="A batch of matrix products, each differentiated as one."),
    Rule("AddmmBackward0", x + Symbol("mat1") @ Symbol("mat2"),
         {"self": g, "mat1": g @ Symbol("mat2").T, "mat2": Symbol("mat1").T @ g},
         letters={"self": "b", "mat1": "X", "mat2": "W", "result": "Y"},
         zh="线性层 X·W + b：X 得到 g·Wᵀ，W 得到 Xᵀ·g，b 得到 g（再沿批求和）。",
         en="A linear layer X·W + b: X gets g·Wᵀ, W gets Xᵀ·g, b gets g (then summed over the batch)."),
    Rule("BaddbmmBackward0", x + Symbol("batch1") @ Symbol("batch2"),
         {"self": g, "batch1": g @ Symbol("batch2").T, "batch2": Symbol("batch1").T @ g},
         letters={"self": "b", "batch1": "A", "batch2": "B", "result": "C"}, source=YAML,
         zh="成批的矩阵乘法再相加。", en="A batch of matrix products, added to a third."),
    Rule("MvBackward0", x @ Symbol("vec"), {"self": f("outer", g, Symbol("vec")), "vec": x.T @ g},
         letters={"self": "A", "vec": "v", "result": "y"}, source=YAML,
         zh="矩阵得到 g 与 v 的外积，向量得到 Aᵀ·g。",
         en="The matrix gets the outer product of g and v, the vector gets Aᵀ·g."),
    Rule("DotBackward0", f("total", x * Symbol("tensor")), {"self": g * Symbol("tensor"), "tensor": g * x},
         letters={"self": "a", "tensor": "b", "result": "c"}, source=YAML,
         zh="点积：每一边得到 g 乘以另一边。", en="Dot product: each side gets g times the other."),
    Rule("AddmvBackward0", x + Symbol("mat") @ Symbol("vec"),
         {"self": g, "mat": f("outer", g, Symbol("vec")), "vec": Symbol("mat").T @ g},
         letters={"self": "b", "mat": "A", "vec": "v", "result": "y"}, source=YAML,
         zh="矩阵乘向量再加偏置。", en="Matrix times vector plus bias."),
    Rule("TBackward0", x.T, {"self": g.T}, letters={"self": "A", "result": "B"}, source=YAML,
         zh="转置的梯度转置回来。", en="The gradient of a transpose is transposed back."),
]  # fmt: skip

_SHAPES = [
    Rule("ViewBackward0 ReshapeAliasBackward0 UnsafeViewBackward0", f("reshape", x),
         {"self": f("reshape", g)}, source=YAML,
         zh="只换形状，不换数：梯度换回原来的形状。",
         en="Only the shape changes: the gradient goes back to the old shape."),
    Rule("TransposeBackward0", f("transpose_axes", x, Symbol("dim0"), Symbol("dim1")),
         {"self": f("transpose_axes", g, Symbol("dim0"), Symbol("dim1"))},
         zh="交换同样两条轴，就换回来了。", en="Swapping the same two axes again undoes it."),
    Rule("PermuteBackward0", f("permute", x, Symbol("dims")), {"self": f("unpermute", g, Symbol("dims"))},
         zh="按相反的次序换回各轴。", en="The axes are put back in their order."),
    Rule("ExpandBackward0", f("expand_to", x), {"self": f("sum_to_shape", g)},
         zh="展开的逆过程是沿展开的轴求和。", en="Undoing an expansion is a sum over the expanded axes."),
    Rule("SqueezeBackward0 SqueezeBackward1 SqueezeBackward2", f("squeeze", x), {"self": f("reshape", g)},
         zh="把去掉的长度为 1 的轴补回来。", en="The axes of length 1 are put back."),
    Rule("UnsqueezeBackward0", f("unsqueeze", x, dim), {"self": f("reshape", g)}, source=YAML,
         zh="把加上的轴去掉。", en="The added axis is removed."),
    Rule("SelectBackward0", f("select", x, index), {"self": f("put", g, dim, index)},
         letters={**UNARY, "index": "i"},
         zh="梯度放回取出的位置，其余是 0。",
         en="The gradient is put back where the slice was taken, zeros elsewhere."),
    Rule("SliceBackward0", f("slice", x, Symbol("start"), Symbol("end")),
         {"self": f("put_slice", g, dim, Symbol("start"), Symbol("end"))},
         zh="梯度放回切片的位置，其余是 0。", en="The gradient is put back into the slice, zeros elsewhere."),
    Rule("IndexBackward0", f("index", x, Symbol("indices")), {"self": f("put_add", g, Symbol("indices"))},
         letters={**UNARY, "indices": "i"},
         zh="梯度加回各个被取的位置；取了几次就加几次。",
         en="The gradient is added back at each index; taken twice, added twice."),
    Rule("IndexSelectBackward0", f("index_select", x, dim, index), {"self": f("index_add", g, dim, index)},
         letters={**UNARY, "index": "i"},
         zh="梯度加回被取的那些行。", en="The gradient is added back to the rows that were taken."),
    Rule("IndexAddBackward0", f("index_add", x, dim, index, Symbol("source")),
         {"self": g, "source": f("index_select", g, dim, index)}, letters={**UNARY, "index": "i", "source": "s"},
         zh="原来的值原样得到梯度；加上去的部分得到对应行的梯度。",
         en="The base passes on the gradient; what was added gets the rows it was added to."),
    Rule("IndexPutBackward0", f("index_put", x, Symbol("indices"), Symbol("values")),
         {"self": f("zero_at", g, Symbol("indices")), "values": f("index", g, Symbol("indices"))},
         letters={**UNARY, "indices": "i", "values": "v"},
         zh="被写掉的位置不再有梯度；写进去的值得到那些位置的梯度。",
         en="Positions that were overwritten get no gradient; the values written get theirs."),
    Rule("GatherBackward0", f("gather", x, dim, index), {"self": f("scatter_add", g, dim, index)},
         letters={**UNARY, "index": "i"},
         zh="gather 的反向是 scatter_add。", en="The reverse of gather is scatter_add."),
    Rule("CatBackward0", f("cat", Symbol("tensors"), dim), {"tensors": f("piece", g, dim)},
         letters={**UNARY, "tensors": "xᵢ"},
         zh="拼接的反向是按原来的长度切开。", en="The reverse of concatenation is cutting at the old lengths."),
    Rule("StackBackward0", f("stack", Symbol("tensors"), dim), {"tensors": f("select", g, dim)},
         letters={**UNARY, "tensors": "xᵢ"},
         zh="堆叠的反向是逐个取出。", en="The reverse of stacking is taking one at a time."),
    Rule("SplitBackward0 SplitWithSizesBackward0 UnsafeSplitBackward0", f("split", x, dim), {"self": f("cat", g, dim)},
         zh="切开的反向是拼接；没用到的一段补 0。",
         en="The reverse of splitting is concatenation; unused pieces count as 0."),
    Rule("UnbindBackward0", f("unbind", x, dim), {"self": f("stack", g, dim)},
         zh="逐个取出的反向是堆叠；没用到的补 0。",
         en="The reverse of unbinding is stacking; unused ones count as 0."),
    Rule("RepeatBackward0", f("repeat", x, Symbol("repeats")), {"self": f("sum_repeats", g, Symbol("repeats"))},
         zh="重复几次，梯度就把几份加起来。", en="The gradients of all copies are added up."),
    Rule("FlipBackward0", f("reverse", x, Symbol("dims")), {"self": f("reverse", g, Symbol("dims"))}, source=YAML,
         zh="翻转的反向还是翻转。", en="Flipping again undoes the flip."),
    Rule("TrilBackward0", f("tril", x), {"self": f("tril", g)}, source=YAML,
         zh="被清零的三角没有梯度。", en="The triangle that was cleared gets no gradient."),
    Rule("TriuBackward0", f("triu", x), {"self": f("triu", g)}, source=YAML,
         zh="被清零的三角没有梯度。", en="The triangle that was cleared gets no gradient."),
    Rule("CloneBackward0 AliasBackward0", x, {"self": g}, source=YAML,
         zh="复制一份，梯度原样传回。", en="A copy: the gradient passes unchanged."),
    Rule("ToCopyBackward0 CopyBackwards", f("to", x), {"self": f("to", g)},
         zh="换类型或设备，梯度换回来。", en="A change of type or device: the gradient is changed back."),
    Rule("CopySlices", f("write", x, Symbol("view")), {"self": f("outside", g)}, source=ENGINE,
         zh="在视图上原地写：被写的部分交给那个运算，其余原样传回。",
         en="A write through a view: the written part goes to the op that wrote, the rest passes unchanged."),
]  # fmt: skip


def _loss(name: str, each: Expr, slots: Mapping[str, Expr], zh: str, en: str) -> tuple[Rule, Rule, Rule]:
    """A loss without reduction, as a mean, and as a sum."""
    return (
        Rule(name, each, {slot: g * expr for slot, expr in slots.items()}, zh=zh, en=en, letters=LOSS,
             variant="none", only={"reduction": "0"}),
        Rule(name, f("total", each) / n, {slot: g / n * expr for slot, expr in slots.items()}, letters=LOSS,
             variant="mean", only={"reduction": "1"}, zh=f"{zh}这里取平均，所以除以元素个数 n。",
             en=f"{en} This is the mean, hence the division by n elements."),
        Rule(name, f("total", each), {slot: g * expr for slot, expr in slots.items()}, zh=zh, en=en, letters=LOSS,
             variant="sum", only={"reduction": "2"}),
    )  # fmt: skip


_beta, _delta, _error = Symbol("beta"), Symbol("delta"), x - target
_LOSSES = [
    *_loss("MseLossBackward0", _error**2, {"self": 2 * _error, "target": 2 * (target - x)},
           zh="误差的两倍。", en="Twice the error."),
    *_loss("BinaryCrossEntropyBackward0", -(target * f("log", x) + (1 - target) * f("log", 1 - x)),
           {"self": _error / (x * (1 - x))},
           zh="概率离目标越远、越靠近 0 或 1，梯度越大。",
           en="The farther the probability is from the target and the nearer to 0 or 1, the larger the gradient."),
    *_loss("BinaryCrossEntropyWithLogitsBackward0",
           -(target * f("log", f("sigmoid", x)) + (1 - target) * f("log", f("sigmoid", -x))),
           {"self": f("sigmoid", x) - target},
           zh="预测概率减目标：简单而稳定。", en="Predicted probability minus target: simple and stable."),
    *_loss("SmoothL1LossBackward0",
           f("where", f("abs", _error) < _beta, _error**2 / (2 * _beta), f("abs", _error) - _beta / 2),
           {"self": f("clamp", _error / _beta, -1, 1)},
           zh="误差小时像平方，误差大时梯度封顶在 ±1。",
           en="Quadratic for small errors; for large ones the gradient is capped at ±1."),
    *_loss("HuberLossBackward0",
           f("where", f("abs", _error) <= _delta, _error**2 / 2, _delta * (f("abs", _error) - _delta / 2)),
           {"self": f("clamp", _error, -_delta, _delta)},
           zh="误差的梯度封顶在 ±δ。", en="The error's gradient is capped at ±δ."),
    Rule("NllLossBackward0", -f("total", f("pick", x, target)) / f("rows", x),
         {"self": -g / f("rows", x) * f("one_hot", target)}, letters=LOSS, variant="mean",
         only={"reduction": "1", "weight": "None"},
         zh="只有正确类别的那一格得到梯度 −g/N。", en="Only the cell of the right class gets a gradient, −g/N."),
    Rule("NllLossBackward0", -f("total", f("pick", x, target)), {"self": -g * f("one_hot", target)}, letters=LOSS,
         variant="sum", only={"reduction": "2", "weight": "None"},
         zh="只有正确类别的那一格得到梯度 −g。", en="Only the cell of the right class gets a gradient, −g."),
]  # fmt: skip

_inp = Symbol("input")
_mean, _rstd, _axes = Symbol("result1"), Symbol("result2"), Symbol("axes")
_NORM: Letters = {"input": "x", "weight": "γ", "bias": "β", "result": "y", "result1": "μ", "result2": "r"}
_hat = (_inp - _mean) * _rstd
_LAYERS = [
    Rule("ConvolutionBackward0", f("conv", _inp, weight) + bias,
         {"input": f("conv_transpose", g, weight), "weight": f("correlate", _inp, g), "bias": f("total", g)},
         letters=LAYER, only={"transposed": "False"},
         zh="输入得到 g 与翻转卷积核的卷积；卷积核得到输入与 g 的相关；偏置得到 g 的和。",
         en="The input gets g convolved with the flipped kernel, the kernel the input correlated with g, the bias Σg."),
    Rule("MaxPool2DWithIndicesBackward0", f("max_pool", x), {"self": f("put_add", g, Symbol("result1"))},
         letters={**UNARY, "result1": "argmax"},
         zh="每个窗口里只有最大的那一格得到梯度。", en="In each window only the largest cell gets the gradient."),
    Rule("AvgPool2DBackward0", f("avg_pool", x), {"self": f("spread", g) / Symbol("k²")},
         zh="每个窗口把梯度平分给它的各格。", en="Each window splits its gradient evenly over its cells."),
    Rule("AdaptiveAvgPool2DBackward0", f("avg_pool", x), {"self": f("spread", g) / Symbol("k²")},
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
         zh="只有被查到的行得到梯度；查到几次就加几次。",
         en="Only rows that were looked up get a gradient; looked up twice, added twice."),
    Rule("ScaledDotProductFlashAttentionForCpuBackward0",
         f("softmax", Symbol("query") @ Symbol("key").T / f("sqrt", Symbol("d"))) @ Symbol("value"),
         {"query": f("dS") @ Symbol("key") / f("sqrt", Symbol("d")),
          "key": f("dS").T @ Symbol("query") / f("sqrt", Symbol("d")),
          "value": f("softmax", Symbol("query") @ Symbol("key").T / f("sqrt", Symbol("d"))).T @ g},
         letters={"query": "Q", "key": "K", "value": "V", "result": "Y"},
         zh="V 得到注意力的转置乘 g；Q 和 K 的梯度经过 softmax 的规则（dS）。",
         en="V gets the transposed attention times g; Q and K get theirs through the softmax rule (dS)."),
    Rule("NativeDropoutBackward0", x * mask / (1 - Symbol("p")), {"self": g * mask / (1 - Symbol("p"))},
         letters={**UNARY, "mask": "m"},
         zh="丢掉的元素没有梯度，其余放大同样的倍数。",
         en="Dropped elements get no gradient, the rest are scaled alike."),
    Rule("AccumulateGrad", Symbol("variable"), {"variable": Symbol("grad") + g}, source=ENGINE,
         letters={"variable": "x", "grad": "x.grad"},
         zh="到达的梯度加到 .grad 上；不清零就会一直累加。",
         en="What arrives is added to .grad; without zeroing it keeps adding up."),
]  # fmt: skip

TABLE: tuple[Rule, ...] = (*_ELEMENTWISE, *_ACTIVATIONS, *_REDUCTIONS, *_MATRICES, *_SHAPES, *_LOSSES, *_LAYERS)
_BY_TYPE: dict[str, list[Rule]] = {}
for _rule in TABLE:
    for _type in _rule.types:
        _BY_TYPE.setdefault(_type, []).append(_rule)


def rule_of(node_type: str, saved: Iterable[Saved] = ()) -> str | None:
    """Id of the rule of a node type; None when there is no readable one for what the node saved."""
    rows = _BY_TYPE.get(node_type)
    if rows is None:
        return None
    if len(rows) == 1 and not rows[0].only:
        return rows[0].id
    fields = {one.field: _plain(one) for one in saved}
    for row in rows:
        if all(fields.get(field, "None") == text for field, text in row.only.items()):
            return row.id
    return None


def _plain(saved: Saved) -> str | None:
    """A saved value as a row writes it: no quotes, `2` for `2.0`, `None` for an absent tensor."""
    if saved.tensor is not None:
        return None
    return (saved.text or "None").strip("'\"").removesuffix(".0")


@cache
def texts() -> tuple[RuleText, ...]:
    """All rules, ready to show."""
    return tuple(_text(rule) for rule in TABLE)


def _text(rule: Rule) -> RuleText:
    result = symbol(rule.letters.get("result", "y"))
    return RuleText(
        id=rule.id,
        forward_mathml=equation(result, mathml(rule.forward, rule.letters)),
        slots=tuple(
            RuleSlot(
                name=name,
                mathml=equation(_partial(rule.letters.get(name, name)), mathml(expr, rule.letters)),
                substituted=mathml(expr, rule.letters, slots=True),
            )
            for name, expr in rule.slots.items()
        ),
        words={"zh": rule.zh, "en": rule.en},
        source=rule.source,
    )


def _partial(letter: str) -> str:
    """∂L over ∂ of one input, where L is what backward was called on."""
    return f"<mfrac><mrow><mo>∂</mo><mi>L</mi></mrow><mrow><mo>∂</mo>{symbol(letter)}</mrow></mfrac>"


if __name__ == "__main__":
    sys.stdout.write(msgspec.json.encode(texts()).decode() + "\n")
