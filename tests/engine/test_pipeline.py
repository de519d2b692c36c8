"""The way of a run without a server, with a sandbox and without one."""

import msgspec
import pytest

from engine.keys import run_id, versions
from engine.local import run
from engine.outcome import Outcome
from engine.pipeline import trace_of
from engine.request import RunRequest
from engine.trace import Program, Timings
from tests.golden import canonical

CODE = "import torch\nx = torch.tensor([1.0, 2.0], requires_grad=True)\n(x * x).sum().backward()\nprint(x.grad)\n"


@pytest.mark.slow
@pytest.mark.timeout(180)  # PyTorch is imported twice
def test_an_ordinary_process_records_what_a_sandboxed_one_does() -> None:
    inside, outside = run(CODE), run(CODE, sandboxed=False)
    assert outside.environment.isolation is not None
    assert (outside.environment.isolation.profile, outside.environment.isolation.layers) == ("none", ())
    assert outside.id == inside.id
    assert canonical(outside) == canonical(inside)


def test_a_trace_and_its_findings_need_no_process() -> None:
    request = RunRequest(program=Program(code="raise ValueError(1)\n"))
    lines = [b'["start","3","2","cpu","2",null,1]']
    ended = Outcome(
        exit_code=None, signal=9, stopped_by="cpu", stderr_tail="", timings=Timings(total_ms=5.0, queued_ms=1.0),
        isolation=None, blobs=0,
    )  # fmt: skip
    name = run_id(request, versions())
    trace = trace_of(name, request, lines, ended, waited_ms=100.0)
    assert (trace.id, trace.status) == (name, "limited")
    assert trace.failure is not None
    assert trace.failure.explanation is not None
    assert trace.timings.queued_ms == 101.0
    assert trace.timings.assemble_ms is not None
    assert trace.timings.total_ms == pytest.approx(105.0 + trace.timings.assemble_ms)
    assert msgspec.json.decode(msgspec.json.encode(trace), type=type(trace)) == trace
