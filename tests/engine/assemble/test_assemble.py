"""A stream of events may be cut anywhere, and may say nonsense: the trace is whole all the same."""

import gc
import weakref

import pytest

from engine import laws
from engine.assemble import whole_run
from engine.assemble.read import read
from engine.assemble.recorded import Recorded
from tests.engine.worker.forked import said, traced

CODE = """import torch
w = torch.nn.Parameter(torch.ones(3))
optimizer = torch.optim.SGD([w], lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    loss = (w * w).sum()
    loss.backward()
    optimizer.step()
print("done")
"""


@pytest.fixture(scope="module")
def lines() -> list[bytes]:
    return said(CODE)


def test_a_whole_stream_is_ok(lines: list[bytes]) -> None:
    trace = traced(CODE, lines)
    assert (trace.status, len(trace.passes), [update.kind for update in trace.updates].count("step")) == ("ok", 2, 2)
    assert trace.output[-1].text == "done\n"


def test_a_stream_cut_anywhere_still_assembles(lines: list[bytes]) -> None:
    for length in range(len(lines)):
        trace = traced(CODE, lines[:length])
        assert trace.status != "crashed", length


ODD = """import torch
from torch.utils.checkpoint import checkpoint
x = torch.ones(3, requires_grad=True)
y = checkpoint(torch.sin, x.to("cpu"), use_reentrant=False)
(slope,) = torch.autograd.grad((y * x).sum(), x, create_graph=True)
slope.sum().backward()
x.detach().numpy()[0] = 5
torch.ones(2).to("cuda")
"""


@pytest.mark.slow
@pytest.mark.parametrize("code", [CODE, ODD], ids=["training", "odd"])
def test_a_stream_without_any_one_line_still_assembles(code: str) -> None:
    """A program can write into its own stream, and so keep a line from being one."""
    pieces = [piece for line in said(code) for piece in line.splitlines()]
    for at in range(len(pieces)):
        without = traced(code, pieces[:at] + pieces[at + 1 :])
        assert without.program.code == code, pieces[at]


def test_events_joined_by_newlines_are_read_one_by_one(lines: list[bytes]) -> None:
    assert traced(CODE, [b"\n".join(lines)]) == traced(CODE, lines)


@pytest.mark.parametrize("nonsense", [[], [b'["t", "no such tensor"]']])
def test_events_do_not_wait_for_a_collection(
    lines: list[bytes], nonsense: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a long run they are as large as its trace."""

    def reading(lines: list[bytes]) -> Recorded:
        recorded = read(lines)
        kept.append(weakref.ref(recorded))
        return recorded

    kept: list[weakref.ref[Recorded]] = []
    monkeypatch.setattr(whole_run, "read", reading)
    gc.collect()
    gc.disable()
    try:
        traced(CODE, [*lines, *nonsense])
        assert [reference() for reference in kept] == [None]
    finally:
        gc.enable()


def test_nonsense_ends_the_reading_and_keeps_what_came_before(lines: list[bytes]) -> None:
    trace = traced(CODE, [*lines[: len(lines) // 2], b'["t", "no such tensor"]', *lines[len(lines) // 2 :]])
    assert trace.status == "crashed"
    assert trace.failure is not None and "no event" in trace.failure.message
    assert 0 < len(trace.ops) < len(traced(CODE, lines).ops)


def test_the_whole_trace_obeys_the_laws(lines: list[bytes]) -> None:
    assert laws.broken(traced(CODE, lines)) == []
