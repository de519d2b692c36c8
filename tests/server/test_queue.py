"""The queue in front of one worker: bounded, fair, never performing a run twice."""

import asyncio
import json
import os
import signal
import threading
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx
import pytest

from engine import Program, RunRequest
from server.local_runner import LocalRunner
from server.metrics import Metrics
from server.problems import Problem
from server.queue import Client, Queue
from server.routes.pages import SESSION
from server.runner import Finished, Printed, RunEvent
from server.settings import Settings
from server.store import Stored
from server.traces import Traces
from tests.server.conftest import Served, serving, wait_until
from tests.server.stores import store_in

SLEEP = "import time\ntime.sleep({s})\nprint({n})"
LONG_S = 9
"""For a run that is cancelled once it is in nobody's way any more; the most a run may take is ten seconds."""


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with one worker and room for three."""
    settings = Settings(
        data_dir=tmp_path_factory.mktemp("narrow"),
        workers=1,
        slow_workers=0,
        queue=3,
        per_address=4,
        warm_gallery=False,
    )
    with serving(settings) as server:
        yield server


@pytest.fixture(scope="module")
def yielding(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on which a second run may go on beside a long one."""
    folder = tmp_path_factory.mktemp("yielding")
    with serving(Settings(data_dir=folder, workers=1, slow_workers=1, quick_s=0.1, warm_gallery=False)) as server:
        yield server


@pytest.fixture
def clients(narrow: Served) -> Iterator[ThreadPoolExecutor]:
    """Callers at the same time; the queue is empty again afterwards."""
    with ThreadPoolExecutor(8) as pool:
        yield pool
    wait_until(lambda: narrow.service.queue.running + narrow.service.queue.waiting == 0)


class Callers:
    """Numbers that make each program another one."""

    count = 0
    lock = threading.Lock()

    @classmethod
    def program(cls, seconds: float) -> dict[str, str]:
        with cls.lock:
            cls.count += 1
        return {"code": SLEEP.format(s=seconds, n=cls.count)}


def post(
    narrow: Served, clients: ThreadPoolExecutor, body: dict[str, str], session: str = ""
) -> "Future[httpx.Response]":
    """A call on a thread of its own; returns when the queue has it."""
    queue = narrow.service.queue
    before = queue.running + queue.waiting
    headers = {"Cookie": f"gradgraph_session={session}"} if session else {}
    call = clients.submit(narrow.http.post, "/api/v1/runs", json=body, headers=headers)
    wait_until(lambda: call.done() or queue.running + queue.waiting != before or session != "")
    return call


@contextmanager
def held(server: Served, clients: ThreadPoolExecutor, session: str = "") -> Iterator["Future[httpx.Response]"]:
    """A run that has a worker for as long as the block lasts."""
    queue = server.service.queue
    call = post(server, clients, Callers.program(LONG_S), session)
    wait_until(lambda: queue.running == 1)
    (live,) = queue._running
    yield call
    headers = {"Cookie": f"{SESSION}={session}"} if session else {}
    assert server.http.delete(f"/api/v1/runs/{live.id}", headers=headers).json()["failure"]["type"] == "cancelled"


def test_a_full_queue_is_said_with_the_time_to_wait(narrow: Served, clients: ThreadPoolExecutor) -> None:
    queue = narrow.service.queue
    with held(narrow, clients):
        calls = [post(narrow, clients, Callers.program(0)) for _ in range(3)]
        assert (queue.running, queue.waiting) == (1, 3)
        refused = narrow.http.post("/api/v1/runs", json=Callers.program(0), headers={"X-Forwarded-For": "10.0.0.9"})
    assert "3 runs" in narrow.problem(refused, 503, "queue-full")
    assert int(refused.headers["retry-after"]) > 0
    assert [call.result().json()["status"] for call in calls] == ["ok"] * 3


def test_one_address_cannot_have_it_all(narrow: Served, clients: ThreadPoolExecutor) -> None:
    with held(narrow, clients):
        calls = [post(narrow, clients, Callers.program(0)) for _ in range(3)]
        refused = narrow.http.post("/api/v1/runs", json=Callers.program(0))
    assert "4" in narrow.problem(refused, 429, "too-many-runs")
    assert int(refused.headers["retry-after"]) > 0
    assert all(call.result().status_code == 200 for call in calls)


