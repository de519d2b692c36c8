"""Things break while people use the service: every answer is a trace or a clear refusal, and it recovers by itself.

A server process of its own, so that all it holds can be counted: processes, descriptors, temporary files, memory.
"""

import asyncio
import json
import os
import random
import resource
import secrets
import signal
import sqlite3
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPConnection
from itertools import count, islice
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import soak
from tests.soak import Server, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

Json = dict[str, Any]

QUIET = {"warm_gallery": 0, "rate_per_s": 0}
SPARES = 2
AT_REST = 4 + SPARES
"""Its processes: the server, the two that make large traces, the warm one and the spare ones."""
STORE_FILES = 12
"""The store opens its file for each of its four threads when the thread is first needed, with two files beside it."""
NUMBERS = count(1)
"""Each makes a program that the server has not met, whose trace is in no store."""
REFUSALS = {429: ("too-many-runs",), 503: ("queue-full", "no-worker", "cancelled", "stopped")}


def lesson(number: int) -> str:
    leaf = "import torch\nx = torch.tensor(3.0, requires_grad=True)\n"
    return f"{leaf}(x * x * {number}).backward()\nprint(x.grad.item())\n"


def sleeps(number: int, seconds: float = 30) -> str:
    return f"import time\nprint('begun {number}\\n', end='')\ntime.sleep({seconds})\n"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the server's store."""
    return tmp_path_factory.mktemp("faults") / "store"


@pytest.fixture(scope="module")
def at(store: Path) -> Iterator[Server]:
    """One server for all the faults that it outlives; then it is killed."""
    with soak.server(store, workers=2, **QUIET) as started:
        yield started
        leaves_no_process(started, signal.SIGKILL)


@pytest.fixture
def fresh(at: Server) -> soak.Holding:
    """What the server holds after some runs and before the fault."""
    for _ in range(4):
        works(at)
    return settled(at)


def settled(at: Server) -> soak.Holding:
    """What it holds when nothing runs and its spare processes are there again.

    Counted at once: a process on its way out may be gone when one looks again."""
    held: list[soak.Holding] = []

    def is_at_rest() -> bool:
        held.append(at.holding())
        return held[-1].processes == AT_REST

    wait_for(is_at_rest)
    return held[-1]


def run(at: Server, code: str, **more: object) -> httpx.Response:
    return at.http.post("/api/v1/runs", json={"code": code, **more})


def works(at: Server) -> None:
    """A lesson that the server has not met gets its right answer."""
    number = next(NUMBERS)
    answer = run(at, lesson(number))
    assert answer.status_code == 200, answer.text
    assert answer.json()["output"][0]["text"] == f"{6.0 * number}\n", answer.json()["failure"]


def outcome(answer: httpx.Response) -> str:
    """What came of a run in one word; fails for what is neither a trace nor a clear refusal."""
    body: Json = answer.json()
    if answer.status_code == 200:
        failure = body["failure"]
        return str(body["status"]) if failure is None else f"{body['status']} {failure['kind']} {failure['type']}"
    key = body["type"].removeprefix("urn:gradgraph:problem:")
    assert key in REFUSALS[answer.status_code], answer.text
    assert body["detail"]
    assert int(answer.headers["retry-after"]) > 0
    return str(key)


def held_as_before(at: Server, fresh: soak.Holding) -> None:
    """It works, and holds no more than it did."""
    works(at)
    works(at)
    wait_for(lambda: at.holding().processes <= fresh.processes, said=lambda: soak.family(at.pid))
    wait_for(lambda: at.holding().descriptors <= fresh.descriptors + STORE_FILES)
    wait_for(lambda: at.holding().folders <= fresh.folders + 2)
    wait_for(lambda: [health(at)[name] for name in ("status", "running", "waiting")] == ["ok", 0, 0])


def health(at: Server) -> Json:
    body: Json = at.http.get("/api/v1/health").json()
    return body


