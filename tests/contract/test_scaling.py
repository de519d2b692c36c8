"""The simulation behind docs/scaling.md: it obeys what is known of queues, and the document shows what it says."""

import pytest
import simpy

from tools import scaling
from tools.scaling import (
    BURST,
    CLUSTER_BURST,
    WAITING_S,
    Burst,
    Cell,
    Load,
    Part,
    Prices,
    Simulated,
    plan,
    quantile,
    simulated_burst,
)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_tables_of_the_document_are_of_today() -> None:
    assert scaling.document() == scaling.DOCUMENT.read_text("utf-8"), "run `python -m tools.scaling`"


def test_a_part_takes_one_after_the_other() -> None:
    world = simpy.Environment()
    part = Part(world, 2)
    for _ in range(5):
        world.process(part.take(1000))
    world.run()
    assert world.now == 3.0
    assert part.used(world.now) == pytest.approx(5 / 6)


def test_shared_time_is_as_much_as_time_in_a_row() -> None:
    world = simpy.Environment()
    part = Part(world, 1, speed=0.5)
    for work_ms in (100, 7):
        world.process(part.share(work_ms))
    world.run()
    assert world.now == pytest.approx(0.214)


def test_parts_are_as_busy_as_what_comes_in() -> None:
    load = Load(100_000, hits=0.0)
    seen = Simulated(Cell(webs=2, workers=50)).run(per_s=100.0, classes=0, load=load)
    assert seen.used["leader"] == pytest.approx(100 * scaling.LEADER_MS / 1000, rel=0.05)
    assert seen.used["web nodes"] == pytest.approx(100 * (scaling.REQUEST_MS + scaling.ASK_MS) / 1000 / 2, rel=0.05)
    assert seen.refused == 0


def test_what_the_store_has_needs_no_worker() -> None:
    seen = Simulated(Cell(webs=1, workers=1)).run(per_s=100.0, classes=1, load=Load(300, hits=1.0))
    assert (seen.waited, seen.used["workers"]) == ([], 0)


def test_a_queue_that_is_full_refuses() -> None:
    seen = Simulated(Cell(webs=8, workers=1)).run(per_s=500.0, classes=0, load=Load(300, hits=0.0))
    assert seen.refused > 0
    assert seen.waited_s(0.95) > WAITING_S


def test_a_plan_keeps_its_promise_with_a_node_to_spare() -> None:
    load = Load(30_000)
    planned = plan(load)
    assert planned.seen.waited_s(0.95) <= WAITING_S
    assert planned.cell.workers >= 2
    assert planned.per_million(Prices()) > planned.per_million(Prices(core_hour=0.01)) > 0


@pytest.mark.parametrize("measured", [BURST, CLUSTER_BURST], ids=["embedded", "cluster"])
def test_the_simulated_burst_is_like_the_measured_one(measured: Burst) -> None:
    simulated = simulated_burst(measured.runs, measured.cores, measured.way)
    assert (simulated.all_s, simulated.p95_s) == pytest.approx((measured.all_s, measured.p95_s), rel=0.2)
    assert simulated.p50_s == pytest.approx(measured.p50_s, rel=0.3)


def test_a_quantile_of_nothing_is_nothing() -> None:
    assert (quantile([], 0.95), quantile([3, 1, 2], 0.5)) == (0.0, 2)
