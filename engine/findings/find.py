"""All families of findings, asked in turn."""

from collections.abc import Callable, Iterable

from engine.findings.accumulation import gradients_added_up
from engine.findings.cuts import cut_gradients, unused_parameters
from engine.findings.nonfinite import first_nonfinite
from engine.findings.passes import failed_passes, gradients_not_kept
from engine.findings.saved import data_edits
from engine.findings.story import Story
from engine.trace import Finding, Trace

FAMILIES: tuple[Callable[[Story], Iterable[Finding]], ...] = (
    failed_passes,
    cut_gradients,
    unused_parameters,
    data_edits,
    gradients_added_up,
    gradients_not_kept,
    first_nonfinite,
)
_RANK = {"error": 0, "warning": 1, "note": 2}


def find(trace: Trace) -> tuple[Finding, ...]:
    """Every diagnosis, the gravest first, then by line."""
    if not trace.ops:
        return ()
    story = Story(trace)
    found = [finding for family in FAMILIES for finding in family(story)]
    return tuple(sorted(found, key=lambda one: (_RANK[one.severity], one.span.line if one.span is not None else 0)))
