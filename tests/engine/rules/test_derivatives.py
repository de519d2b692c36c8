"""Slots have the names and formulas of PyTorch's own table."""

from pathlib import Path

import pytest
import torch

from engine.rules import derivatives
from engine.rules.derivatives import derivative_of, slot_names
from tests.engine.rules.derivatives import formula_table, lines

OTHER_SOURCES = {"CopyBackwards", "SendRpcBackward", "UndefinedGradBackward"}


def test_the_table_is_what_ships_with_pytorch() -> None:
    assert Path(derivatives.__file__).with_suffix(".txt").read_text(encoding="ascii").splitlines() == lines()


def test_the_table_knows_every_node_class_of_pytorch() -> None:
    classes = {name.removesuffix("_copy") for name in dir(torch._C._functions) if "Backward" in name}
    missing = {name for name in classes - set(formula_table()) if "Foreach" not in name and "Autograd" not in name}
    assert missing == OTHER_SOURCES


@pytest.mark.parametrize(
    ("node_type", "count", "names"),
    [
        ("MulBackward0", 2, ("self", "other")),
        ("AddmmBackward0", 3, ("self", "mat1", "mat2")),
        ("ConvolutionBackward0", 3, ("input", "weight", "bias")),
        ("CatBackward0", 3, ("tensors[0]", "tensors[1]", "tensors[2]")),
        ("ForeachAddBackward1Scalar", 1, ("self",)),
        ("ViewBackward0_copy", 1, ("self",)),
        ("MineBackward", 2, ("", "")),
        ("AccumulateGrad", 0, ()),
    ],
)
def test_slots_have_the_names_of_the_schema(node_type: str, count: int, names: tuple[str, ...]) -> None:
    assert slot_names(node_type, count) == names


def test_the_order_is_that_of_next_functions() -> None:
    bias, x, weight = (torch.rand(2, 2, requires_grad=True) for _ in range(3))
    node = torch.addmm(bias, x, weight).grad_fn
    assert node is not None
    leaves = {"self": bias, "mat1": x, "mat2": weight}
    for (after, _), name in zip(node.next_functions, slot_names("AddmmBackward0", 3), strict=True):
        assert after.variable is leaves[name]  # type: ignore[union-attr]


def test_every_slot_has_its_official_formula() -> None:
    fmod = derivative_of("FmodBackward1")
    assert fmod is not None
    assert [(slot.name, slot.text) for slot in fmod.slots] == [
        ("self", "grad"),
        ("other", '-grad * self.div(other, /*rounding_mode=*/"trunc")'),
    ]
    assert all(text for slots in formula_table().values() for text in slots.values())


@pytest.mark.parametrize("node_type", ["AccumulateGrad", "CopySlices", "MineBackward", ""])
def test_nodes_without_an_official_formula_say_so(node_type: str) -> None:
    assert derivative_of(node_type) is None
