"""What the page shows as the proof of a finding: of records that exist, and NaN or infinity only where one holds it."""

from collections.abc import Callable, Iterator

import msgspec
import pytest

import engine
from engine.trace import Finding, Tensor, Trace
from tests.engine.findings import mistakes, programs
from tests.engine.findings.failures import HEAD
from tests.engine.findings.quick import first_quick
from tests.engine.findings.silent import MISTAKES
from tests.engine.findings.test_failing import ROWS
from tests.oracle.page import EvidenceShown, Page

CASES = [
    *first_quick(
        [
            *((code, programs.HEAD + program) for code, cases in programs.TRIGGERS.items() for program in cases),
            *((case.code, mistakes.HEAD + case.program) for case in MISTAKES),
        ]
    ),
    *(pytest.param(code, HEAD + row.program, marks=pytest.mark.slow) for code, row in ROWS),
]


@pytest.mark.parametrize(("code", "program"), CASES)
def test_evidence_says_what_was_recorded(code: str, program: str, page: Page, once: Callable[[str], Trace]) -> None:
    trace = once(program)
    assert code in {finding.code for finding in trace.findings}
    assert list(unproven(trace, page.shows(trace, []).evidence)) == []


def unproven(trace: Trace, evidence: list[list[EvidenceShown]]) -> Iterator[str]:
    """What evidence says and no record bears out, each as one sentence."""
    tensors = {tensor.id: tensor for tensor in trace.tensors}
    nodes = {node.id for node in trace.nodes}
    for finding, rows in zip(trace.findings, evidence, strict=True):
        yield from (f"{finding.code}: no tensor {name}" for name in finding.tensors if name not in tensors)
        yield from (f"{finding.code}: no node {name}" for name in finding.nodes if name not in nodes)
        for row in rows:
            yield from (f"{finding.code}: {wrong}" for wrong in _wrong(row, [tensors[name] for name in row.values]))


def _wrong(row: EvidenceShown, records: list[Tensor]) -> Iterator[str]:
    for word, is_held in (("NaN", any(map(holds_nan, records))), ("Inf", any(map(holds_inf, records)))):
        if word in row.says and not is_held:
            yield f"{row.what} is said to be {row.says}, and no record of it holds {word}"


def holds_nan(tensor: Tensor) -> bool:
    """Whether a recorded element is NaN."""
    return "nan" in (tensor.data or ()) or bool(tensor.summary and tensor.summary.nan)


def holds_inf(tensor: Tensor) -> bool:
    """Whether a recorded element is infinite."""
    return bool({"inf", "-inf"} & set(tensor.data or ())) or bool(tensor.summary and tensor.summary.inf)


def test_the_check_can_fail(page: Page) -> None:
    trace = engine.run("import torch\nx = torch.tensor([0.0, 1.0], requires_grad=True)\nx.log().sum().backward()\n")
    shown = page.shows(trace, []).evidence
    assert list(unproven(trace, shown)) == []
    lying = [[EvidenceShown(what="x", says="(2) float32 · NaN", values=list(one.tensors))] for one in trace.findings]
    assert "is said to be" in next(unproven(trace, lying))
    gone = msgspec.structs.replace(trace, findings=[Finding(code="c", severity="note", tensors=("t999",))])
    assert list(unproven(gone, [[]])) == ["c: no tensor t999"]
