"""A room is the same on every web node, and outlives the broker's memory."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from tests.cluster.conftest import PATIENCE_S, Json, Nodes
from tests.server.conftest import wait_until
from tests.server.test_rooms import ASKS, Heard

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def opened(nodes: Nodes, number: int) -> tuple[str, dict[str, str]]:
    """The path of a room that the first node opened, and its teacher's headers."""
    run = nodes.run(ASKS.format(number=number))["id"]
    answer = nodes.web[0].post("/api/v1/rooms", json={"run": run})
    assert answer.status_code == 201, answer.text
    made = answer.json()
    return f"/api/v1/rooms/{made['code']}", {"Owner-Token": made["token"]}


def asked(web: httpx.Client, path: str, teacher: dict[str, str], question: int, **more: object) -> None:
    answer = web.put(f"{path}/question", json={"question": question, **more}, headers=teacher)
    assert answer.status_code == 204, answer.text


def answered(web: httpx.Client, path: str, learner: str, answer: str) -> httpx.Response:
    body = {"question": 0, "answer": answer}
    return web.put(f"{path}/answer", json=body, headers={"Gradgraph-Session": learner})


@contextmanager
def heard(web: httpx.Client, path: str, headers: dict[str, str]) -> Iterator[Heard]:
    with web.stream("GET", f"{path}/events", headers=headers) as answer:
        assert answer.status_code == 200, answer.read()
        yield Heard(answer.iter_lines())


def spread_of(state: Json) -> dict[str, int]:
    return dict(state["answers"])


def test_learners_of_another_node_are_asked_and_counted(nodes: Nodes, number: int) -> None:
    here, there = nodes.web
    path, teacher = opened(nodes, number)
    assert there.get(path).json()["question"] is None, "a node that has not heard of it asks the board"
    with heard(here, path, teacher) as leads, heard(there, path, {"Gradgraph-Session": "ann"}) as ann:
        asked(here, path, teacher, 0)
        ann.until(lambda state: bool(state["question"] == 0))
        for learner, answer, web in (("ann", "10", there), ("ben", "7", here), ("ann", "12", here)):
            assert answered(web, path, learner, answer).status_code == 204
        leads.until(lambda state: spread_of(state) == {"12": 1, "7": 1})
        asked(there, path, teacher, 0, is_revealed=True)
        ann.until(lambda state: bool(state["is_revealed"]))
        assert leads.until(lambda state: bool(state["is_revealed"]))["learners"] == 2
        assert there.delete(path, headers=teacher).status_code == 204
        assert ann.is_closed() and leads.is_closed()
    wait_until(lambda: [web.get(path).status_code for web in nodes.web] == [404, 404], PATIENCE_S)


def test_a_room_outlives_the_memory_of_the_broker(nodes: Nodes, number: int) -> None:
    here, there = nodes.web
    path, teacher = opened(nodes, number)
    asked(here, path, teacher, 0)
    assert answered(here, path, "ann", "10").status_code == 204
    with heard(there, path, teacher) as leads:
        leads.until(lambda state: spread_of(state) == {"10": 1})
        nodes.cluster.broker.kill()
        nodes.cluster.revive()
        wait_until(lambda: answered(there, path, "ben", "7").status_code == 204, PATIENCE_S)
        leads.until(lambda state: spread_of(state) == {"10": 1, "7": 1})
    asked(here, path, teacher, 1)
    wait_until(lambda: there.get(path).json()["question"] == 1, PATIENCE_S)
