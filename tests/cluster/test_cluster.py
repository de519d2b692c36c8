"""A cluster answers as one server does, from each of its nodes, and when one of them goes."""

import json
import re
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import httpx
import msgspec
import pytest

import engine
from engine import Trace
from tests.cluster.conftest import PATIENCE_S, Json, Nodes
from tests.golden import GALLERY
from tests.server.conftest import wait_until
from tools.cluster import Node

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

LEAF = "import torch\nx = torch.tensor(3.0, requires_grad=True)\n(x * x * {n}).backward()\nprint(x.grad.item())\n"
PLACES = 4
"""Runs that go on at once: of each worker one has a slot and one has yielded."""
SLEEP = "import time\nprint('begun', {n}, flush=True)\ntime.sleep({s})\nprint('done')\n"


@pytest.fixture
def callers() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(16) as pool:
        yield pool


def begin(nodes: Nodes, callers: ThreadPoolExecutor, code: str, node: int = 0) -> "Future[httpx.Response]":
    """Ask for a run without waiting for it."""
    return callers.submit(nodes.web[node].post, "/api/v1/runs", json={"code": code})


def accepted(nodes: Nodes, code: str, node: int = 0) -> str:
    """The id of a run that goes on although nobody waits for it."""
    answer = nodes.web[node].post("/api/v1/runs", json={"code": code}, headers={"Prefer": "respond-async"})
    assert answer.status_code == 202, answer.text
    run: str = answer.json()["id"]
    return run


def told(nodes: Nodes, run: str, node: int, until: str = "finished") -> list[tuple[str, Json]]:
    """The events of a run, as one node tells them, up to the first of a kind."""
    events: list[tuple[str, Json]] = []
    with nodes.web[node].stream("GET", f"/api/v1/runs/{run}/events") as answer:
        kind = ""
        for line in answer.iter_lines():
            if line.startswith("event: "):
                kind = line.removeprefix("event: ")
            elif line.startswith("data: "):
                events.append((kind, json.loads(line.removeprefix("data: "))))
                if kind in (until, "refused", "finished"):
                    break
    return events


def leader(nodes: Nodes) -> int:
    """The web node that leads, by the number it has among them."""
    led: list[int] = []

    def is_led() -> bool:
        name = nodes.health()["cluster"]["leader"]
        led[:] = [
            number
            for number, node in enumerate(nodes.cluster.web)
            if name and re.search(rb"this node leads\n", node.log.read_bytes()) and node.process.poll() is None
        ]
        return bool(name and led)

    wait_until(is_led, PATIENCE_S)
    return led[-1]


def worker_of(nodes: Nodes, run: str) -> Node:
    """The worker that has the run."""
    found: list[Node] = []

    def is_there() -> bool:
        word = f"run {run} begins".encode()
        found[:] = [node for node in nodes.cluster.workers if word in node.log.read_bytes()]
        return bool(found)

    wait_until(is_there, PATIENCE_S)
    return found[0]


def again(nodes: Nodes, node: Node) -> None:
    """Bring a killed worker back."""
    node.start_again()
    wait_until(lambda: len(nodes.health()["cluster"]["workers"]) == len(nodes.cluster.workers), PATIENCE_S)


def test_each_node_gives_what_another_one_ran(nodes: Nodes, number: int) -> None:
    trace = nodes.run(LEAF.format(n=number), node=0)
    assert trace["output"][0]["text"] == f"{6.0 * number}\n"
    for path in ("", "/graph", "/graph.dot"):
        here, there = (web.get(f"/api/v1/runs/{trace['id']}{path}") for web in nodes.web)
        assert (here.status_code, here.content) == (there.status_code, there.content)
        assert here.status_code == 200