def zygote(at: Server) -> int:
    """The warm process: the only child of the server that has children."""
    found: list[int] = []

    def is_there() -> bool:
        found.extend(pid for pid in soak.children(at.pid) if soak.descendants(pid))
        return bool(found)

    wait_for(is_there)
    return found[0]


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def spares_lost(at: Server, killed: Callable[[], list[int]]) -> None:
    """Kills them when all spare processes are there; these end with them, and the server has heard of it."""
    settled(at)
    family = soak.descendants(zygote(at))
    gone = killed()
    for pid in gone:
        kill(pid)
    wait_for(lambda: not any(map(soak.is_alive, {*gone, *family})))
    for _ in range(2):
        health(at)  # turns of the server, in which it hears


def leaves_no_process(at: Server, how: signal.Signals) -> None:
    """Stopped while programs run; the last thing that is done to a server."""
    with ThreadPoolExecutor(4) as clients:
        calls = [clients.submit(run, at, sleeps(number)) for number in islice(NUMBERS, 4)]
        wait_for(lambda: health(at)["running"] >= 2)
        family = soak.descendants(at.pid)
        assert len(family) > 2
        os.kill(at.pid, how)
        wait_for(lambda: not any(map(soak.is_alive, family)))
        for call in calls:
            with suppress(httpx.TransportError):
                assert call.result().status_code in (200, 503)
        if how != signal.SIGKILL:
            wait_for(lambda: not soak.is_alive(at.pid))
            assert not list(at.temporary.rglob("*"))


def test_workers_killed_before_they_get_a_program(at: Server, fresh: soak.Holding) -> None:
    for _ in range(6):
        spares_lost(at, lambda: soak.children(zygote(at)))
        works(at)
    held_as_before(at, fresh)


def test_a_worker_killed_in_the_middle_keeps_what_it_said(at: Server, fresh: soak.Holding) -> None:
    number = next(NUMBERS)
    body = {"code": sleeps(number)}
    accepted = at.http.post("/api/v1/runs", json=body, headers={"Prefer": "respond-async"})
    with at.http.stream("GET", accepted.json()["events"]) as told:
        for line in told.iter_lines():
            if line == "event: output":
                for child in soak.children(zygote(at)):
                    kill(child)
    trace = at.http.get(accepted.headers["location"]).json()
    assert (trace["status"], trace["failure"]["kind"], trace["failure"]["type"]) == ("crashed", "crash", "SIGKILL")
    assert trace["output"][0]["text"] == f"begun {number}\n"
    held_as_before(at, fresh)


def test_workers_killed_at_any_moment(at: Server, fresh: soak.Holding) -> None:
    choose = random.Random(4)
    over = threading.Event()
    turn = threading.Semaphore(0)
    warm = zygote(at)

    def answered(number: int) -> str:
        end = outcome(run(at, lesson(number)))
        if number % 2:
            turn.release()
        return end

    def murder() -> None:
        while turn.acquire() and not over.is_set():
            time.sleep(choose.uniform(0, 0.04))
            if victims := soak.children(warm):
                kill(choose.choice(victims))

    murderer = threading.Thread(target=murder)
    murderer.start()
    try:
        with ThreadPoolExecutor(4) as clients:
            came = Counter(clients.map(answered, islice(NUMBERS, 150)))
    finally:
        over.set()
        turn.release()
        murderer.join()
    assert set(came) <= {"ok", "crashed crash SIGKILL", "no-worker", "crashed lost worker"}, came
    assert came["ok"] > 20, came
    held_as_before(at, fresh)


def test_the_warm_process_killed_while_nothing_runs(at: Server, fresh: soak.Holding) -> None:
    for _ in range(2):  # the one that replaced it is lost too
        spares_lost(at, lambda: [zygote(at)])
        works(at)
    held_as_before(at, fresh)


def test_the_warm_process_killed_under_load(at: Server, fresh: soak.Holding) -> None:
    with ThreadPoolExecutor(6) as clients:
        calls = [clients.submit(run, at, lesson(number)) for number in islice(NUMBERS, 120)]
        for _ in range(2):
            time.sleep(0.4)
            kill(zygote(at))
        came = Counter(outcome(call.result()) for call in calls)
    assert set(came) <= {"ok", "no-worker", "crashed lost worker"}, came
    assert came["ok"] >= 100, came  # a run whose worker was lost is tried once more
    held_as_before(at, fresh)


