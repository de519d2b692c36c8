"""Whether the machine has time."""

import math

import pytest

from engine.sandbox.leisure import Leisure, idle_s


def test_it_has_time_while_processors_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    seen = [(0.0, 5.0), (0.05, 5.0), (1.0, 5.5), (2.0, 5.7), (3.0, 6.3), (4.0, 7.3)]
    times, idles = iter([at for at, _ in seen]), iter([idle for _, idle in seen])
    leisure = Leisure(lambda: next(idles), lambda: next(times))
    # too soon to tell; a quarter; a tenth; three tenths, which are enough for what is done, not to begin it; half
    assert [leisure.has_time() for _ in seen[1:]] == [True, True, False, False, True]


def test_where_nobody_can_tell_it_has_time() -> None:
    times = iter([0.0, 1.0, 2.0])
    leisure = Leisure(lambda: math.inf, lambda: next(times))
    assert leisure.has_time()
    assert leisure.has_time()


def test_processors_idle_no_longer_than_they_are_there() -> None:
    before = idle_s()
    assert 0 <= before <= idle_s()