KINDS = {
    "a lesson": (GALLERY / "mlp_module.py").read_text("utf-8"),
    "an error": (GALLERY / "error_in_place.py").read_text("utf-8"),
    "ranks": (GALLERY / "distributed_data_parallel.py").read_text("utf-8"),
    "random": "import torch, random\nx = torch.randn(4, requires_grad=True)\n(x * random.random()).sum().backward()\n",
    "no number": "import torch\nx = torch.tensor([0.0, -1.0, 9e99], requires_grad=True)\n(x.sqrt() / x).sum().backward()\n",
    "any letter": "import torch\n张量 = torch.ones(2, requires_grad=True)\nprint('é🎉\\u2028\\x00\\ud83d')\n(张量 * 2).sum().backward()\n",
    "no Python": "import torch\nx = (\n",
    "a crash": "import ctypes, torch\nx = torch.ones(2, requires_grad=True)\n(x * 2).sum().backward()\nctypes.string_at(0)\n",
    "a limit": "print('x' * 300_000)\n",
    "many nodes": "import torch\nx = torch.ones(2, requires_grad=True)\nfor _ in range(900):\n    x = x * 1.01\nx.sum().backward()\n",
}
TIMES = re.compile(r'"time_us":-?[\d.e+-]+|"timings":\{[^}]*\}')


@pytest.mark.parametrize("kind", KINDS)
def test_a_web_node_gives_the_trace_that_the_engine_gives_byte_for_byte(nodes: Nodes, kind: str) -> None:
    answer = nodes.web[1].post("/api/v1/runs", json={"code": KINDS[kind]})
    assert answer.status_code == 200, answer.text
    got = msgspec.json.decode(answer.content, type=Trace)
    alone = msgspec.json.encode(engine.run(KINDS[kind], got.limits)).decode()
    assert TIMES.sub("", answer.text) == TIMES.sub("", alone)


def test_each_node_gives_what_is_only_remembered(nodes: Nodes, number: int) -> None:
    trace = nodes.run(f"print({number})\nwhile True:\n    pass\n", node=1, limits={"wall_s": 0.3})
    assert trace["status"] == "limited"
    assert [web.get(f"/api/v1/runs/{trace['id']}").json()["status"] for web in nodes.web] == ["limited"] * 2


def test_a_snapshot_of_one_node_is_each_node_s(nodes: Nodes, number: int) -> None:
    run = nodes.run(LEAF.format(n=number), node=0)["id"]
    made = nodes.web[0].post("/api/v1/snapshots", json={"run": run, "view": {"step": 0, "lang": "en"}}).json()
    for path in (*(f"/s/{made['id']}{ending}" for ending in ("", ".json", ".py")), f"/embed/{run}"):
        here, there = (httpx.get(web.base_url.join(path), timeout=PATIENCE_S) for web in nodes.web)  # as a stranger
        assert (here.status_code, there.status_code) == (200, 200)
        assert _anywhere(here) == _anywhere(there)
    assert nodes.web[1].delete(f"/api/v1/snapshots/{made['id']}", headers={"Owner-Token": made["token"]}).is_success
    assert [web.get(f"/s/{made['id']}.json").is_success for web in nodes.web] == [False, False]


def _anywhere(answer: httpx.Response) -> str:
    """An answer without the address of the node that gave it."""
    return answer.text.replace(str(answer.url.port), "")


@pytest.mark.parametrize("node", [0, 1])
def test_each_node_tells_what_happens_to_a_run(nodes: Nodes, number: int, node: int) -> None:
    run = accepted(nodes, SLEEP.format(n=number, s=2), node=1 - node)
    events = told(nodes, run, node)
    kinds = [kind for kind, _ in events if kind not in ("waiting", "progress")]
    assert (kinds[0], kinds[-1]) == ("started", "finished")
    assert "".join(data["text"] for kind, data in events if kind == "output") == f"begun {number}\ndone\n"


def test_the_same_program_on_two_nodes_is_run_once(nodes: Nodes, number: int, callers: ThreadPoolExecutor) -> None:
    code = SLEEP.format(n=number, s=1)
    answers = [begin(nodes, callers, code, node).result() for node in (0, 1)]
    assert answers[0].json() == answers[1].json()


