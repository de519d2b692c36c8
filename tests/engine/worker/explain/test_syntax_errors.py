"""A program's code is parsed outside the sandbox only after it was parsed inside."""

import ast
import threading
from collections.abc import Callable

import pytest

from engine import Trace
from engine.graph import view
from engine.program import tree as syntax
from engine.program.source import _made

BROKEN = "x = (1,\nfor\n"
LONGEST = 100_000
RUNS = "import torch\nx = torch.ones(2, requires_grad=True)\nfor _ in range(3):\n    x = x * 2\nx.sum().backward()\n"


def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What reaches Python's parser from now on."""
    _made.cache_clear()
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
    seen = parsed(monkeypatch)
    view(made)
    assert seen == [RUNS]


@pytest.mark.parametrize("code", ["(" * 5000, "-" * 90_000 + "1", "x = " + "a." * 40_000 + "b", "\0", "1" * 200_000])
def test_what_python_cannot_parse_gives_no_tree(code: str) -> None:
    with pytest.raises((SyntaxError, ValueError, RecursionError, MemoryError)):
        ast.parse(code)
    assert syntax.parse(code) is None


def test_a_text_is_parsed_up_to_the_longest_the_server_takes() -> None:
    longest = "x = 1  #".ljust(LONGEST, "a")
    tree = syntax.parse(longest)
    assert tree is not None and ast.unparse(tree) == "x = 1"
    assert syntax.parse(longest + "a") is None


PATHOLOGICAL = {
    "brackets": "(" * 50_000 + ")" * 50_000,
    "brackets that close": "x = " + "(" * 199 + "1" + ")" * 199,
    "a sum": "x = " + "+".join("1" * 49_990),
    "powers": "x = " + "**".join("1" * 33_000),
    "signs": "x = " + "-" * 99_000 + "1",
    "attributes": "x = a" + ".a" * 49_000,
    "calls": "x = a" + "()" * 49_000,
    "lambdas": "x = " + "lambda:" * 14_000 + "1",
    "conditions": "x = " + "1 if 1 else " * 8_000 + "1",
    "elifs": "if 1:\n 1\n" + "elif 1:\n 1\n" * 9_000,
    "lines": "1\n" * 50_000,
    "targets": "a=" * 49_000 + "1",
    "holes of one f-string": "f'" + "{1}" * 33_000 + "'",
    "starred arguments": "f(" + "*a," * 33_000 + ")",
    "decorators": "@a\n" * 33_000 + "def f():pass",
    "patterns": "match x:\n case " + "[" * 90 + "a" + "]" * 90 + ":\n  pass\n",
    "openings that never close": "f(**{'a':" * 60,
    "a number": "9" * LONGEST,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PATHOLOGICAL)
def test_what_parsing_gives_is_bounded_by_the_length_of_the_text_on_a_small_stack(name: str) -> None:
    """A stack that were not enough would end the whole test process."""
    code, sizes = PATHOLOGICAL[name], list[int]()

    def parse() -> None:
        tree = syntax.parse(code)
        sizes.append(0 if tree is None else sum(1 for _ in ast.walk(tree)))

    before = threading.stack_size(1 << 20)
    try:
        thread = threading.Thread(target=parse)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert sizes[0] <= 2 * len(code)


@pytest.mark.parametrize("depth", [90, 190, 900, 2_900])
@pytest.mark.parametrize(
    "form", ["({}+1)", "a.b({})", "[{}]", "-{}", "{}.a", "{}[0]", "f(x=lambda: {})", "({} if 1 else 2)"]
)
def test_code_as_deep_as_the_worker_takes_it_gives_a_trace(
    trace: Callable[[str], Trace], form: str, depth: int
) -> None:
    before, after = form.split("{}")
    made = trace(
        "import torch\nx = torch.ones(2) @ torch.ones(3) if 0 else " + before * depth + "q" + after * depth + "\n"
    )
    assert made.failure is not None
    assert made.failure.kind in ("syntax", "exception", "memory")
