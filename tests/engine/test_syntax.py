"""A program's code is parsed outside the sandbox only after it was parsed inside."""

import ast
from collections.abc import Callable

import pytest

from engine import Trace, syntax
from engine.graph import view

BROKEN = "x = (1,\nfor\n"
RUNS = "import torch\nx = torch.ones(2, requires_grad=True)\nfor _ in range(2):\n    x.sum().backward()\n"


def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What reaches Python's parser from now on."""
    syntax.parse.cache_clear()
    seen: list[str] = []
    real = ast.parse

    def watched(code: str) -> ast.Module:
        seen.append(code)
        return real(code)

    monkeypatch.setattr(syntax.ast, "parse", watched)  # type: ignore[attr-defined]
    return seen


def test_code_that_never_ran_is_not_parsed(trace: Callable[[str], Trace], monkeypatch: pytest.MonkeyPatch) -> None:
    made = trace(BROKEN)
    assert made.failure is not None and made.failure.kind == "syntax"
    seen = parsed(monkeypatch)
    view(made)
    assert seen == []


def test_code_that_ran_is(trace: Callable[[str], Trace], monkeypatch: pytest.MonkeyPatch) -> None:
    made = trace(RUNS)
    from engine.graph import source

    source._loops.cache_clear()
    seen = parsed(monkeypatch)
    view(made)
    assert seen == [RUNS]


@pytest.mark.parametrize("code", ["(" * 5000, "-" * 90_000 + "1", "x = " + "a." * 40_000 + "b", "\0", "1" * 200_000])
def test_odd_texts_give_no_tree_or_a_tree(code: str) -> None:
    syntax.parse.cache_clear()
    assert syntax.parse(code) is None or isinstance(syntax.parse(code), ast.Module)
