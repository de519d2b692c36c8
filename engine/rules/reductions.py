"""Rules of operations that make many elements few."""

from engine.rules.formula import Expr, Symbol
from engine.rules.rule import UNARY, YAML, Rule, dim, f, g, holds, n, x, y

_k = Symbol("correction")
_tied = holds(f("eq", x, f("expand", y, dim)))


def _along(expr: Expr, axes: tuple[Expr, ...]) -> Expr:
    """What a reduction over these axes had one of, for every element; over all of them it is broadcast as it is."""
    return f("expand", expr, *axes) if axes else expr


REDUCTIONS: list[Rule] = [
    Rule("SumBackward0", f("total", x), {"self": g * f("ones", x)}, source=YAML,
         zh="求和把同一个梯度送给每个元素。", en="The sum sends the same gradient to every element."),
    Rule("SumBackward1", f("total", x, dim), {"self": f("expand", g, dim)}, variant="dim",
         zh="沿求和的轴，把同一个梯度复制给每个元素。",
         en="Along the summed axis every element gets the same gradient."),
    Rule("MeanBackward0", f("total", x) / n, {"self": g / n * f("ones", x)}, source=YAML,
         zh="平均把梯度平分给每个元素。", en="The mean splits the gradient evenly over its elements."),
    Rule("MeanBackward1", f("mean", x, dim), {"self": f("expand", g, dim) / f("size", x, dim)}, variant="dim",
         zh="沿平均的轴平分梯度。", en="Along the averaged axis the gradient is split evenly."),
    Rule("ProdBackward0", f("prod", x), {"self": g * f("prod_others", x)},
         zh="每个元素得到梯度乘以其余元素的乘积。",
         en="Each element gets the gradient times the product of all the others."),
    Rule("CumsumBackward0", f("cumsum", x, dim), {"self": f("reverse", f("cumsum", f("reverse", g, dim), dim), dim)},
         zh="前缀和的梯度是反方向的前缀和。",
         en="The gradient of a running sum is the running sum from the other end."),
    Rule("LogsumexpBackward0", f("log", f("total", f("exp", x), dim)),
         {"self": f("expand", g, dim) * f("exp", x - f("expand", y, dim))},
         zh="按 softmax 的比例分配梯度。", en="The gradient is shared in proportion to the softmax."),
    *(
        row
        for variant, axes, k, only in (
            ("whole", (), 1, {"dim": "None", "correction": "None"}),
            ("whole_corrected", (), _k, {"dim": "None"}),
            ("", (dim,), _k, {}),
        )
        for count in [f("size", x, dim) if axes else n]
        for row in (
            Rule("VarBackward0", f("var", x, *axes),
                 {"self": 2 / (count - k) * _along(g, axes) * (x - f("mean", x, *axes))},
                 letters={**UNARY, "correction": "k"}, variant=variant, only=only,
                 zh="离平均值越远的元素，得到的梯度越大。",
                 en="The farther an element is from the mean, the larger its gradient."),
            Rule("StdBackward0", f("std", x, *axes),
                 {"self": _along(g / ((count - k) * y), axes) * (x - f("mean", x, *axes))},
                 letters={**UNARY, "correction": "k"}, variant=variant, only=only,
                 zh="标准差是方差的平方根，再除以 2σ。",
                 en="The deviation is the root of the variance, hence another division by 2σ."),
        )
    ),
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
    *(
        Rule("LinalgVectorNormBackward0", f("norm2", x), {"self": each * x}, variant=variant, only={"ord": "2", **only},
             zh="二范数的梯度是输入的单位方向；输入全是 0 时，PyTorch 送出 0。",
             en="The gradient of the 2-norm is the unit direction of the input; where that is all 0 PyTorch sends 0.")
        for variant, each, only in (("whole", g / y, {"dim": "None"}), ("", f("expand", g / y, dim), {}))
    ),
    *(
        Rule(f"{name.title()}Backward0", f(name[1:], x, dim),
             {"self": f("expand", g, dim) / f("total", _tied, dim) * _tied},
             zh=f"沿轴取最{zh}：只有最{zh}的元素得到梯度；并列时平分。",
             en=f"The {en} along an axis: only that element gets the gradient; ties share it.")
        for name, zh, en in (("amax", "大", "largest"), ("amin", "小", "smallest"))
    ),
    Rule("MedianBackward0", f("median", x), {"self": g / f("total", holds(f("eq", x, y))) * holds(f("eq", x, y))},
         zh="只有中位数那个元素得到梯度；并列时平分。", en="Only the median element gets the gradient; ties share it."),
    Rule("MedianBackward1 KthvalueBackward0 ModeBackward0", f("select", x, Symbol("indices")),
         {"self": f("scatter", g, dim, Symbol("indices"))}, variant="dim", source=YAML,
         letters={**UNARY, "indices": "i"},
         zh="沿轴选出一个：梯度回到记住的位置，其余是 0。",
         en="One element along an axis: the gradient returns to the remembered position, the rest get 0."),
    Rule("SortBackward0 SortBackward1 TopkBackward0", f("gather", x, Symbol("indices")),
         {"self": f("scatter", g, dim, Symbol("indices"))}, source=YAML, letters={**UNARY, "indices": "i"},
         zh="排序只是换位置：每个梯度回到元素原来的地方；没选中的是 0。",
         en="Sorting only moves elements: each gradient goes back to its place; those not taken get 0."),
    Rule("ProdBackward1", f("prod", x, dim), {"self": f("expand", g, dim) * f("prod_others", x, dim)},
         variant="dim",
         zh="沿轴相乘：每个元素得到梯度乘以其余元素的乘积。",
         en="The product along an axis: each element gets the gradient times the product of the others."),
    Rule("CumprodBackward0", f("cumprod", x, dim),
         {"self": f("reverse", f("cumsum", f("reverse", g * y, dim), dim), dim) / x},
         zh="后面的每个前缀积都含有这个元素：各份梯度乘以积，加起来再除以它（元素是 0 时改乘其余的元素）。",
         en="Every later running product contains the element: gradient times product, added up and divided by it. For "
            "an element that is 0 the others are multiplied instead."),
    Rule("NormBackward1", f("norm2", x), {"self": f("expand", g / y, dim) * x}, variant="dim", only={"p": "2"},
         zh="二范数的梯度是输入的单位方向；输入全是 0 时，PyTorch 送出 0。",
         en="The gradient of the 2-norm is the unit direction of the input; where that is all 0 PyTorch sends 0."),
    Rule("TraceBackward0", f("total", f("diagonal", x)), {"self": g * f("identity", x)},
         letters={"self": "A", "result": "s"},
         zh="迹只看对角线：对角线各得到收到的梯度，其余是 0。",
         en="The trace sees the diagonal only: each of its elements gets the incoming gradient, the rest 0."),
]  # fmt: skip
