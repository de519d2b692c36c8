"""Slots of every node type with their formulas, read from those that ship with PyTorch.

`python -m tests.engine.rules.derivatives > engine/rules/derivatives.txt` renews the table after an upgrade."""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

NAME = re.compile(r"- name: +(\w+)(?:\.\w+)?\((.*)\)\s*->")
KEY = re.compile(r"\s+([\w, ]+):\s*(.*)")


def formulas() -> Path:
    """Where PyTorch keeps them."""
    found = find_spec("torchgen")
    assert found is not None and found.origin is not None
    return Path(found.origin).parent / "packaged" / "autograd" / "derivatives.yaml"


def formula_table() -> dict[str, dict[str, str]]:
    """Node type to the formula of each slot, in order."""
    table: dict[str, dict[str, str]] = {}
    numbers: Counter[str] = Counter()
    for name, schema, keys in _entries():
        slots = {argument: keys[argument] for argument in _arguments(schema) if argument in keys}
        if not slots:
            continue
        node = (_camel(name) + "Backward").replace("ForwardBackward", "Backward")
        table.setdefault(f"{node}{numbers[node]}", slots)
        numbers[node] += 1
    return table


def lines() -> list[str]:
    """The table as it is kept: a node type, then name and formula of each slot, separated by tabs."""
    return [
        "\t".join([node, *(f"{name}={formula}" for name, formula in slots.items())])
        for node, slots in sorted(formula_table().items())
    ]


def _entries() -> Iterator[tuple[str, str, dict[str, str]]]:
    name, schema = "", ""
    keys: dict[str, str] = {}
    for line in [*formulas().read_text().splitlines(), "- name: end() ->"]:
        head = NAME.match(line)
        if head is not None:
            if name:
                yield name, schema, keys
            name, schema, keys = head[1], head[2], {}
            continue
        key = KEY.match(line)
        if key is not None and not line.lstrip().startswith("#") and key[2] != "non_differentiable":
            keys.update((part.strip(), _unquoted(key[2])) for part in key[1].split(","))


def _unquoted(formula: str) -> str:
    return " ".join(formula.partition("  #")[0].strip().strip('"').split())


def _arguments(schema: str) -> list[str]:
    depth, start, parts = 0, 0, []
    for at, letter in enumerate(schema):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append(schema[start:at])
            start = at + 1
    return [part.split("=")[0].split()[-1] for part in [*parts, schema[start:]] if "Tensor" in part]


def _camel(name: str) -> str:
    return re.sub(r"(?:^|_|(?<=\d))([a-z])", lambda match: match[1].upper(), name).replace("_", "")


if __name__ == "__main__":
    sys.stdout.write("\n".join(lines()) + "\n")
