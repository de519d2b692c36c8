"""Slots have the names that PyTorch's own formulas give them."""

from pathlib import Path

import pytest
import torch

from engine import slots
from engine.slots import slot_names
from tests.engine.derivatives import slot_table

OTHER_SOURCES = {"CopyBackwards", "SendRpcBackward", "UndefinedGradBackward"}


def test_the_table_is_what_ships_with_pytorch() -> None:
    written = Path(slots.__file__).with_suffix(".txt").read_text(encoding="ascii").splitlines()
    assert written == [f"{node} {' '.join(names)}" for node, names in sorted(slot_table().items())]


def test_the_table_knows_every_node_class_of_pytorch() -> None:
    classes = {name.removesuffix("_copy") for name in dir(torch._C._functions) if "Backward" in name}
    missing = {name for name in classes - set(slot_table()) if "Foreach" not in name and "Autograd" not in name}
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
