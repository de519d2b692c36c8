"""What is told of two random programs is what PyTorch's own gradients say, and the same from both sides."""

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.compare import compare
from tests.engine.worker.forked import record
from tests.laws.test_random_programs import LEAVES, gradients, programs


@st.composite
def changed(draw: st.DrawFn) -> tuple[str, str]:
    """A program, and another one or the same with a line of it changed, doubled or left out."""
    code = draw(programs())
    lines = code.splitlines(keepends=True)
    at = draw(st.integers(2 + len(LEAVES), len(lines) - 1))
    line = lines[at]
    other = draw(
        st.sampled_from((line.replace("*", "-"), line.replace("+", "*"), "", line * 2, line.replace(".detach()", "")))
    )
    return code, draw(st.one_of(st.just("".join([*lines[:at], other, *lines[at + 1 :]])), programs()))


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(changed())
def test_gradients_differ_by_what_pytorch_says(both: tuple[str, str]) -> None:
    here, there = record(both[0]), record(both[1])
    told = compare(here, there)
    ours, theirs = gradients(both[0]), gradients(both[1])
    rows = {row.name: row for row in told.tensors}
    for name in LEAVES:
        row, mine, other = rows[name], ours[name], theirs[name]
        assert (row.gradient_here is None, row.gradient_there is None) == (mine is None, other is None)
        assert (row.gradient is None) == (mine is None or other is None)
        if mine is not None and other is not None and row.gradient is not None:
            a, b = torch.tensor(mine, dtype=torch.float64), torch.tensor(other, dtype=torch.float64)
            gap, largest = (b - a).abs(), row.gradient.largest or 0.0
            if isinstance(largest, str):
                assert not gap.isfinite().all()
            else:
                assert largest == pytest.approx(float(gap.max()), rel=1e-9)
    back = compare(there, here)
    assert (told.here, told.there, told.matched, told.differs) == (back.there, back.here, back.matched, back.differs)
    assert (set(told.only_here), set(told.only_there)) == (set(back.only_there), set(back.only_here))
    assert not compare(here, here).differs