def test_clients_that_go_away_in_the_middle(at: Server, fresh: soak.Holding) -> None:
    choose = random.Random(7)

    def go(number: int) -> None:
        code = sleeps(number) if number % 2 else lesson(number)
        with suppress(httpx.TransportError):
            at.http.post("/api/v1/runs", json={"code": code}, timeout=choose.uniform(0.005, 0.3))

    with ThreadPoolExecutor(16) as clients:
        list(clients.map(go, islice(NUMBERS, 200)))
    wait_for(lambda: health(at)["running"] == 0)
    held_as_before(at, fresh)


def test_a_burst_of_thousands_and_a_stop(tmp_path: Path) -> None:
    """2,400 runs at once for a queue of 64."""
    with soak.server(tmp_path / "store", workers=2, queue=64, per_address=10**6, **QUIET) as at:
        works(at)
        before = settled(at)
        came, wrong = asyncio.run(burst(at, 2_400, 300))
        assert not wrong, wrong[:3]
        assert set(came) <= {"right", "queue-full"}, came
        assert came["right"] >= 64, came
        assert came["queue-full"] > 0, came
        held_as_before(at, before)
        assert at.holding().rss_bytes - before.rss_bytes < 80 * 1024**2
        leaves_no_process(at, signal.SIGTERM)


async def burst(at: Server, count: int, connections: int) -> tuple[Counter[str], list[str]]:
    """Different runs over some connections as fast as it goes; how often what came of them."""
    host, port = at.address.removeprefix("http://").split(":")
    came: Counter[str] = Counter()
    wrong: list[str] = []
    numbers = islice(NUMBERS, count)

    async def press() -> None:
        reader, writer = await asyncio.open_connection(host, int(port))
        for number in numbers:
            body = json.dumps({"code": lesson(number)}).encode()
            head = (
                "POST /api/v1/runs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n"
            )
            writer.write(head.encode() + body)
            said = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(said.split("content-length:")[1].split("\r\n")[0])
            answer = json.loads(await reader.readexactly(length))
            if " 200 " in said.splitlines()[0]:
                right = answer["status"] == "ok" and answer["output"][0]["text"] == f"{6.0 * number}\n"
                came["right" if right else "wrong"] += 1
                if not right:
                    wrong.append(str(answer["failure"]))
            else:
                came[answer["type"].removeprefix("urn:gradgraph:problem:")] += 1
                if "retry-after" not in said:
                    wrong.append(said)
        writer.close()

    await asyncio.gather(*(press() for _ in range(connections)))
    return came, wrong


