"""Every diagnosis and explanation has its sentences in both languages, and its parameters fill them."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine import findings
from engine.findings.errors import ENDS, ROWS
from engine.program.names import called
from engine.trace import RunLimits, Trace
from tests.engine.findings.failing import TRIGGERS as FAILING
from tests.engine.findings.programs import HEAD, TRIGGERS
from tests.engine.findings.sentences import check, words
from tests.engine.findings.silent import MISTAKES


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("code", TRIGGERS)
def test_the_sentences_ask_only_for_what_the_finding_says(
    once: Callable[[str], Trace], code: str, language: str
) -> None:
    program = HEAD + TRIGGERS[code][0]
    check(program, next(one for one in once(program).findings if one.code == code), language)


def _codes(call: ast.Call) -> Iterator[str]:
    """The codes that a call which makes a finding may give it."""
    named = [word.value for word in call.keywords if word.arg == "code"] if called(call) == "Finding" else []
    first = call.args[:1] if called(call) in ("finding", "warning") else []
    pending = [*named, *first]
    while pending:
        match pending.pop():
            case ast.Constant(value=str(code)) if code:
                yield code
            case ast.IfExp(body=code, orelse=other):
                pending += [code, other]


@pytest.fixture(scope="module")
def written() -> set[str]:
    """The codes read off the source, so that a finding which lacks something shows before any program has it."""
    calls = (
        node
        for file in Path(findings.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Call)
    )
    return {code for call in calls for code in _codes(call)}


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_code_that_is_written_has_words(written: set[str], language: str) -> None:
    texts = words(language)
    assert len(written) > 200
    assert sorted(code for code in written if not {f"finding.{code}.title", f"explain.{code}"} & texts.keys()) == []


def test_every_code_that_is_written_has_a_program(written: set[str]) -> None:
    apart = {"backward_does_not_fit", "loop_unfinished"}  # of one the program runs with checks, the other's has no end
    assert written - apart <= TRIGGERS.keys() | {case.code for case in MISTAKES} | FAILING.keys()


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_common_error_has_words(language: str) -> None:
    texts = words(language)
    leads_on = {"not_callable", "forbidden", ""}  # to one of several that say more
    assert [row.code for row in ROWS if row.code not in leads_on and f"finding.{row.code}.title" not in texts] == []


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_end_that_is_no_exception_is_explained(language: str) -> None:
    texts = words(language)
    assert all(texts[f"explain.{code}"] for code in ENDS)
    assert all(
        texts[f"limit.{name}"] for name in (*RunLimits.__struct_fields__, "files") if name not in ("ops", "nodes")
    )
