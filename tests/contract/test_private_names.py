"""The worker names what is private to PyTorch and CPython in one file."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.worker.pytorch.internals import ATTRIBUTES

WORKER = Path(__file__).parents[2] / "engine" / "worker"
INTERNALS = WORKER / "pytorch" / "internals.py"
DOCUMENTED = frozenset(("_exit", "_replace", "_fields"))
"""Of `os`, and of named tuples: public in spite of the underscore."""
ASKING = frozenset(("getattr", "hasattr", "setattr", "delattr", "get", "EntryPoint"))
"""Calls whose texts may name an attribute."""


def foreign(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Lines and private names that a file uses and does not make itself."""
    own = set(_made(tree)) | DOCUMENTED | set(ATTRIBUTES)
    for node in ast.walk(tree):
        for name in _named(node):
            if name.startswith("_") and not name.startswith("__") and name != "_" and name not in own:
                yield getattr(node, "lineno", 0), name


def _made(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            yield node.attr
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _named(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Attribute):
        if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")):
            yield node.attr
    elif isinstance(node, ast.ImportFrom):
        if (node.module or "").partition(".")[0] != "engine":
            yield from (node.module or "").split(".")
            yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.Import):
        yield from (part for alias in node.names for part in alias.name.split("."))
    elif isinstance(node, ast.Call):
        function = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
        if function in ASKING:
            yield from (
                word.value for word in node.args if isinstance(word, ast.Constant) and isinstance(word.value, str)
            )
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        yield node.slice.value


def test_only_one_file_names_what_is_private_to_others() -> None:
    found = {
        f"{file.relative_to(WORKER)}:{line} {name}"
        for file in WORKER.rglob("*.py")
        if file != INTERNALS
        for line, name in foreign(ast.parse(file.read_text("utf-8")))
    }
    assert not found, f"give these a name in {INTERNALS.name}, and a canary: {sorted(found)}"


@pytest.mark.parametrize(
    "text",
    [
        "torch._C._get_tracing_state()",
        "from torch.utils._python_dispatch import thing",
        "from torch.utils.checkpoint import _Holder",
        "import torch._dynamo",
        'getattr(node, "_forward_cls", None)',
        'held.get("_forward_hooks")',
        'vars(numpy)["_core"]',
        'EntryPoint(torch.autograd, "_make_grads")',
    ],
)
def test_a_private_name_is_found(text: str) -> None:
    assert list(foreign(ast.parse(text)))


@pytest.mark.parametrize("text", ["os._exit(0)", "self._own", "tensor._version", "def _own(): ...", "x.__dict__"])
def test_the_rest_may_stand(text: str) -> None:
    assert not list(foreign(ast.parse(text)))