def test_a_newer_run_of_a_session_replaces_the_waiting_one(narrow: Served, clients: ThreadPoolExecutor) -> None:
    queue = narrow.service.queue
    with held(narrow, clients, "one") as first:
        second = post(narrow, clients, Callers.program(0), "one")
        wait_until(lambda: queue.waiting == 1)
        third = post(narrow, clients, Callers.program(0), "one")
        narrow.problem(second.result(), 429, "replaced")
    assert (first.result().status_code, third.result().status_code) == (200, 200)


def test_a_session_that_runs_lets_others_pass(served: Served, clients: ThreadPoolExecutor) -> None:
    queue = served.service.queue
    with held(served, clients, "one") as blocker:
        waiting = post(served, clients, Callers.program(0), "one")
        wait_until(lambda: queue.waiting == 1)
        assert post(served, clients, Callers.program(0), "two").result().status_code == 200
        assert not blocker.done()
        assert not waiting.done()
    assert (blocker.result().status_code, waiting.result().status_code) == (200, 200)


def test_the_same_run_asked_for_twice_at_once_is_performed_once(narrow: Served, clients: ThreadPoolExecutor) -> None:
    program = {"code": "import time\ntime.sleep(0.3)\nprint(time.perf_counter_ns())"}
    first = post(narrow, clients, program)
    second = clients.submit(narrow.http.post, "/api/v1/runs", json=program)
    assert first.result().json() == second.result().json()


def test_a_waiting_run_of_a_client_that_left_is_never_performed(narrow: Served, clients: ThreadPoolExecutor) -> None:
    queue = narrow.service.queue
    with held(narrow, clients):
        with pytest.raises(httpx.ReadTimeout):
            narrow.http.post("/api/v1/runs", json=Callers.program(0), timeout=0.2)
        wait_until(lambda: queue.waiting == 0)


def test_events_tell_that_a_run_waits_what_it_prints_and_when_it_is_over(
    narrow: Served, clients: ThreadPoolExecutor
) -> None:
    told: list[str] = []

    def hear(events: str) -> None:
        with narrow.http.stream("GET", events) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            told.extend(answer.iter_lines())

    def heard(field: str) -> list[str]:
        return [line.removeprefix(f"{field}: ") for line in told if line.startswith(f"{field}: ")]

    program = {"code": f"{Callers.program(0)['code']}\nprint('two')"}
    printed = f"{Callers.count}\ntwo\n"
    with held(narrow, clients):
        accepted = narrow.http.post("/api/v1/runs", json=program, headers={"Prefer": "respond-async"}).json()
        hearing = clients.submit(hear, accepted["events"])
        wait_until(lambda: "waiting" in heard("event"))
    hearing.result()
    assert [kind for kind in dict.fromkeys(heard("event")) if kind != "progress"] == [
        "waiting", "started", "output", "finished",
    ]  # fmt: skip
    said = [json.loads(data) for data in heard("data")]
    assert "".join(each.get("text", "") for each in said) == printed
    assert said[-1]["location"] == accepted["location"]
    numbers = [int(number) for number in heard("id")]
    assert numbers == sorted(set(numbers))
    assert narrow.http.get(accepted["events"]).text.startswith("event: finished\n")


def test_a_browser_is_told_how_many_runs_are_ahead_of_its_own(narrow: Served, clients: ThreadPoolExecutor) -> None:
    ask = partial(narrow.http.request, headers={"Cookie": f"{SESSION}=here"})
    where = partial(ask, "GET", "/api/v1/runs/mine")
    assert where().status_code == 204
    with held(narrow, clients):
        before = post(narrow, clients, Callers.program(0))
        ours = post(narrow, clients, Callers.program(LONG_S), "here")
        wait_until(lambda: narrow.service.queue.waiting == 2)
        assert (where().json()["state"], where().json()["ahead"]) == ("waiting", 2)
    wait_until(lambda: where().json()["state"] == "running")
    assert where().json()["ahead"] == 0
    ask("DELETE", f"/api/v1/runs/{where().json()['run']}")
    assert {call.result().status_code for call in (before, ours)} == {200}


