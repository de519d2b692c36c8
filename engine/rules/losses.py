"""Rules of losses."""

from collections.abc import Mapping

from engine.rules.formula import Expr, Symbol
from engine.rules.rule import LOSS, Rule, f, g, n, target, weight, x

_UNWEIGHTED = {"weight": "None", "pos_weight": "None"}


def _loss(name: str, element: Expr, slots: Mapping[str, Expr], zh: str, en: str) -> tuple[Rule, Rule, Rule]:
    """A loss without reduction, as a mean, and as a sum."""
    return (
        Rule(name, element, {slot: g * expr for slot, expr in slots.items()}, zh=zh, en=en, letters=LOSS,
             variant="none", only={**_UNWEIGHTED, "reduction": "0"}),
        Rule(name, f("total", element) / n, {slot: g / n * expr for slot, expr in slots.items()}, letters=LOSS,
             variant="mean", only={**_UNWEIGHTED, "reduction": "1"}, zh=f"{zh}这里取平均，所以除以元素个数。",
             en=f"{en} This is the mean, hence the division by the number of elements."),
        Rule(name, f("total", element), {slot: g * expr for slot, expr in slots.items()}, zh=zh, en=en, letters=LOSS,
             variant="sum", only={**_UNWEIGHTED, "reduction": "2"}),
    )  # fmt: skip


_counted = Symbol("total_weight")
_beta, _delta, _error = Symbol("beta"), Symbol("delta"), x - target
LOSSES: list[Rule] = [
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
           zh="误差的梯度封顶在 ±delta。", en="The error's gradient is capped at ±delta."),
    Rule("NllLossBackward0", -f("total", f("pick", x, target)) / _counted,
         {"self": -g / _counted * f("one_hot", target)},
         letters={**LOSS, "total_weight": "n"}, variant="mean", only={"reduction": "1", "weight": "None"},
         zh="只有正确类别的那一格得到梯度：变号，再除以参与计算的行数。目标是 ignore_index 的行不算，梯度是 0。",
         en="Only the cell of the right class gets a gradient: negated, over the number of rows that count. Rows whose "
            "target is ignore_index do not count and get 0."),
    Rule("NllLossBackward0", -f("total", weight * f("pick", x, target)) / _counted,
         {"self": -g / _counted * (weight * f("one_hot", target))}, letters={**LOSS, "total_weight": "s"},
         variant="weighted", only={"reduction": "1"},
         zh="只有正确类别的那一格得到梯度：变号，乘上该类的权重，再除以各行权重之和。目标是 ignore_index 的行不算。",
         en="Only the cell of the right class gets a gradient: negated, times the weight of its class, over the sum of "
            "the rows' weights. Rows whose target is ignore_index do not count."),
    Rule("NllLossBackward0", -f("total", f("pick", x, target)), {"self": -g * f("one_hot", target)}, letters=LOSS,
         variant="sum", only={"reduction": "2", "weight": "None"},
         zh="只有正确类别的那一格得到梯度，变号；目标是 ignore_index 的行是 0。",
         en="Only the cell of the right class gets a gradient, negated; rows whose target is ignore_index get 0."),
    Rule("NllLossBackward0", -f("pick", x, target), {"self": -f("expand", g, 1) * f("one_hot", target)}, letters=LOSS,
         variant="none", only={"reduction": "0", "weight": "None"},
         zh="每一行只有正确类别的那一格得到梯度，变号；目标是 ignore_index 的行是 0。",
         en="In each row only the cell of the right class gets a gradient, negated; rows whose target is ignore_index "
            "get 0."),
]  # fmt: skip
