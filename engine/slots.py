"""Names of the slots of a node: the op's differentiable inputs in the order of its schema, from PyTorch's formulas."""

import re
from functools import cache
from pathlib import Path

LISTS = frozenset({"tensors"})  # one slot for each tensor of the list
_FOREACH = re.compile(r"Foreach(\w+?Backward\d+)\w*")


def slot_names(node_type: str, slots: int) -> tuple[str, ...]:
    """A name for each slot; empty strings when the node type is not in PyTorch's table or has other slots."""
    names = _table().get(_FOREACH.sub(r"\1", node_type.removesuffix("_copy")), ())
    if len(names) == 1 and names[0] in LISTS:
        return tuple(f"{names[0]}[{slot}]" for slot in range(slots))
    return names if len(names) == slots else ("",) * slots


@cache
def _table() -> dict[str, tuple[str, ...]]:
    lines = Path(__file__).with_suffix(".txt").read_text(encoding="ascii").splitlines()
    return {words[0]: tuple(words[1:]) for words in map(str.split, lines)}
