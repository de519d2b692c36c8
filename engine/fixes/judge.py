"""Whether an edited program mends what a finding says, judged by its run."""

from engine.compare import Comparison, compare
from engine.fixes.proof import proof_of
from engine.fixes.symptoms import gradient_lost, graph_grows, nothing_better, stays_without_gradient
from engine.fixes.types import Shift, Trial, Verdict
from engine.program.edits import applied
from engine.trace import Certainty, Finding, Program, Trace

_RANK = {"error": 0, "warning": 1, "note": 2}
_NOT_JUDGED = ("not_finished", "too_long")
_CUTS = ("cut_", "leaf_recreated", "rebound_without_graph")
"""How codes begin that tell of a gradient cut off: no cure for anything."""
_OFTEN_MEANT = ("sample_without_gradient", "cut_by_detach")
"""Codes of what right programs do as well: that the finding is gone proves nothing."""


def fixable(trace: Trace) -> list[int]:
    """The findings with edits to try, the gravest first."""
    return [at for at, finding in enumerate(trace.findings) if finding.fix]


def edited(trace: Trace, finding: int) -> Program:
    """The program with a finding's fix in it."""
    code = applied(trace.program.code, trace.findings[finding].fix)
    return Program(code=code, seed=trace.program.seed, device=trace.program.device)


def judge(before: Trace, finding: int, after: Trace) -> Trial:
    """What the run of the edited program says of a finding and its fix. Linear in the two traces."""
    told = compare(before, after)
    mended = before.findings[finding]
    verdict = _verdict(before, finding, after, told)
    if verdict != "mends":
        certainty = _doubted(before, finding, after, told, verdict)
        return Trial(finding=finding, verdict=verdict, certainty=certainty, run=after.id)
    proof = proof_of(before, mended, after, told)
    return Trial(
        finding=finding,
        verdict=verdict,
        certainty=_proven(before, mended, proof),
        run=after.id,
        stops_at=after.failure.span.line if after.failure is not None and after.failure.span is not None else None,
        proof=proof,
    )


def _proven(before: Trace, mended: Finding, proof: tuple[Shift, ...]) -> Certainty | None:
    """Certain where something else came of it. What may be meant stays possible: no run can tell what was meant."""
    is_seen = bool(proof) or _explains_the_end(before, mended)
    return "certain" if is_seen and mended.certainty == "certain" else None


def _explains_the_end(before: Trace, mended: Finding) -> bool:
    """Whether a finding is of what stopped the program: then it is mended by coming past that line."""
    return before.failure is not None and before.failure.explanation == mended.code


def _doubted(before: Trace, finding: int, after: Trace, told: Comparison, verdict: Verdict) -> Certainty | None:
    """Possible where the trouble outlasted its cause. A program that stops elsewhere, or an experiment that did harm of
    its own, says nothing."""
    mended = before.findings[finding]
    is_harm = mended.is_experiment and verdict not in ("remains", "gradient_lost")
    is_same = any((there.code, there.parameters) == (mended.code, mended.parameters) for there in after.findings)
    is_elsewhere = verdict == "stops" and (finding in told.findings_here or not is_same)
    return None if verdict in _NOT_JUDGED or is_harm or is_elsewhere else "possible"


def _verdict(before: Trace, finding: int, after: Trace, told: Comparison) -> Verdict:
    mended = before.findings[finding]
    if after.status not in ("ok", "failed"):
        return "not_finished"
    if not _gets_far_enough(before, mended, after, told):
        return "stops"
    if finding not in told.findings_here or _cause_remains(before, mended, told):
        return "remains"
    if _has_new(before, mended, after, told):
        return "new_finding"
    if not _explains_the_end(before, mended) and stays_without_gradient(before, mended, after, told):
        return "remains"
    if mended.code in _OFTEN_MEANT and nothing_better(before, after, told):
        return "remains"
    if gradient_lost(before, after, told):
        return "gradient_lost"
    if graph_grows(after) and not graph_grows(before):
        return "graph_grows"
    if _lines_lost(before, mended, after, told):
        return "lines_lost"
    if _output_lost(before, before.findings[finding], after, told):
        return "output_lost"
    return "mends"


def _cause_remains(before: Trace, mended: Finding, told: Comparison) -> bool:
    """Whether what the finding comes of is still there: only a symptom was quieted."""
    cause = mended.follows
    return cause is not None and before.findings[cause].severity != "note" and cause not in told.findings_here


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
    return not is_stuck and (is_further or not _explains_the_end(before, mended))


def _has_new(before: Trace, mended: Finding, after: Trace, told: Comparison) -> bool:
    """Whether something as grave is wrong as the worst that is gone, at lines that the other run came to; or the edits
    cut a gradient off."""
    edited_lines = {edit.span.line for edit in mended.fix}
    gone = min(_RANK[before.findings[at].severity] for at in told.findings_here)
    unseen = set(before.lines_not_run)
    beyond = after.failure.explanation if after.failure is not None else None
    for at in told.findings_there:
        new = after.findings[at]
        line = _line_before(new.span.line, told) if new.span is not None else None
        is_further_on = before.failure is not None and (new.code == beyond or line in unseen)
        is_cut = new.severity != "note" and new.code.startswith(_CUTS) and line in edited_lines
        if is_cut or (_RANK[new.severity] <= gone and not is_further_on):
            return True
    return _warned_anew(before, after, edited_lines, told)


def _warned_anew(before: Trace, after: Trace, edited_lines: set[int], told: Comparison) -> bool:
    """Whether Python warns of something that it did not warn of, as of numbers that a conversion cuts: where a program
    gets further now, at the edits."""
    known = {(warning.category, warning.message) for warning in before.warnings}
    lines = (each.span and each.span.line for each in after.warnings if (each.category, each.message) not in known)
    return any(before.failure is None or _line_before(line or 0, told) in (None, *edited_lines) for line in lines)


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