def test_a_flood_waits_behind_itself(narrow: Served, clients: ThreadPoolExecutor) -> None:
    queue = narrow.service.queue
    with held(narrow, clients):
        calls = []
        for waiting, who in enumerate(("", "", "light"), 1):
            calls.append(post(narrow, clients, {"code": f"import time\nprint(time.monotonic_ns())  # {waiting}"}, who))
            wait_until(lambda waiting=waiting: queue.waiting == waiting)  # type: ignore[misc]
    *heavy, light = (int(call.result().json()["output"][0]["text"]) for call in calls)
    assert light < min(heavy)


@pytest.mark.slow
@pytest.mark.slow
def test_a_short_run_is_answered_while_a_long_one_goes_on(yielding: Served) -> None:
    with ThreadPoolExecutor(1) as clients, held(yielding, clients) as endless:
        assert yielding.run("print('short')")["status"] == "ok"
        assert not endless.done()


def test_a_cancelled_run_gives_its_trace_so_far(narrow: Served, clients: ThreadPoolExecutor) -> None:
    begin = "import torch\nx = torch.ones(2, requires_grad=True)\ny = x * 2\nprint('so far', flush=True)\n"
    code = f"{begin}while True:\n    pass"
    call = clients.submit(narrow.http.post, "/api/v1/runs", json={"code": code})
    wait_until(lambda: narrow.service.queue.running == 1)
    run = next(iter(narrow.service.queue._running))
    wait_until(lambda: any(isinstance(event, Printed) for _, event in run.said))
    stranger = {"Cookie": f"{SESSION}=stranger"}
    narrow.problem(narrow.http.delete(f"/api/v1/runs/{run.id}", headers=stranger), 403, "not-your-run")
    assert not call.done()
    trace = narrow.http.delete(f"/api/v1/runs/{run.id}").json()
    assert (trace["status"], trace["failure"]["type"]) == ("limited", "cancelled")
    assert [op["name"] for op in trace["ops"]] == ["ones", "mul"]
    assert call.result().json() == trace
    narrow.problem(narrow.http.delete(f"/api/v1/runs/{run.id}"), 404, "no-such-run")


def test_a_waiting_run_is_taken_out_of_the_queue(narrow: Served, clients: ThreadPoolExecutor) -> None:
    queue = narrow.service.queue
    with held(narrow, clients) as blocker:
        waits = post(narrow, clients, Callers.program(0))
        (live,) = queue._waiting
        assert narrow.http.delete(f"/api/v1/runs/{live.id}").status_code == 204
        narrow.problem(waits.result(), 503, "cancelled")
        assert not blocker.done()


def test_a_run_others_asked_for_too_goes_on(narrow: Served, clients: ThreadPoolExecutor) -> None:
    queue = narrow.service.queue
    program = Callers.program(0)
    with held(narrow, clients):
        ours = post(narrow, clients, program)
        theirs = clients.submit(narrow.http.post, "/api/v1/runs", json=program, headers={"Cookie": f"{SESSION}=other"})
        (live,) = queue._waiting
        wait_until(lambda: len(live.askers) == 2)
        assert narrow.http.delete(f"/api/v1/runs/{live.id}").status_code == 204
    assert [call.result().json()["status"] for call in (ours, theirs)] == ["ok", "ok"]


def test_a_run_cancelled_in_the_moment_it_is_given_a_worker_frees_its_place(tmp_path: Path) -> None:
    """Its task then never takes a first step, so nothing in it can tidy up."""

    class Busy(LocalRunner):
        capacity = 1

    async def check() -> None:
        traces = Traces(store_in(tmp_path), 1 << 20)
        queue = Queue(Busy(1, 0, 1 << 30), traces, Metrics(), Settings())
        live = queue.enter("run", RunRequest(program=Program(code="print(1)")), Client("here", None))
        assert queue.running == 1
        queue.cancel(live)
        with pytest.raises(Problem, match="cancelled"):
            await live.wait()
        assert (queue.running, queue.waiting) == (0, 0)
        await traces.close()

    asyncio.run(check())


