"""Programs that fail get the right finding on the right line, its fix mends them, and near misses get none."""

from collections.abc import Callable
from pathlib import Path
from textwrap import indent

import pytest
from msgspec.structs import replace

from engine.findings import failing as explaining
from engine.findings.errors import ROWS as TABLE
from engine.findings.find import find
from engine.limits import DEFAULT_LIMITS
from engine.local import LocalEngine
from engine.program.edits import applied
from engine.program.tree import parse
from engine.request import RunRequest
from engine.trace import Failure, Finding, Program, Span, Trace
from tests.conftest import TraceOf
from tests.engine.findings import failing
from tests.engine.findings.failing import NEAR_MISSES, TRIGGERS, by_message
from tests.engine.findings.failures import HEAD, Row
from tests.engine.findings.quick import first_quick
from tests.engine.findings.sentences import check


def errors(trace: Trace) -> list[Finding]:
    return [finding for finding in trace.findings if finding.severity == "error"]


def test_what_stopped_a_program_comes_before_notes_of_its_run(trace: TraceOf) -> None:
    program = (
        "import torch\nfrom torch.utils.data import DataLoader\n"
        "data = DataLoader(torch.ones(4, 2), num_workers=2)\n[x.shape for x in data]\nopen('nowhere')\n"
    )
    found = trace(program).findings
    assert [finding.severity for finding in found] == ["error", "note"]


def test_of_the_last_gradient_no_graph_is_asked(trace: TraceOf) -> None:
    program = (
        "x = torch.tensor(2., requires_grad=True)\ny = x ** 4\n"
        "g = torch.autograd.grad(y, x)[0]\nh = torch.autograd.grad(g, x)[0]\nk = torch.autograd.grad(h, x)[0]\n"
    )
    (told,) = trace(HEAD + program).findings
    assert [edit.span.line for edit in told.fix] == [7, 8]
    assert trace(applied(HEAD + program, told.fix)).status == "ok"


def test_of_a_single_sample_only_the_input_is_concerned(trace: TraceOf) -> None:
    told = trace(HEAD + "norm = nn.BatchNorm1d(3)\nx = torch.ones(1, 3)\nnorm(x)\n")
    named = {tensor.id: tensor.names for tensor in told.tensors}
    assert [named[tensor] for tensor in told.findings[0].tensors] == [("x",)]


def marked(code: str) -> int:
    """The line that ends in `#<`; for a line of its own, the one above it."""
    lines = code.split("\n")
    at = next(number for number, line in enumerate(lines, 1) if line.endswith("#<"))
    return at - 1 if lines[at - 1] == "#<" else at


ROWS = [(code, row) for code, rows in TRIGGERS.items() for row in rows]


@pytest.mark.parametrize(("code", "row"), first_quick(ROWS))
def test_the_error_is_explained(once: Callable[[str], Trace], code: str, row: Row) -> None:
    program = HEAD + row.program
    trace = once(program)
    found = errors(trace)
    assert [finding.code for finding in found] == [code]
    (finding,) = found
    assert finding.span is not None
    assert finding.span.line == marked(program)
    assert row.parameters.items() <= finding.parameters.items()
    assert trace.failure is not None
    assert trace.failure.explanation == code
    assert (bool(finding.fix) and not finding.is_experiment) == row.mends
    if row.mends:
        mended = once(applied(program, finding.fix))
        assert mended.failure is None, mended.program.code


@pytest.mark.parametrize(("code", "program"), first_quick(NEAR_MISSES.items()))
def test_the_near_miss_is_not(once: Callable[[str], Trace], code: str, program: str) -> None:
    trace = once(HEAD + program)
    assert code not in [finding.code for finding in trace.findings]


def test_the_programs_stand_in_files_named_like_those_that_explain_them() -> None:
    mine, theirs = (
        {path.stem for path in Path(str(package.__file__)).parent.glob("*.py")} for package in (failing, explaining)
    )
    assert mine - theirs == {"plain", "by_message", "syntax"}


def test_every_error_has_two_programs_and_a_near_miss() -> None:
    told = TRIGGERS.keys() - by_message.TRIGGERS.keys()
    assert [code for code in told if len(TRIGGERS[code]) < 2] == []
    assert told == NEAR_MISSES.keys()


def test_every_rule_is_met() -> None:
    """Codes whose rules only ever lead to more exact ones are left out."""
    assert {row.code for row in TABLE if row.code} - set(TRIGGERS) <= LEADS_ON


LEADS_ON = {"not_callable", "forbidden", "read_only_file"}


@pytest.mark.slow
@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("code", TRIGGERS)
def test_the_sentences_ask_only_for_what_the_findings_say(
    once: Callable[[str], Trace], code: str, language: str
) -> None:
    for row in TRIGGERS[code]:
        (finding,) = errors(once(HEAD + row.program))
        check(HEAD + row.program, finding, language)


