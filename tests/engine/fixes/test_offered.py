"""Every fix that the findings offer is judged good: those of the lessons and of the findings' own programs."""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest

from engine.fixes import edited, fixable, judge
from engine.trace import Trace
from tests.engine.findings.failures import HEAD as FAILING_HEAD
from tests.engine.findings.mistakes import HEAD as SILENT_HEAD
from tests.engine.findings.silent import MISTAKES
from tests.engine.findings.test_failing import ROWS

ROOT = Path(__file__).parents[3]
EACH = 9
"""Of so many programs the quick run takes one."""
REFUSED = {
    "bce_without_sigmoid": {"mends", "new_finding"},
    "backward_without_step": {"mends", "remains"},
}
"""Where more than the fix is wrong with a program, trying it is what keeps it from being offered."""
LESSONS = [file for file in sorted((ROOT / "gallery").glob("*.json")) if '"fix"' in file.read_text("utf-8")]


def offering() -> Iterator[tuple[str, str]]:
    """Programs of findings that have a fix."""
    for at, case in enumerate(MISTAKES):
        if case.mends:
            yield f"{case.code}-{at}", SILENT_HEAD + case.program
    for at, (code, row) in enumerate(ROWS):
        if row.mends:
            yield f"{code}-{at}", FAILING_HEAD + row.program


def sampled() -> list[object]:
    programs = list(offering())
    quick = {name for name, _ in islice(programs, 0, None, EACH)}
    return [
        pytest.param(program, id=name, marks=() if name in quick else (pytest.mark.slow,)) for name, program in programs
    ]


def verdicts(once: Callable[[str], Trace], code: str) -> dict[str, str]:
    """What came of each fix, by the code of its finding."""
    before = once(code)
    return {
        before.findings[at].code: judge(before, at, once(edited(before, at).code)).verdict for at in fixable(before)
    }


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda file: file.stem)
def test_the_fixes_of_lessons_mend(once: Callable[[str], Trace], lesson: Path) -> None:
    assert set(verdicts(once, lesson.with_suffix(".py").read_text("utf-8")).values()) == {"mends"}


@pytest.mark.parametrize("program", sampled())
def test_the_fixes_of_findings_mend(once: Callable[[str], Trace], program: str) -> None:
    found = verdicts(once, program)
    assert found
    for code, verdict in found.items():
        assert verdict in REFUSED.get(code, {"mends"}), code
