"""The run's times for a trace viewer: measured ones, and nothing overlaps that did not."""

import json

import pytest

import engine
from engine.export.timing import timing
from engine.trace import Trace

CODE = """import torch
from torch import nn
net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
net(torch.ones(4, 2)).sum().backward()
"""


@pytest.fixture(scope="module")
def trace() -> Trace:
    return engine.run(CODE)


def test_every_time_of_the_trace_is_there_once(trace: Trace) -> None:
    slices = [event for event in json.loads(timing(trace))["traceEvents"] if event["ph"] == "X"]
    of = {kind: [each for each in slices if each["cat"] == kind] for kind in ("phase", "op", "visit", "module", "pass")}
    assert [each["dur"] for each in of["op"]] == [op.time_us for op in trace.ops]
    assert [each["dur"] for each in of["visit"]] == [visit.time_us for visit in trace.passes[0].visits]
    assert sum(each["dur"] for each in of["phase"]) == pytest.approx(
        1000 * (trace.timings.queued_ms + trace.timings.start_ms + trace.timings.run_ms + trace.timings.assemble_ms)
    )
    assert [each["name"] for each in of["module"]] == ["net.0", "net.1", "net.2", "net"]
    assert len(of["pass"]) == 1


def test_what_happened_in_a_call_lies_inside_it(trace: Trace) -> None:
    slices = [event for event in json.loads(timing(trace))["traceEvents"] if event["ph"] == "X"]
    net = next(each for each in slices if each["name"] == "net")
    linear = [each for each in slices if each["name"] == "linear"]
    assert len(linear) == 2
    for each in linear:
        assert net["ts"] <= each["ts"] and each["ts"] + each["dur"] <= net["ts"] + net["dur"] + 1e-6