def test_who_asked_may_cancel_on_another_node(nodes: Nodes, number: int, callers: ThreadPoolExecutor) -> None:
    run = accepted(nodes, SLEEP.format(n=number, s=9), node=0)
    told(nodes, run, 1, until="output")
    ended = nodes.web[1].delete(f"/api/v1/runs/{run}")
    assert (ended.status_code, ended.json()["failure"]["type"]) == (200, "cancelled")
    assert ended.json()["output"][0]["text"] == f"begun {number}\n"


def test_who_waits_may_cancel(nodes: Nodes, number: int) -> None:
    held = [accepted(nodes, SLEEP.format(n=f"{number}, {each}", s=9)) for each in range(PLACES)]
    for run in held:
        told(nodes, run, 0, until="output")
    waiting = accepted(nodes, SLEEP.format(n=f"{number}, 'waits'", s=0), node=1)
    (kind, place), *_ = told(nodes, waiting, 0, until="waiting")
    assert (kind, place["run"]) == ("waiting", waiting)
    assert nodes.web[0].get(f"/api/v1/runs/{waiting}").status_code == 409
    assert nodes.web[0].delete(f"/api/v1/runs/{waiting}").status_code == 204
    for run in held:
        assert nodes.web[1].delete(f"/api/v1/runs/{run}").status_code == 200


def test_a_run_whose_worker_is_killed_is_done_elsewhere(nodes: Nodes, number: int, callers: ThreadPoolExecutor) -> None:
    before = nodes.health()["cluster"]["redelivered"]
    code = SLEEP.format(n=number, s=3)
    call = begin(nodes, callers, code)
    wait_until(lambda: any(map(_has_begun, nodes.cluster.workers)), PATIENCE_S)
    killed = next(node for node in nodes.cluster.workers if _has_begun(node))
    killed.kill()
    trace = call.result().json()
    assert (trace["status"], [each["text"] for each in trace["output"]]) == ("ok", [f"begun {number}\n", "done\n"])
    assert nodes.health()["cluster"]["redelivered"] == before + 1
    again(nodes, killed)


def test_a_worker_told_to_stop_ends_what_it_has(nodes: Nodes, number: int) -> None:
    before = nodes.health()["cluster"]["redelivered"]
    run = accepted(nodes, SLEEP.format(n=number, s=3))
    stopped = worker_of(nodes, run)
    stopped.process.terminate()
    assert stopped.process.wait(PATIENCE_S) == 0
    told(nodes, run, 1)
    assert nodes.web[1].get(f"/api/v1/runs/{run}").json()["status"] == "ok"
    assert nodes.health()["cluster"]["redelivered"] == before
    again(nodes, stopped)


def test_a_run_outlives_the_leader(nodes: Nodes, number: int, callers: ThreadPoolExecutor) -> None:
    led = leader(nodes)
    other = 1 - led
    code = SLEEP.format(n=number, s=3)
    run = accepted(nodes, code, node=other)
    call = begin(nodes, callers, code, other)
    told(nodes, run, other, until="output")
    nodes.cluster.web[led].kill()
    assert call.result().json()["status"] == "ok"
    assert nodes.web[other].get(f"/api/v1/runs/{run}").json()["status"] == "ok"
    nodes.cluster.web[led].start_again()
    wait_until(lambda: len(nodes.cluster.addresses) == len(nodes.web), PATIENCE_S)
    assert nodes.run(code, node=led)["id"] == run


def test_a_run_outlives_the_broker(nodes: Nodes, number: int, callers: ThreadPoolExecutor) -> None:
    code = SLEEP.format(n=number, s=3)
    run = accepted(nodes, code)
    told(nodes, run, 1, until="output")
    call = begin(nodes, callers, code, 1)
    nodes.cluster.broker.kill()
    nodes.cluster.broker.start_again()
    assert call.result().json()["status"] == "ok"
    assert nodes.run(LEAF.format(n=number))["status"] == "ok"


def _has_begun(node: Node) -> bool:
    said = node.log.read_bytes()
    return said.count(b" begins\n") > said.count(b" ended: ")
