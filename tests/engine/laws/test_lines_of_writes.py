"""The laws of NumPy writes and names bound anew: a right trace keeps them, a changed one does not."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from engine import laws
from engine.trace import Span, Trace
from tests.engine.worker.forked import record

CODE = """import numpy as np
import torch
a = np.ones(3)
t = torch.from_numpy(a)
b = t.numpy()
for n in range(2):
    if n:
        a += 5
    else:
        a += 1
if n > 5:
    b += 2
y = t * 2
a = a + 1
"""
IDLE = Span(line=12, end_line=12, column=4, end_column=10)


def _made_where_nothing_ran(trace: Trace) -> Trace:
    return replace(trace, updates=tuple(replace(update, span=IDLE) for update in trace.updates))


def _left_where_nothing_ran(trace: Trace) -> Trace:
    (storage,) = (one for one in trace.storages if one.parted)
    return replace(trace, storages=(replace(storage, parted=(replace(storage.parted[0], span=IDLE),)),))


def _left_and_stayed(trace: Trace) -> Trace:
    (storage,) = (one for one in trace.storages if one.parted)
    return replace(trace, storages=(replace(storage, parted=(replace(storage.parted[0], name="b"),)),))


@pytest.mark.parametrize("wrong", [_made_where_nothing_ran, _left_where_nothing_ran, _left_and_stayed])
def test_a_broken_trace_is_found_out(wrong: Callable[[Trace], Trace]) -> None:
    trace = record(CODE)
    assert trace.status == "ok", trace.failure
    assert laws.broken(trace) == []
    assert laws.broken(wrong(trace)) != []
