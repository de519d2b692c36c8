"""Whatever process of a cluster goes, every run is answered, or told by a sentence with a time to come back; none has
two answers, and no slot is lost."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import httpx
import pytest

from tests.cluster.conftest import PATIENCE_S, Json, Nodes
from tests.cluster.namespaces import are_possible
from tests.server.conftest import wait_until
from tools.cluster import Node

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

TURN = "import time\nimport torch\ntime.sleep(0.1)\nx = torch.tensor(3.0, requires_grad=True)\n(x * x * {n}).backward()\nprint(x.grad.item())\n"
LONG = "import time\nprint({n}, flush=True)\nfor _ in range(60):\n    time.sleep(0.1)\nprint('done')\n"
LOAD = 40
TOLD = ("no-leader", "no-worker", "no-node", "store-down", "cancelled", "queue-full")
"""Sentences of which each says that nothing is wrong with the program."""


@pytest.fixture
def whole(nodes: Nodes) -> Iterator[Nodes]:
    """The cluster, with all that earlier tests took from it."""
    cluster = nodes.cluster
    for node in (cluster.broker, *cluster.workers, *cluster.web):
        if node.process.poll() is not None:
            node.start_again()
    cluster.postgres.start()
    with ExitStack() as held:
        clients = (httpx.Client(base_url=each, timeout=PATIENCE_S) for each in cluster.addresses)
        ready = replace(nodes, web=tuple(map(held.enter_context, clients)))
        wait_until(lambda: all(is_whole(ready, node) for node in range(len(ready.web))), PATIENCE_S)
        yield ready


@pytest.fixture
def callers() -> Iterator[ThreadPoolExecutor]:
    """Learners that wait for an answer."""
    with ThreadPoolExecutor(LOAD) as pool:
        yield pool


def is_whole(nodes: Nodes, node: int) -> bool:
    """Whether a web node knows a leader and all workers, and nothing goes on."""
    try:
        health = nodes.health(node)
    except httpx.HTTPError:
        return False
    cluster = health.get("cluster") or {}
    names = {worker["name"] for worker in cluster.get("workers", ())}
    all_there = names == {worker.name for worker in nodes.cluster.workers} and cluster.get("leader") is not None
    return bool(all_there and not health["running"] and not health["waiting"])


def asked(nodes: Nodes, code: str, node: int) -> httpx.Response:
    """The answer to a run; where a web node is gone its balancer asks the other one."""
    for turn in range(4 * len(nodes.web)):
        try:
            return nodes.web[(node + turn) % len(nodes.web)].post("/api/v1/runs", json={"code": code})
        except httpx.TransportError:
            continue
    raise AssertionError("no web node takes a request")


def begin(nodes: Nodes, callers: ThreadPoolExecutor, code: str, node: int = 0) -> "Future[httpx.Response]":
    """Ask for a run without waiting for it."""
    return callers.submit(asked, nodes, code, node)


def check(answer: httpx.Response, says: str) -> bool:
    """Whether it is the right trace; else it has to be a sentence with a time to come back."""
    body: Json = answer.json()
    if answer.status_code == 200:
        assert body["status"] == "ok", body["failure"]
        assert "".join(each["text"] for each in body["output"]) == says
        return True
    key = body["type"].removeprefix("urn:gradgraph:problem:")
    assert answer.status_code == 503 and key in TOLD, body
    assert body["detail"] and int(answer.headers["retry-after"]) > 0
    return False


def is_right(nodes: Nodes, code: str, node: int, says: str) -> bool:
    """Whether a run asked of this node is answered rightly now."""
    return check(asked(nodes, code, node), says)


def worker_of(nodes: Nodes, run: str, besides: Node | None = None) -> Node:
    """The worker that performs a run; waits until one does."""
    found: list[Node] = []

    def is_there() -> bool:
        said = f"run {run} begins".encode()
        found[:] = [node for node in nodes.cluster.workers if node is not besides and said in node.log.read_bytes()]
        return bool(found)

    wait_until(is_there, PATIENCE_S)
    return found[0]


def accepted(nodes: Nodes, code: str) -> str:
    """The id of a run that goes on although nobody waits for it."""
    answer = nodes.web[0].post("/api/v1/runs", json={"code": code}, headers={"Prefer": "respond-async"})
    assert answer.status_code == 202, answer.text
    run: str = answer.json()["id"]
    return run


def leading(nodes: Nodes) -> int:
    """The web node that leads: the one whose log said last that it does."""
    led = [
        (node.log.stat().st_mtime_ns, number)
        for number, node in enumerate(nodes.cluster.web)
        if node.log.read_bytes().count(b"this node leads\n") > node.log.read_bytes().count(b"leads no more")
    ]
    return max(led)[1]


@contextmanager
def halted(node: Node) -> Iterator[None]:
    """The network between a node and all others is cut, as far as they can see."""
    os.kill(node.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(node.process.pid, signal.SIGCONT)


def all_slots_are_free(nodes: Nodes, callers: ThreadPoolExecutor, mark: str) -> None:
    """As many runs as there are slots go on at the same time."""
    slots = sum(worker["slots"] for worker in nodes.health()["cluster"]["workers"])
    calls = [begin(nodes, callers, LONG.format(n=f"'{mark}', {each}")) for each in range(slots)]
    wait_until(lambda: bool(nodes.health()["running"] == slots), PATIENCE_S)
    for call in calls:
        assert call.result().json()["status"] == "ok"
    wait_until(lambda: all(is_whole(nodes, node) for node in range(len(nodes.web))), PATIENCE_S)


def kill_worker(nodes: Nodes) -> None:
    nodes.cluster.workers[0].kill()
    nodes.cluster.workers[0].start_again()


def kill_leader(nodes: Nodes) -> None:
    nodes.cluster.web[leading(nodes)].kill()


def kill_follower(nodes: Nodes) -> None:
    nodes.cluster.web[1 - leading(nodes)].kill()


def kill_broker(nodes: Nodes) -> None:
    nodes.cluster.broker.kill()
    nodes.cluster.broker.start_again()


def kill_postgres(nodes: Nodes) -> None:
    nodes.cluster.postgres.kill()
    nodes.cluster.postgres.start()


@pytest.mark.parametrize("kill", [kill_worker, kill_leader, kill_follower, kill_broker, kill_postgres])
def test_every_run_is_answered_while_a_process_is_killed(
    whole: Nodes, callers: ThreadPoolExecutor, number: int, kill: Callable[[Nodes], None]
) -> None:
    calls = {begin(whole, callers, TURN.format(n=1000 * number + each), each % 2): each for each in range(LOAD)}
    killing = threading.Thread(target=kill, args=(whole,))
    right: dict[str, bytes] = {}
    for count, call in enumerate(as_completed(calls)):
        if count == LOAD // 8:
            killing.start()
        answer = call.result()
        if check(answer, f"{6.0 * (1000 * number + calls[call])}\n"):
            right[answer.json()["id"]] = answer.content
    killing.join()
    assert len(right) >= LOAD // 2, "most of them need not have been refused"
    living = [web for web, node in zip(whole.web, whole.cluster.web, strict=True) if node.process.poll() is None]
    for run, body in right.items():
        for web in living:
            assert web.get(f"/api/v1/runs/{run}").content == body, "it has two answers"


CUTS = ("leader broker", "follower broker", "worker broker", "leader store", "follower store")


@pytest.fixture(scope="module")
def no_cables() -> None:
    """Skips where real cables are cut."""
    if are_possible():
        pytest.skip("test_namespaces.py cuts the kernel's own network")


@pytest.mark.parametrize("cut", CUTS)
def test_every_run_is_answered_while_the_network_between_two_is_cut(
    no_cables: None, whole: Nodes, callers: ThreadPoolExecutor, number: int, cut: str
) -> None:
    answered_while_cut(whole, callers, number, cut)


def answered_while_cut(whole: Nodes, callers: ThreadPoolExecutor, number: int, cut: str) -> None:
    """The network between two is cut in the middle of a load, and comes back when all are answered."""
    who, there = cut.split()
    led = leading(whole)
    cluster = whole.cluster
    node = {"leader": cluster.web[led], "follower": cluster.web[1 - led], "worker": cluster.workers[0]}[who]
    codes = [TURN.format(n=1000 * number + each) for each in range(LOAD)]
    says = [f"{6.0 * (1000 * number + each)}\n" for each in range(LOAD)]
    before = [begin(whole, callers, code, each % 2) for each, code in enumerate(codes[: LOAD // 2])]
    next(as_completed(before))
    with whole.wires[node.name, there].cut():
        calls = before + [begin(whole, callers, code, each % 2) for each, code in enumerate(codes[LOAD // 2 :])]
        answers = [call.result() for call in calls]  # all of them while it is cut
    right = [answer for answer, text in zip(answers, says, strict=True) if check(answer, text)]
    assert len(right) >= LOAD // 4, "the other nodes go on"
    wait_until(lambda: all(is_whole(whole, each) for each in range(2)), PATIENCE_S)
    for answer in right:
        for web in whole.web:
            again = web.get(f"/api/v1/runs/{answer.json()['id']}")
            assert again.status_code != 200 or again.content == answer.content, "it has two answers"
    all_slots_are_free(whole, callers, f"{cut} {number}")


def test_a_node_without_its_queue_says_so_and_gives_what_is_kept(whole: Nodes, number: int) -> None:
    follower = 1 - leading(whole)
    run = whole.run(TURN.format(n=1000 * number), node=1 - follower)["id"]
    with whole.wires[whole.cluster.web[follower].name, "broker"].cut():
        wait_until(lambda: bool(whole.health(follower)["status"] == "down"), PATIENCE_S)
        for path in ("/api/v1/health", f"/api/v1/runs/{run}", f"/api/v1/runs/{run}/graph"):
            assert whole.web[follower].get(path).status_code == 200
        assert whole.health(1 - follower)["status"] == "ok"


def test_a_node_without_its_store_says_so_and_runs_what_is_new(whole: Nodes, number: int) -> None:
    node = leading(whole)
    with whole.wires[whole.cluster.web[node].name, "store"].cut():
        wait_until(lambda: bool(whole.health(node)["store"] == "it does not answer"), PATIENCE_S)
        assert whole.health(node)["status"] == "ok"
        assert is_right(whole, TURN.format(n=1000 * number), node, f"{6000.0 * number}\n")


def test_slots_are_free_again_after_all_that(whole: Nodes, callers: ThreadPoolExecutor, number: int) -> None:
    all_slots_are_free(whole, callers, f"after {number}")


def test_a_run_that_costs_two_workers_is_lost_and_refused_for_a_while(
    whole: Nodes, callers: ThreadPoolExecutor, number: int
) -> None:
    code = LONG.format(n=f"'deadly', {number}")
    run = accepted(whole, code)
    call = begin(whole, callers, code)
    first = worker_of(whole, run)
    first.kill()
    worker_of(whole, run, besides=first).kill()
    answer = call.result()
    assert answer.json()["failure"]["kind"] == "lost", answer.text
    for node in (first, *whole.cluster.workers):
        if node.process.poll() is not None:
            node.start_again()
    wait_until(lambda: all(is_whole(whole, node) for node in range(len(whole.web))), PATIENCE_S)
    refused = asked(whole, code, 1)
    assert refused.status_code == 503, refused.text
    assert refused.json()["type"] == "urn:gradgraph:problem:costs-workers"
    assert 0 < int(refused.headers["retry-after"]) <= 60
    assert is_right(whole, TURN.format(n=1000 * number), 0, f"{6000.0 * number}\n")


def test_a_worker_that_is_cut_off_is_replaced_and_its_late_answer_is_nobody_s(
    whole: Nodes, callers: ThreadPoolExecutor, number: int
) -> None:
    code = LONG.format(n=f"'cut', {number}")
    run = accepted(whole, code)
    call = begin(whole, callers, code)
    cut = worker_of(whole, run)
    with halted(cut):
        worker_of(whole, run, besides=cut)
        body = call.result().content
    wait_until(lambda: is_whole(whole, 0), PATIENCE_S)
    assert [web.get(f"/api/v1/runs/{run}").content for web in whole.web] == [body] * len(whole.web)
    all_slots_are_free(whole, callers, f"cut {number}")


def test_a_leader_that_is_cut_off_leads_no_more_when_it_is_back(
    whole: Nodes, callers: ThreadPoolExecutor, number: int
) -> None:
    led = leading(whole)
    run = accepted(whole, LONG.format(n=f"'cut leader', {number}"))
    worker_of(whole, run)
    before = whole.health(1 - led)["cluster"]["leader"]
    call = begin(whole, callers, LONG.format(n=f"'cut leader', {number}"), 1 - led)
    with halted(whole.cluster.web[led]):
        wait_until(lambda: whole.health(1 - led)["cluster"]["leader"] not in (None, before), PATIENCE_S)
        assert check(call.result(), f"cut leader {number}\ndone\n")
        assert is_right(whole, TURN.format(n=1000 * number), 1 - led, f"{6000.0 * number}\n")
    wait_until(lambda: is_whole(whole, led), PATIENCE_S)
    # whoever it is: on a busy machine the one that took over may have lost its lease since
    wait_until(lambda: len({whole.health(node)["cluster"]["leader"] for node in (led, 1 - led)}) == 1, PATIENCE_S)
    for node in range(len(whole.web)):
        assert check(
            asked(whole, TURN.format(n=1000 * number + 1 + node), node), f"{6.0 * (1000 * number + 1 + node)}\n"
        )


def test_a_broker_that_comes_back_without_its_files_has_them_made_again(whole: Nodes, number: int) -> None:
    whole.cluster.broker.kill()
    store = whole.cluster.folder / "jetstream"
    store.rename(store.with_name(f"jetstream-{number}"))
    whole.cluster.broker.start_again()
    for node in range(len(whole.web)):
        n = 1000 * number + node
        wait_until(partial(is_right, whole, TURN.format(n=n), node, f"{6.0 * n}\n"), PATIENCE_S)


def test_a_worker_knows_no_store(whole: Nodes) -> None:
    for worker in whole.cluster.workers:
        environment = Path(f"/proc/{worker.process.pid}/environ").read_bytes()
        assert b"GRADGRAPH_RUNNER=" in environment
        assert b"postgresql" not in environment
