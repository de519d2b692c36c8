"""Fixes are tried in the background, after everybody's own runs, and what came of them is kept."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from engine import Program, RunRequest
from engine.fixes import FORMAT
from engine.trace import Isolation
from server import fixes
from server.metrics import Metrics
from server.problems import Problem
from server.queue import Client, LiveRun, Queue
from server.runner import Finished, RunEvent, Started
from server.settings import Settings
from server.store import Stored
from server.traces import Traces
from tests.server.conftest import Json, Served, serving
from tests.server.stores import store_in

CUT = """import torch
w = torch.tensor([1.0, {n}], requires_grad=True)
b = torch.tensor(0.5, requires_grad=True)
loss = ((w * 2).detach().sum() + b) ** 2
loss.backward()
"""
ENDLESS = "import torch\nx = torch.onse(2)\nwhile True: print(x)\n"
HERE, THERE = Client("here", "one"), Client("there", "two")
NOBODY = Client("fixes for here", None)


def tried(server: Served, run: str, wait: int = 10) -> Json:
    answer = server.http.get(f"/api/v1/runs/{run}/fixes", headers={"Prefer": f"wait={wait}"})
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    told: Json = answer.json()
    return told


def test_a_fix_is_tried_and_its_run_is_there(served: Served) -> None:
    trace = served.run(CUT.format(n=2.0))
    told = tried(served, trace["id"])
    (trial,) = told["trials"]
    assert (told["run"], told["done"]) == (trace["id"], True)
    assert (trial["finding"], trial["verdict"], trial["certainty"]) == (0, "mends", "certain")
    assert trial["proof"][0]["after"]["data"] == [26.0, 26.0]
    mended = served.http.get(f"/api/v1/runs/{trial['run']}").json()
    assert ".detach()" not in mended["program"]["code"]
    again = served.http.post("/api/v1/runs", json={"code": mended["program"]["code"]})
    assert again.headers["cache-status"] == "gradgraph; hit"


def test_a_run_without_fixes_is_done_at_once(served: Served) -> None:
    told = tried(served, served.run("print('right')")["id"], wait=0)
    assert "trials" not in (told if told["done"] else tried(served, told["run"]))


def test_fixes_of_no_run_are_refused(served: Served) -> None:
    assert "nothing" in served.problem(served.http.get("/api/v1/runs/nothing/fixes"), 404, "no-such-run")


@pytest.mark.slow
def test_what_came_of_them_outlives_the_server(tmp_path: Path) -> None:
    with serving(Settings(data_dir=tmp_path, warm_gallery=False)) as server:
        first = tried(server, server.run(CUT.format(n=3.0))["id"])
    with serving(Settings(data_dir=tmp_path, warm_gallery=False, fixes=0)) as server:
        assert tried(server, first["run"]) == first
        other = tried(server, server.run(CUT.format(n=4.0))["id"])
        assert (other["done"], "trials" in other) == (True, False)


@pytest.mark.slow
def test_an_edited_program_that_never_ends_is_no_fix_and_not_kept(served: Served) -> None:
    trace = served.run(ENDLESS, limits={"wall_s": 1.0})
    told = tried(served, trace["id"])
    assert [trial["verdict"] for trial in told["trials"]] == ["not_finished"]

    async def kept() -> bytes | None:
        store = store_in(served.service.settings.data_dir)
        try:
            return await store.part(trace["id"], FORMAT)
        finally:
            await store.close()

    assert asyncio.run(kept()) is None
    assert tried(served, trace["id"], wait=0) == told


def test_of_many_runs_only_some_wait(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixes, "MOST_RUNS_OF_ONE", 0)
    trace = served.run(CUT.format(n=5.0))
    told = tried(served, trace["id"])
    assert (told["done"], "trials" in told) == (False, False)
    monkeypatch.undo()
    assert tried(served, trace["id"])["done"]


class Held:
    """A runner whose runs end when they are let go."""

    isolation: Isolation | None = None
    devices = ("cpu",)

    def __init__(self, capacity: int, slow_capacity: int) -> None:
        self.capacity = capacity
        self.slow_capacity = slow_capacity
        self.begun: dict[str, asyncio.Event] = {}
        self.yielded: set[str] = set()

    async def start(self) -> None: ...
    async def close(self) -> None: ...
    def cancel(self, run: str) -> None: ...

    def yield_processor(self, run: str) -> None:
        self.yielded.add(run)

    def take_processor(self, run: str) -> None:
        self.yielded.discard(run)

    async def submit(self, run: str, request: RunRequest, waited_ms: float) -> AsyncGenerator[RunEvent, None]:
        self.begun[run] = asyncio.Event()
        yield Started()
        await self.begun[run].wait()
        yield Finished(status="ok", lost=False, stored=Stored(body=run.encode(), etag=run, kept=False))


class Line:
    """A queue in front of such a runner."""

    def __init__(self, folder: Path, capacity: int, slow_capacity: int) -> None:
        self.runner = Held(capacity, slow_capacity)
        self.traces = Traces(store_in(folder), 1 << 20)
        self.queue = Queue(self.runner, self.traces, Metrics(), Settings())

    async def enter(self, run: str, client: Client) -> LiveRun:
        request = RunRequest(program=Program(code=run))
        live = self.queue.enter(run, request, client, background=client is NOBODY)
        await self.begin()
        return live

    async def let_go(self, live: LiveRun) -> None:
        self.runner.begun[live.id].set()
        await live.wait()
        while live in self.queue._running:
            await asyncio.sleep(0)
        await self.begin()

    async def begin(self) -> None:
        """Wait until all that have a worker have begun."""
        while any(live.id not in self.runner.begun for live in self.queue._running):
            await asyncio.sleep(0)

    async def close(self) -> None:
        await self.queue.close()
        await self.traces.close()


def test_one_run_at_a_time_is_in_the_background_beside_the_workers(tmp_path: Path) -> None:
    async def check() -> None:
        line = Line(tmp_path, capacity=1, slow_capacity=1)
        first, second = await line.enter("b1", NOBODY), await line.enter("b2", NOBODY)
        assert (first.state, second.state) == ("running", "waiting")
        assert line.runner.yielded == set()
        own = await line.enter("own", HERE)
        assert (own.state, line.runner.yielded) == ("running", {"b1"})
        await line.let_go(first)
        assert "b2" not in line.runner.begun, "while somebody has the only worker none begins"
        await line.let_go(own)
        assert "b2" in line.runner.begun
        await line.close()

    asyncio.run(check())


def test_where_there_is_no_room_beside_it_makes_way(tmp_path: Path) -> None:
    async def check() -> None:
        line = Line(tmp_path, capacity=1, slow_capacity=0)
        background = await line.enter("b1", NOBODY)
        own = await line.enter("own", HERE)
        while own.state != "running":
            await asyncio.sleep(0)
        with pytest.raises(Problem, match="cancelled"):
            await background.wait()
        await line.close()

    asyncio.run(check())


def test_it_waits_behind_everybody_and_keeps_nobody_waiting(tmp_path: Path) -> None:
    async def check() -> None:
        line = Line(tmp_path, capacity=1, slow_capacity=1)
        own = await line.enter("own", HERE)
        background, other = await line.enter("b1", NOBODY), await line.enter("other", THERE)
        assert (line.queue.ahead(other), background.state) == (1, "waiting")
        await line.let_go(own)
        assert (other.state, background.state) == ("running", "waiting")
        await line.let_go(other)
        assert background.state == "running"
        await line.close()

    asyncio.run(check())


def test_who_asks_for_it_has_it_as_their_own(tmp_path: Path) -> None:
    async def check() -> None:
        line = Line(tmp_path, capacity=1, slow_capacity=1)
        background, own = await line.enter("b1", NOBODY), await line.enter("own", THERE)
        assert line.runner.yielded == {"b1"}
        assert await line.enter("b1", HERE) is background
        assert (line.runner.yielded, line.queue.newest_of("one")) == (set(), background)
        waiting = await line.enter("b2", NOBODY)
        assert await line.enter("b2", HERE) is waiting
        await line.let_go(background)
        await line.let_go(own)
        assert (waiting.state, waiting.slow) == ("running", False)
        await line.close()

    asyncio.run(check())
