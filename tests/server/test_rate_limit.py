"""One address cannot ask without end."""

from pathlib import Path

import pytest

from server.rate_limit import RateLimit
from server.settings import Settings
from tests.server.conftest import serving


class Clock:
    """Time that a test sets."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_is_taken_and_then_a_steady_rate() -> None:
    clock = Clock()
    rate = RateLimit(2.0, 3, clock)
    assert [rate.wait_s("a") for _ in range(3)] == [0.0, 0.0, 0.0]
    assert rate.wait_s("a") == pytest.approx(0.5)
    assert rate.wait_s("b") == 0.0
    clock.now += 0.5
    assert rate.wait_s("a") == 0.0
    assert rate.wait_s("a") > 0


def test_addresses_that_rested_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.rate_limit._MANY", 10)
    clock = Clock()
    rate = RateLimit(1.0, 2, clock)
    for number in range(50):
        clock.now += 1
        assert rate.wait_s(str(number)) == 0.0
    assert len(rate._buckets) <= 10


def test_a_clock_that_jumps_locks_nobody_out_and_gives_no_more_than_a_burst() -> None:
    clock = Clock()
    rate = RateLimit(2.0, 3, clock)
    rate.wait_s("a")
    clock.now -= 86_400
    assert [rate.wait_s("a") for _ in range(2)] == [0.0, 0.0]
    assert rate.wait_s("a") == pytest.approx(0.5)
    clock.now += 10 * 86_400
    assert [rate.wait_s("a") for _ in range(3)] == [0.0, 0.0, 0.0]
    assert rate.wait_s("a") == pytest.approx(0.5)


def test_no_rate_is_no_limit() -> None:
    rate = RateLimit(0.0, 0, Clock())
    assert {rate.wait_s("a") for _ in range(1000)} == {0.0}


@pytest.mark.slow
def test_an_address_that_asks_too_often_is_told_when_to_come_back(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, rate_per_s=0.01, rate_burst=2, warm_gallery=False)
    with serving(settings) as server:
        answers = [server.http.post("/api/v1/runs", json={"code": f"print({n})"}) for n in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert "0.01" in server.problem(answers[2], 429, "too-fast")
        assert int(answers[2].headers["retry-after"]) >= 1
        stored = server.http.post("/api/v1/runs", json={"code": "print(0)"})
        assert stored.headers["cache-status"] == "gradgraph; hit", "what is stored costs nothing"