@pytest.fixture
def few_descriptors(at: Server, fresh: soak.Holding) -> Iterator[None]:
    """The server may open few more than it has."""
    used = fresh.descriptors or 60
    allowed = resource.prlimit(at.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(at.pid, resource.RLIMIT_NOFILE, (used + 12, allowed[1]))
    yield
    resource.prlimit(at.pid, resource.RLIMIT_NOFILE, allowed)


@pytest.mark.usefixtures("few_descriptors")
def test_more_connections_than_descriptors(at: Server, fresh: soak.Holding) -> None:
    """While they are all taken, runs wait or are refused; afterwards it goes on."""
    open_connections = []
    with ThreadPoolExecutor(4) as clients:
        calls = [clients.submit(run, at, sleeps(number, 0.2)) for number in islice(NUMBERS, 8)]
        for _ in range(40):
            client = httpx.Client(verify=False)
            with suppress(httpx.TransportError):
                client.get(f"{at.address}/api/v1/health", timeout=0.2)
            open_connections.append(client)
        for client in open_connections:
            client.close()
        came = Counter(outcome(call.result()) for call in calls)
    assert set(came) <= {"ok", "no-worker", "crashed lost worker"}, came
    held_as_before(at, fresh)


def test_a_store_that_is_locked(at: Server, store: Path, fresh: soak.Holding) -> None:
    stored = run(at, lesson(next(NUMBERS))).headers["content-location"]
    other = sqlite3.connect(store / "gradgraph.sqlite3", timeout=1)
    other.execute("BEGIN EXCLUSIVE")
    works(at)
    wait_for(lambda: health(at)["store"] != "ok")
    assert at.http.get(stored).status_code == 200
    other.rollback()
    other.close()
    works(at)
    wait_for(lambda: health(at)["store"] == "ok")
    held_as_before(at, fresh)


def test_a_store_that_is_damaged(at: Server, store: Path, fresh: soak.Holding) -> None:
    file = store / "gradgraph.sqlite3"
    for ending in ("-wal", "-shm", ""):
        with suppress(FileNotFoundError):
            size = Path(f"{file}{ending}").stat().st_size
            Path(f"{file}{ending}").write_bytes(os.urandom(max(size, 8192)))
    for _ in range(4):
        works(at)
    wait_for(lambda: health(at)["store"] == "ok")
    assert list(file.parent.glob("*.damaged-*")), "it was not set aside"
    stored = run(at, lesson(next(NUMBERS))).headers["content-location"]
    assert at.http.get(stored).json()["status"] == "ok"
    held_as_before(at, fresh)


def test_a_full_disk_and_an_interrupt(tmp_path: Path) -> None:
    """No file of the server may grow beyond what the store has."""
    with soak.server(tmp_path / "store", workers=2, memory_cache_bytes=0, **QUIET) as at:
        stored = run(at, lesson(next(NUMBERS))).headers["content-location"]
        works(at)
        fresh = settled(at)
        largest = max(file.stat().st_size for file in (tmp_path / "store").iterdir())
        resource.prlimit(at.pid, resource.RLIMIT_FSIZE, (largest, resource.RLIM_INFINITY))
        for _ in range(10):
            works(at)
        assert at.http.get(stored).json()["status"] == "ok"
        resource.prlimit(at.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        works(at)
        wait_for(lambda: health(at)["store"] == "ok")
        held_as_before(at, fresh)
        leaves_no_process(at, signal.SIGINT)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 4 MiB, where this user may make one."""
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", tmp_path], check=False).returncode:
        pytest.skip("this user may not make a disk")
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)


def test_a_snapshot_that_the_disk_has_no_room_for_is_refused_and_those_there_open(small_disk: Path) -> None:
    with soak.server(small_disk, workers=1, **QUIET) as at:

        def keep(run_id: str) -> httpx.Response:
            body = {"run": run_id, "view": {"step": 0, "lang": "en"}}
            return httpx.post(f"{at.address}/api/v1/snapshots", json=body, timeout=60)

        here = run(at, lesson(90)).json()["id"]
        kept = keep(here)
        assert kept.status_code == 201, kept.text
        filling = small_disk / "filling"
        with suppress(OSError), filling.open("wb", buffering=0) as file:
            while file.write(b"x" * 4096):
                pass
        large = run(at, f"{lesson(91)}\n# {secrets.token_hex(30_000)}").json()["id"]
        refused = keep(large)
        assert (refused.status_code, refused.json()["type"]) == (503, "urn:gradgraph:problem:store-down")
        assert "no more can be kept" in refused.json()["detail"]
        assert httpx.get(f"{at.address}{kept.json()['url']}.json").status_code == 200
        filling.unlink()
        assert keep(large).status_code == 201
        works(at)
        wait_for(lambda: health(at)["store"] == "ok")


def test_no_place_for_temporary_files(at: Server, fresh: soak.Holding) -> None:
    """The warm process is lost and another cannot get its folder: a clear refusal, until there is room again."""
    moved = at.temporary.with_name(at.temporary.name + "-moved")
    at.temporary.rename(moved)
    spares_lost(at, lambda: [zygote(at)])
    assert outcome(run(at, lesson(next(NUMBERS)))) == "no-worker"
    moved.rename(at.temporary)
    held_as_before(at, fresh)


@pytest.mark.slow
def test_a_connection_that_idled_for_a_while_is_still_good(at: Server) -> None:
    address = httpx.URL(at.address)
    connection = HTTPConnection(address.host, address.port)
    for pause_s in (6, 0):  # uvicorn by itself closes after 5
        connection.request("GET", "/api/v1/health")
        assert connection.getresponse().read()
        time.sleep(pause_s)
    connection.close()