HOSTILE = {
    "a message that is no text": "class Odd(Exception):\n    def __str__(self):\n        return 3\nraise Odd()\n",
    "a long message": "raise RuntimeError('[' * 2_000_000)\n",
    "names bound to anything": "class Odd:\n    def __getattr__(self, name):\n        1 / 0\nodd = Odd()\nodd.x @ odd.y\n",
    "a class with its own dir": "class Odd:\n    def __dir__(self):\n        while True: pass\n    __slots__ = ()\nOdd().missing\n",
    "a deep expression": "x = torch.ones(1)\nx.missing(" + "(" * 90 + "1" + ")" * 90 + ")\n",
    "a property with effects": "class Odd:\n    @property\n    def x(self):\n        print('seen')\n        return 1\nodd = Odd()\nodd.x + odd.y\n",
    "wide characters before the error": "名字 = torch.ones(2); 另一个 = 名字 @ torch.ones(3)\n",
    "an error inside a lambda": "f = lambda v: v @ torch.ones(5)\nf(torch.ones(2))\n",
    "an error from a comprehension": "rows = [torch.ones(2)[i] for i in range(3)]\n",
    "an error of an error": "try:\n    torch.ones(2)[5]\nexcept IndexError as error:\n    raise ValueError('mine') from error\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_odd_failures_are_told_without_a_bug(
    once: Callable[[str], Trace], name: str, caplog: pytest.LogCaptureFixture
) -> None:
    trace = once(HEAD + HOSTILE[name])
    assert trace.failure is not None
    assert trace.failure.span is not None
    assert len(errors(trace)) == 1, "there is no error without a sentence"
    assert caplog.text == ""
    printed = "".join(output.text for output in trace.output)
    assert printed.count("seen") <= 1


def test_a_column_counts_characters_not_bytes(once: Callable[[str], Trace]) -> None:
    (finding,) = errors(once(HEAD + "名字 = 1; torch.one(2)\n"))
    assert finding.fix[0].span.column == 8
    assert applied(HEAD + "名字 = 1; torch.one(2)\n", finding.fix).endswith("名字 = 1; torch.ones(2)\n")


def test_where_the_server_keeps_its_libraries_is_not_told(once: Callable[[str], Trace]) -> None:
    failure = once("from torch import quickly_please\n").failure
    assert failure is not None
    assert "(torch/__init__.py)" in failure.message
    assert "site-packages" not in failure.message + failure.traceback


AT_THE_TOP = {"defined_later", "used_to_make_itself", "outside_function"}
"""Of these Python says something else in a function."""


MOVED = {
    code: row
    for code in TRIGGERS.keys() - AT_THE_TOP
    for row in TRIGGERS[code][::-1]
    if parse(row.program) is not None and "import *" not in row.program
}
"""The first program of each code that can stand in a function."""


@pytest.mark.slow
@pytest.mark.parametrize("code", sorted(MOVED))
def test_it_is_explained_in_a_function_too(engine: LocalEngine, code: str) -> None:
    program = f"{HEAD}def main():\n{indent(MOVED[code].program, '    ')}\nmain()\n"
    found = errors(engine.run(RunRequest(program=Program(code=program))))
    assert (code, marked(program)) in [
        (finding.code, finding.span.line) for finding in found if finding.span is not None
    ]


LOOPS = (
    "def go():\n    gap = 2\n    while gap > 1:\n        pass\ngo()\n",
    "gap = torch.tensor(2.)\nwhile gap > 1:\n    gap = gap + 1\n",
)


@pytest.mark.slow
@pytest.mark.parametrize("program", LOOPS)
def test_a_loop_without_end_is_told_by_its_condition(engine: LocalEngine, program: str) -> None:
    for _ in range(3):  # on a busy machine a stopped worker may not come to say where it was: nothing is told then
        trace = engine.run(RunRequest(program=Program(code=HEAD + program), limits=replace(DEFAULT_LIMITS, wall_s=1)))
        if trace.failure is not None and trace.failure.span is not None:
            break
    assert [finding.code for finding in errors(trace)] == ["loop_unfinished"], trace.failure


@pytest.mark.parametrize("span", [Span(3, 4, 0, 8), Span(3, 3, 6, 14), Span(4, 4, 4, 8), Span(4, 4, 4, 4)])
def test_a_loop_is_told_wherever_in_it_the_program_was(once: Callable[[str], Trace], span: Span) -> None:
    trace = once("import torch\ngap = torch.tensor(2.)\nwhile gap < 1:\n    pass\n")
    stopped = Failure("limit", "wall_s", "time limit of 2 s reached", span=span, limit="wall_s")
    assert [finding.code for finding in find(replace(trace, failure=stopped))] == ["loop_unfinished"]
