"""Jacobians, against `torch.autograd.functional.jacobian` and against the passes they were made in."""

import math
from collections.abc import Sequence

import pytest
import torch

from engine import run
from engine.laws import broken
from engine.trace import Jacobian, Node, Trace

Matrix = list[list[float]]


def _checked(*lines: str) -> Trace:
    trace = run("\n".join(("import torch", *lines)) + "\n", checks=("jacobian",))
    assert broken(trace) == []
    return trace


def _matrix(jacobian: Jacobian) -> Matrix:
    values = [float(value) for value in jacobian.values]
    return [values[row * jacobian.columns : (row + 1) * jacobian.columns] for row in range(jacobian.rows)]


def _product(left: Matrix, right: Matrix) -> Matrix:
    return [
        [math.fsum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*right, strict=True)]
        for row in left
    ]


def _sum(matrices: Sequence[Matrix]) -> Matrix:
    return [[math.fsum(values) for values in zip(*rows, strict=True)] for rows in zip(*matrices, strict=True)]


PROGRAMS = {
    "elementwise": ("y = x.sin() * x", "y.backward(torch.ones_like(y))"),
    "softmax": ("y = torch.softmax(x, 0)", "y.backward(torch.tensor([1., 0., 2.]))"),
    "matrix": ("y = torch.arange(6.).reshape(2, 3) @ x", "y.sum().backward()", "y2 = y * 1"),
    "diamond": ("h = x.exp()", "y = h * h.sum() + x", "y.backward(torch.ones(3))"),
    "broadcast": ("y = (x + torch.ones(2, 3) * x.sum()).pow(2)", "y.backward(torch.ones(2, 3))"),
}
FUNCTIONS = {
    "elementwise": lambda x: x.sin() * x,
    "softmax": lambda x: torch.softmax(x, 0),
    "matrix": lambda x: (torch.arange(6.0).reshape(2, 3) @ x).sum(),
    "diamond": lambda x: x.exp() * x.exp().sum() + x,
    "broadcast": lambda x: (x + torch.ones(2, 3) * x.sum()).pow(2),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_pytorchs_own(name: str) -> None:
    trace = _checked("x = torch.tensor([1.5, -0.5, 2.0], requires_grad=True)", *PROGRAMS[name])
    (one,) = (jacobian for jacobian in trace.jacobians if jacobian.node is None)
    wanted = torch.autograd.functional.jacobian(FUNCTIONS[name], torch.tensor([1.5, -0.5, 2.0]))  # type: ignore[no-untyped-call]
    assert torch.allclose(torch.tensor(_matrix(one)), wanted.reshape(-1, 3))
    assert (one.rows_checked, one.largest_error) == (one.rows, 0.0)


def _paths(trace: Trace, root: str) -> Matrix:
    """Products of the nodes' own Jacobians along every path from a root to its leaf, summed."""
    nodes = {node.id: node for node in trace.nodes}
    local = {
        (jacobian.node, jacobian.slot): _matrix(jacobian) for jacobian in trace.jacobians if jacobian.node is not None
    }

    def below(node: Node) -> Matrix | None:
        found = []
        for slot, edge in enumerate(node.edges):
            if edge.to is None:
                continue
            step = local[node.id, slot]
            further = below(nodes[edge.to])
            found.append(step if further is None else _product(step, further))
        return _sum(found) if found else None

    whole = below(nodes[root])
    assert whole is not None
    return whole


@pytest.mark.parametrize("name", ["elementwise", "softmax", "diamond", "broadcast"])
def test_products_along_the_paths_are_the_vjp(name: str) -> None:
    trace = _checked("x = torch.tensor([1.5, -0.5, 2.0], requires_grad=True)", *PROGRAMS[name])
    (one,) = trace.passes
    (root,) = one.roots
    (whole,) = (jacobian for jacobian in trace.jacobians if jacobian.node is None)
    assert root.node is not None
    product = _paths(trace, root.node)
    assert torch.allclose(torch.tensor(product), torch.tensor(_matrix(whole)), rtol=1e-5)
    tensors = {tensor.id: tensor for tensor in trace.tensors}
    seed = [float(value) for value in tensors[root.seed or ""].data or ()]
    ((delta,),) = ([accumulation.delta for accumulation in one.accumulations],)
    given = [float(value) for value in tensors[delta or ""].data or ()]
    (vjp,) = _product([seed], product)
    assert torch.allclose(torch.tensor(vjp), torch.tensor(given), rtol=1e-5)


def test_a_custom_function_has_its_own_jacobian_as_its_backward_has_it() -> None:
    trace = _checked(
        "class Twice(torch.autograd.Function):",
        "    @staticmethod",
        "    def forward(ctx, x): return x * 2",
        "    @staticmethod",
        "    def backward(ctx, g): return g * 3",
        "x = torch.ones(2, requires_grad=True)",
        "Twice.apply(x).sum().backward()",
    )
    custom = next(node.id for node in trace.nodes if node.custom)
    assert _matrix(next(jacobian for jacobian in trace.jacobians if jacobian.node == custom)) == [
        [3.0, 0.0],
        [0.0, 3.0],
    ]


@pytest.mark.parametrize(
    "lines",
    [
        ("x = torch.ones(65, requires_grad=True)", "x.sum().backward()"),
        ("x = torch.ones(2, dtype=torch.complex64, requires_grad=True)", "x.abs().sum().backward()"),
        ("x = torch.zeros(0, requires_grad=True)", "x.sum().backward()"),
    ],
)
def test_what_is_too_large_or_has_none_is_left_out(lines: tuple[str, ...]) -> None:
    trace = _checked(*lines)
    assert [jacobian for jacobian in trace.jacobians if jacobian.node is None] == []


def test_a_leaf_that_a_root_does_not_use_has_zeros() -> None:
    trace = _checked(
        "x = torch.ones(2, requires_grad=True)", "w = torch.ones(2, requires_grad=True)", "a, b = (x * 2).sum(), (w * 3).sum()",
        "torch.autograd.backward([a, b])",
    )  # fmt: skip
    full = [_matrix(jacobian) for jacobian in trace.jacobians if jacobian.node is None]
    assert full == [[[2.0, 2.0]], [[0.0, 0.0]], [[0.0, 0.0]], [[3.0, 3.0]]]
