"""Whether an edited program mends what a finding says, judged by its run."""

from engine.compare import Comparison, compare
from engine.fixes.proof import proof_of
from engine.fixes.types import Trial, Verdict
from engine.program.edits import applied
from engine.trace import Finding, Program, Trace

_RANK = {"error": 0, "warning": 1, "note": 2}


def fixable(trace: Trace) -> list[int]:
    """The findings that offer a fix, the gravest first."""
    return [at for at, finding in enumerate(trace.findings) if finding.fix]


def edited(trace: Trace, finding: int) -> Program:
    """The program with a finding's fix in it."""
    code = applied(trace.program.code, trace.findings[finding].fix)
    return Program(code=code, seed=trace.program.seed, device=trace.program.device)


def judge(before: Trace, finding: int, after: Trace) -> Trial:
    """What the run of the edited program says of a finding's fix. Linear in the two traces."""
    told = compare(before, after)
    verdict = _verdict(before, finding, after, told)
    if verdict != "mends":
        return Trial(finding=finding, verdict=verdict, run=after.id)
    return Trial(
        finding=finding,
        verdict=verdict,
        run=after.id,
        stops_at=after.failure.span.line if after.failure is not None and after.failure.span is not None else None,
        proof=proof_of(before, before.findings[finding], after, told),
    )


def _verdict(before: Trace, finding: int, after: Trace, told: Comparison) -> Verdict:
    if after.status not in ("ok", "failed"):
        return "not_finished"
    if not _gets_far_enough(before, before.findings[finding], after, told):
        return "stops"
    if finding not in told.findings_here:
        return "remains"
    if _has_new(before, after, told):
        return "new_finding"
    if _lines_lost(before, before.findings[finding], after, told):
        return "lines_lost"
    if _output_lost(before, before.findings[finding], after, told):
        return "output_lost"
    return "mends"


def _gets_far_enough(before: Trace, mended: Finding, after: Trace, told: Comparison) -> bool:
    """Whether it ends where the other did, or later; where the finding is about what stopped it, later."""
    old, new = before.failure, after.failure
    if new is None:
        return True
    if old is None:
        return False
    old_line = old.span.line if old.span is not None else 0
    new_line = _line_before(new.span.line, told) if new.span is not None else 0
    if old.kind == "syntax":
        return new.kind != "syntax" or (new_line or 0) > old_line
    is_stuck = new.kind == "syntax" or len(after.ops) < len(before.ops)
    is_further = new_line != old_line
    return not is_stuck and (is_further or mended.code != old.explanation)


def _has_new(before: Trace, after: Trace, told: Comparison) -> bool:
    """Whether something as grave is wrong as the worst that is gone, at lines that the other run came to."""
    gone = min(_RANK[before.findings[at].severity] for at in told.findings_here)
    unseen = set(before.lines_not_run)
    beyond = after.failure.explanation if after.failure is not None else None
    for at in told.findings_there:
        new = after.findings[at]
        line = _line_before(new.span.line, told) if new.span is not None else None
        is_further_on = before.failure is not None and (new.code == beyond or line in unseen)
        if _RANK[new.severity] <= gone and not is_further_on:
            return True
    return False


def _lines_lost(before: Trace, mended: Finding, after: Trace, told: Comparison) -> bool:
    """Whether statements do not run now that did, beside the one that failed and those that the fix changes."""
    failure = before.failure
    if failure is not None and failure.kind == "syntax":
        return False
    excused = {*before.lines_not_run, *(edit.span.line for edit in mended.fix)}
    if failure is not None and failure.span is not None:
        excused.add(failure.span.line)
    return any((line := _line_before(there, told)) is not None and line not in excused for there in after.lines_not_run)


def _line_before(line: int, told: Comparison) -> int | None:
    """The line of the program as it was that a line of the edited one corresponds to."""
    for same in told.lines:
        if same.there <= line < same.there + same.count:
            return same.here + line - same.there
    return None


def _output_lost(before: Trace, mended: Finding, after: Trace, told: Comparison) -> bool:
    """Whether a line that printed prints nothing now. How often it prints may change: a closure runs less often when
    its gradients are right."""
    now = {_line_before(line, told) for line in _printing(after)}
    edited_lines = {line for edit in mended.fix for line in range(edit.span.line, edit.span.end_line + 1)}
    return not _printing(before) <= now | edited_lines


def _printing(trace: Trace) -> set[int]:
    """The lines that printed."""
    return {told.span.line for told in trace.output if told.stream == "stdout" and told.span is not None}