def test_who_asks_in_the_moment_that_the_only_other_goes_is_waited_for(tmp_path: Path) -> None:
    """As the server hears of a page that gave a run up, and asks for it again, in either order."""

    class Slow(LocalRunner):
        capacity = 1

        async def submit(self, run: str, request: RunRequest, waited_ms: float) -> AsyncGenerator[RunEvent, None]:
            await asyncio.sleep(0.05)
            yield Finished(status="ok", lost=False, stored=Stored(b"whole", "1"))

    async def check() -> None:
        traces = Traces(store_in(tmp_path), 1 << 20)
        queue = Queue(Slow(1, 0, 1 << 30), traces, Metrics(), Settings())
        request = RunRequest(program=Program(code="print(1)"))
        first = asyncio.create_task(queue.enter("run", request, Client("here", "a")).wait())
        await asyncio.sleep(0.01)
        first.cancel()
        again = asyncio.create_task(queue.enter("run", request, Client("here", "a")).wait())
        assert (await asyncio.wait_for(again, 10)).body == b"whole"
        await queue.close()
        await traces.close()

    asyncio.run(check())


@pytest.mark.parametrize("leaves", ["goes away", "stops it", "was the background"])
def test_who_asks_for_a_run_that_is_ending_has_it_whole(tmp_path: Path, leaves: str) -> None:
    """As a page does that runs a program again the moment one of its numbers was turned."""
    request = RunRequest(program=Program(code="print(1)"))
    whole, cut = Stored(b"whole", "1"), Stored(b"cut", "2", kept=False)

    class Lingering(LocalRunner):
        capacity = 1
        begun = 0
        stopped = asyncio.Event()

        async def submit(self, run: str, request: RunRequest, waited_ms: float) -> AsyncGenerator[RunEvent, None]:
            self.begun += 1
            try:
                if self.begun == 1:
                    await self.stopped.wait()
            finally:
                await asyncio.sleep(0.05)
            stored = cut if self.begun == 1 else whole
            yield Finished(status="ok", lost=False, stored=stored)

        def cancel(self, run: str) -> None:
            self.stopped.set()

    async def check() -> None:
        traces = Traces(store_in(tmp_path), 1 << 20)
        runner = Lingering(1, 0, 1 << 30)
        queue = Queue(runner, traces, Metrics(), Settings())
        first = queue.enter("run", request, Client("here", "a"), background=leaves == "was the background")
        reading = asyncio.create_task(first.wait())
        await asyncio.sleep(0.01)
        if leaves == "goes away":
            reading.cancel()
        elif leaves == "stops it":
            assert queue.stop(first, Client("here", "a"))
        else:
            queue.enter("other", request, Client("here", "b"))
        await asyncio.sleep(0.01)
        assert queue.running == 1
        again = queue.enter("run", request, Client("here", "a"))
        assert queue.find("run") is again
        assert (await asyncio.wait_for(again.wait(), 10)).body == b"whole"
        await asyncio.gather(reading, return_exceptions=True)
        await queue.close()
        await traces.close()

    asyncio.run(check())


@pytest.mark.slow
def test_a_run_whose_worker_was_lost_is_tried_once_more(narrow: Served, clients: ThreadPoolExecutor) -> None:
    zygote = int(narrow.run("import os\nprint(os.getppid())")["output"][0]["text"])
    call = post(narrow, clients, Callers.program(0.5))
    wait_until(lambda: narrow.service.queue.running == 1)
    os.kill(zygote, signal.SIGKILL)
    trace = call.result().json()
    assert (trace["status"], trace.get("failure")) == ("ok", None)
    assert narrow.run("print('and on')")["status"] == "ok"


@pytest.mark.slow
def test_a_long_run_yields_only_to_newer_ones(yielding: Served) -> None:
    server, queue = yielding, yielding.service.queue
    wait_until(lambda: not queue._running)
    with ThreadPoolExecutor(2) as clients:
        endless = clients.submit(server.http.post, "/api/v1/runs", json={"code": "while True:\n    pass"})
        wait_until(lambda: any(live.slow for live in queue._running))
        (long,) = queue._running
        control = server.service.runner._controls[long.id]  # type: ignore[attr-defined]
        pid = control._child.pid
        assert os.sched_getscheduler(pid) == os.SCHED_OTHER
        newer = post(server, clients, Callers.program(LONG_S))
        wait_until(lambda: os.sched_getscheduler(pid) == os.SCHED_IDLE)
        (other,) = (live for live in queue._running if live is not long)
        server.http.delete(f"/api/v1/runs/{other.id}")
        assert newer.result().json()["status"] == "limited"
        wait_until(lambda: os.sched_getscheduler(pid) == os.SCHED_OTHER or os.getuid() != 0)
        server.http.delete(f"/api/v1/runs/{long.id}")
        assert endless.result().json()["status"] == "limited"
