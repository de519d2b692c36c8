"""Rules of linear algebra."""

from engine.rules.formula import Symbol
from engine.rules.rule import YAML, Rule, f, g, x, y

_A = Symbol("A")

MATRICES: list[Rule] = [
    Rule("MmBackward0", x @ Symbol("mat2"), {"self": g @ Symbol("mat2").T, "mat2": x.T @ g},
         letters={"self": "A", "mat2": "B", "result": "C"},
         zh="矩阵乘法：左边得到梯度乘以右边的转置，右边得到左边的转置乘以梯度。",
         en="Matrix product: each side gets the gradient times the other side, transposed."),
    Rule("BmmBackward0", x @ Symbol("mat2"), {"self": g @ Symbol("mat2").T, "mat2": x.T @ g},
         letters={"self": "A", "mat2": "B", "result": "C"}, source=YAML,
         zh="成批的矩阵乘法，每一批各按矩阵乘法求导。", en="A batch of matrix products, each differentiated as one."),
    Rule("AddmmBackward0", x + Symbol("mat1") @ Symbol("mat2"),
         {"self": g, "mat1": g @ Symbol("mat2").T, "mat2": Symbol("mat1").T @ g},
         letters={"self": "b", "mat1": "X", "mat2": "W", "result": "Y"}, only={"alpha": "1", "beta": "1"},
         zh="输入乘矩阵，加偏置：输入得到梯度乘以矩阵的转置，矩阵得到输入的转置乘以梯度"
            "（`nn.Linear` 的 `weight` 存的是这个矩阵的转置）；偏置得到梯度，被广播过就沿批次求和。",
         en="The input times a matrix, plus a bias: the input gets the gradient times the matrix transposed, the "
            "matrix gets the input transposed times the gradient (the `weight` of `nn.Linear` is that matrix "
            "transposed); the bias gets the gradient, summed over the rows it was added to."),
    Rule("MvBackward0", x @ Symbol("vec"), {"self": f("outer", g, Symbol("vec")), "vec": x.T @ g},
         letters={"self": "A", "vec": "v", "result": "y"}, source=YAML,
         zh="矩阵得到梯度与向量的外积，向量得到矩阵的转置乘以梯度。",
         en="The matrix gets the outer product of gradient and vector, the vector the transposed matrix times it."),
    Rule("DotBackward0", f("total", x * Symbol("tensor")), {"self": g * Symbol("tensor"), "tensor": g * x},
         letters={"self": "a", "tensor": "b", "result": "c"}, source=YAML,
         zh="点积：每一边得到梯度乘以另一边。", en="Dot product: each side gets the gradient times the other."),
    Rule("TBackward0 TBackward1", x.T, {"self": g.T}, letters={"self": "A", "result": "B"}, source=YAML,
         zh="转置的梯度转置回来。", en="The gradient of a transpose is transposed back."),
    Rule("LinalgInvExBackward0", f("inverse", _A), {"A": -(y.T @ g @ y.T)},
         letters={"A": "A", "result": "Y"}, source=YAML,
         zh="逆矩阵的梯度：两边各乘逆矩阵的转置，再变号。",
         en="The inverse puts its transpose on both sides of the gradient, with a minus."),
    Rule("LinalgDetBackward0", f("det", _A), {"A": g * y * f("inverse", _A).T}, letters={"A": "A", "result": "d"},
         zh="行列式的梯度是行列式乘以逆矩阵的转置（伴随矩阵的转置）；矩阵不可逆时，PyTorch 送出 0。",
         en="The gradient of the determinant is it times the transposed inverse: the transposed adjugate. Where "
            "there is no inverse PyTorch sends 0."),
]  # fmt: skip
