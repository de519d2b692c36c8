"""Rules of linear algebra."""

from engine.rules.formula import Symbol
from engine.rules.rule import YAML, Rule, f, g, x, y

_A = Symbol("A")

MATRICES: list[Rule] = [
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
    Rule("MvBackward0", x @ Symbol("vec"), {"self": f("outer", g, Symbol("vec")), "vec": x.T @ g},
         letters={"self": "A", "vec": "v", "result": "y"}, source=YAML,
         zh="矩阵得到 g 与 v 的外积，向量得到 Aᵀ·g。",
         en="The matrix gets the outer product of g and v, the vector gets Aᵀ·g."),
    Rule("DotBackward0", f("total", x * Symbol("tensor")), {"self": g * Symbol("tensor"), "tensor": g * x},
         letters={"self": "a", "tensor": "b", "result": "c"}, source=YAML,
         zh="点积：每一边得到 g 乘以另一边。", en="Dot product: each side gets g times the other."),
    Rule("TBackward0", x.T, {"self": g.T}, letters={"self": "A", "result": "B"}, source=YAML,
         zh="转置的梯度转置回来。", en="The gradient of a transpose is transposed back."),
    Rule("LinalgInvExBackward0", f("inverse", _A), {"A": -(Symbol("inverse").T @ g @ Symbol("inverse").T)},
         letters={"A": "A", "inverse": "Y", "result": "Y"}, source=YAML,
         zh="逆矩阵的梯度两边各乘一个 Yᵀ，再变号。", en="The inverse puts Yᵀ on both sides of g, with a minus."),
    Rule("LinalgDetBackward0", f("det", _A), {"A": g * y * f("inverse", _A).T}, letters={"A": "A", "result": "d"},
         zh="行列式的梯度是 d·A⁻ᵀ（伴随矩阵的转置）。",
         en="The gradient of the determinant is d·A⁻ᵀ, the transposed adjugate."),
]  # fmt: skip
