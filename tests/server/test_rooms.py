"""Rooms: answers spread as they were given and count once, only the teacher leads, and nothing stays."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import msgspec
import pytest

from server import rooms
from server.problems import Problem
from server.settings import Settings
from tests.server.conftest import Json, Served, serving

ASKS = """import torch
x = torch.tensor({number}.0, requires_grad=True)
y = x**2 + 3 * x  # ? y
y.backward()  # ? x.grad
"""
PER_HOUR = 0
LEARNERS = 12


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server whose rooms are small."""
    folder = tmp_path_factory.mktemp("school")
    settings = Settings(data_dir=folder, warm_gallery=False, room_learners=LEARNERS, rooms_per_hour=PER_HOUR)
    with serving(settings) as served:
        yield served


@pytest.fixture(scope="module")
def run(school: Served) -> str:
    return str(school.run(ASKS.format(number=2))["id"])


@dataclass
class Class:
    """An open room."""

    served: Served
    code: str
    token: str

    @property
    def path(self) -> str:
        return f"/api/v1/rooms/{self.code}"

    def ask(self, question: int, token: str | None = None, **more: object) -> httpx.Response:
        headers = {"Owner-Token": self.token if token is None else token}
        return self.served.http.put(f"{self.path}/question", json={"question": question, **more}, headers=headers)

    def answer(self, learner: str, answer: str, question: int = 0) -> httpx.Response:
        body = {"question": question, "answer": answer}
        return self.served.http.put(f"{self.path}/answer", json=body, headers={"Gradgraph-Session": learner})

    def close(self, token: str | None = None) -> httpx.Response:
        headers = {"Owner-Token": self.token if token is None else token}
        return self.served.http.delete(self.path, headers=headers)

    @contextmanager
    def heard(self, **headers: str) -> Iterator["Heard"]:
        """What one listener hears, for as long as the block lasts."""
        with self.served.http.stream("GET", f"{self.path}/events", headers=headers) as answer:
            assert answer.status_code == 200, answer.read()
            yield Heard(answer.iter_lines())

    @property
    def spread(self) -> Json:
        """How it stands for its teacher, now."""
        with self.heard(**{"Owner-Token": self.token}) as heard:
            return heard.until(lambda _: True)


@dataclass
class Heard:
    """The events of a room, read as far as a test wants to know."""

    lines: Iterator[str]
    states: list[Json] = field(default_factory=list)

    def until(self, holds: Callable[[Json], bool]) -> Json:
        """The first state, from the next word on, that is as it should be."""
        for kind, data in self._events():
            assert kind == "room"
            self.states.append(data)
            if holds(data):
                return data
        raise AssertionError("the stream has ended")

    def is_closed(self) -> bool:
        """Whether the next word that is no state says that the room is closed."""
        return next((kind for kind, _ in self._events() if kind != "room"), "") == "closed"

    def _events(self) -> Iterator[tuple[str, Json]]:
        kind = ""
        for line in self.lines:
            if line.startswith("event: "):
                kind = line.removeprefix("event: ")
            elif line.startswith("data: "):
                yield kind, json.loads(line.removeprefix("data: "))


def opened(served: Served, run: str, **more: object) -> Class:
    answer = served.http.post("/api/v1/rooms", json={"run": run, **more})
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert made["url"] == answer.headers["location"] == f"/r/{made['code']}"
    return Class(served, made["code"], made["token"])


@pytest.fixture
def room(school: Served, run: str) -> Class:
    return opened(school, run)


def test_a_room_says_what_it_is_about_and_what_is_asked(school: Served, run: str) -> None:
    room = opened(school, run, lesson="accumulate")
    state = {"run": run, "lesson": "accumulate", "question": None, "is_revealed": False}
    assert school.http.get(room.path).json() == state
    assert room.ask(1).status_code == 204
    assert school.http.get(room.path).json() == state | {"question": 1}
    assert room.ask(1, is_revealed=True).status_code == 204
    assert school.http.get(room.path).json() == state | {"question": 1, "is_revealed": True}


def test_a_code_can_be_spoken_and_written_in_either_case(school: Served, room: Class) -> None:
    assert len(room.code) == rooms.CODE_LENGTH
    assert set(room.code) <= set(rooms.LETTERS)
    assert school.http.get(f"/api/v1/rooms/{room.code.lower()}").status_code == 200


def test_the_teacher_sees_each_learner_s_last_answer_once(room: Class) -> None:
    room.ask(0)
    for learner, answer in (("ann", "10"), ("ben", "7"), ("ann", "12"), ("cem", "10")):
        assert room.answer(learner, answer).status_code == 204
    assert room.spread["answers"] == [["10", 1], ["12", 1], ["7", 1]]
    assert room.spread["learners"] == 3


def test_who_came_in_and_did_not_answer_is_counted_too(room: Class) -> None:
    room.ask(0)
    with room.heard(**{"Gradgraph-Session": "ann"}) as ann:
        ann.until(lambda _: True)
        room.answer("ben", "10")
        assert room.spread["learners"] == 2
        assert room.spread["answers"] == [["10", 1]]


def test_a_browser_counts_once_however_often_it_loads_the_page_until_it_is_gone(
    school: Served, room: Class, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms, "GONE_S", -1.0)
    here, known = school.service.rooms._rooms[room.code], school.service.rooms

    def after_sweep(count: int) -> None:
        """A server hears a while later that a line was cut."""
        for _ in range(100):
            asyncio.run(known.let_go(here, time.time()))
            if (spread := room.spread["learners"]) == count:
                return
            time.sleep(0.05)
        raise AssertionError(f"{spread} learners, not {count}")

    room.ask(0)
    ann, ben = {"Gradgraph-Session": "ann"}, {"Gradgraph-Session": "ben"}
    with room.heard(**ann) as tab:
        tab.until(lambda _: True)
        with room.heard(**ann) as other, room.heard(**ben) as third:
            other.until(lambda _: True)
            third.until(lambda _: True)
            room.answer("ben", "10")
            assert room.spread["learners"] == 2
        after_sweep(2)  # ann listens still, ben has answered
        room.ask(1)
        after_sweep(1)
    after_sweep(0)
    with room.heard(**ann):
        after_sweep(1)


def test_who_listens_still_is_in_again_after_another_node_counted_them_out(
    school: Served, room: Class, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.routes.rooms.HEARTBEAT_S", 0.2)
    with room.heard(**{"Gradgraph-Session": "ann"}) as ann:
        ann.until(lambda _: True)
        school.service.rooms._rooms[room.code].given.clear()
        with room.heard(**{"Owner-Token": room.token}) as teacher:
            teacher.until(lambda state: bool(state["learners"] == 1))


def test_who_went_away_leaves_a_place_in_a_full_room(school: Served, room: Class) -> None:
    room.ask(0)
    for number in range(LEARNERS):
        assert room.answer(f"learner {number}", "10").status_code == 204
    assert school.problem(room.answer("one more", "10"), 409, "room-full")
    room.ask(1)
    assert room.answer("one more", "10", question=1).status_code == 204
    assert room.spread["learners"] == 1


def test_learners_hear_of_questions_and_never_of_answers(room: Class) -> None:
    with room.heard(**{"Gradgraph-Session": "ann"}) as ann:
        room.ask(0)
        ann.until(lambda state: bool(state["question"] == 0))
        room.answer("ben", "10")
        room.ask(0, is_revealed=True)
        ann.until(lambda state: bool(state["is_revealed"]))
        assert all(state.keys() == {"run", "lesson", "question", "is_revealed"} for state in ann.states)


def test_a_learner_who_comes_back_hears_what_they_answered(room: Class) -> None:
    def told(learner: str) -> object:
        with room.heard(**{"Gradgraph-Session": learner}) as heard:
            return heard.until(lambda _: True).get("answer")

    room.ask(0)
    room.answer("ann", "10")
    assert (told("ann"), told("ben")) == ("10", None)
    room.ask(0, is_revealed=True)
    assert told("ann") == "10"
    room.ask(0)
    assert told("ann") is None, "it is asked anew"


def test_the_teacher_hears_how_answers_spread_while_they_come(room: Class) -> None:
    with room.heard(**{"Owner-Token": room.token}) as teacher:
        room.ask(0)
        room.answer("ann", "10")
        teacher.until(lambda state: bool(state["answers"] == [["10", 1]]))
        room.answer("ann", "7")
        teacher.until(lambda state: bool(state["answers"] == [["7", 1]]))


def test_a_question_that_is_asked_anew_is_answered_anew(room: Class) -> None:
    room.ask(0)
    room.answer("ann", "10")
    room.ask(0, is_revealed=True)
    assert room.spread["answers"] == [["10", 1]], "it is told until the next is asked"
    room.ask(1)
    assert room.spread["answers"] == []
    room.ask(0)
    assert room.spread["answers"] == []


def test_only_the_question_that_is_asked_can_be_answered(school: Served, room: Class) -> None:
    for asks in (None, lambda: room.ask(1), lambda: room.ask(0, is_revealed=True)):
        if asks:
            assert asks().status_code == 204
        sentence = school.problem(room.answer("ann", "10"), 409, "question-not-open")
        assert "Question 1" in sentence and room.code in sentence


@pytest.mark.parametrize("token", ["", "wrong", "x" * 5000])
def test_nobody_else_leads(school: Served, room: Class, run: str, token: str) -> None:
    other = opened(school, run)
    for wrong in (token, other.token):
        assert school.problem(room.ask(0, wrong), 403, "not-your-room")
        assert school.problem(room.close(wrong), 403, "not-your-room")
    with_wrong = {"Owner-Token": other.token}
    assert school.problem(school.http.get(f"{room.path}/events", headers=with_wrong), 403, "not-your-room")
    assert room.ask(0).status_code == 204


def test_a_closed_room_is_gone_and_those_in_it_are_told(school: Served, room: Class) -> None:
    with room.heard(**{"Gradgraph-Session": "ann"}) as ann, room.heard(**{"Owner-Token": room.token}) as teacher:
        ann.until(lambda _: True)
        assert room.close().status_code == 204
        assert ann.is_closed() and teacher.is_closed()
    for answer in (school.http.get(room.path), room.ask(0), room.answer("ann", "10"), room.close()):
        assert room.code in school.problem(answer, 404, "no-such-room")


@pytest.mark.parametrize("code", ["KDWMT", "AAAAA", "x", "K" * 500, "..%2Fruns", "%00", "ß", "课堂"])
def test_a_code_that_was_never_given_is_told_so(school: Served, code: str) -> None:
    answer = school.http.get(f"/api/v1/rooms/{code}")
    assert answer.status_code == 404
    page = school.http.get(f"/r/{code}")
    assert page.status_code == 404
    assert len(page.content) < 3000


def test_a_wrong_code_is_told_in_the_reader_s_language_and_on_the_page_in_both(school: Served) -> None:
    zh, en = (school.http.get("/r/BBBBB", headers={"Accept-Language": each}).text for each in ("zh-CN,en;q=0.5", "en"))
    assert '<html lang="zh">' in zh and '<html lang="en">' in en
    assert zh.index("没有开放的课堂") < zh.index("There is no open room")
    assert en.index("There is no open room") < en.index("没有开放的课堂")
    answer = school.http.get("/api/v1/rooms/BBBBB", headers={"Accept-Language": "zh"})
    assert "没有开放的课堂 BBBBB" in school.problem(answer, 404, "no-such-room")
    page = school.http.get("/r/%3Cscript%3E")
    assert "没有开放的课堂" in page.text and "There is no open room" in page.text
    assert "<script" not in page.text.lower()


def test_the_page_of_a_room_names_the_browser_and_is_shown_in_no_frame(school: Served, room: Class) -> None:
    school.http.cookies.clear()
    page = school.http.get(f"/r/{room.code}")
    assert page.status_code in (200, 503)  # 503: the page is not built
    assert "frame-ancestors 'self'" in page.headers["content-security-policy"]
    name, _, attributes = page.headers["set-cookie"].partition("; ")
    assert "gradgraph_session" in name and "Path=/;" in attributes + ";", "the page is told of it when it comes again"
    again = school.http.get(f"/r/{room.code}", headers={"Cookie": name})
    assert "set-cookie" not in again.headers


def test_a_full_room_lets_nobody_in_and_goes_on_for_the_others(school: Served, room: Class) -> None:
    room.ask(0)
    for number in range(LEARNERS):
        assert room.answer(f"learner {number}", "10").status_code == 204
    assert str(LEARNERS) in school.problem(room.answer("one more", "10"), 409, "room-full")
    late = school.http.get(f"{room.path}/events", headers={"Gradgraph-Session": "one more"})
    assert school.problem(late, 409, "room-full")
    assert room.answer("learner 0", "12").status_code == 204
    assert room.spread["answers"] == [["10", LEARNERS - 1], ["12", 1]]


def test_ten_thousand_answers_of_a_few_are_held_back_and_count_once(school: Served, room: Class) -> None:
    room.ask(0)
    with ThreadPoolExecutor(8) as flood:
        answers = list(flood.map(lambda n: room.answer("ann", str(n)), range(500)))
    held = [answer for answer in answers if answer.status_code != 204]
    assert len(held) > 400
    assert room.spread["learners"] == 1
    assert sum(count for _, count in room.spread["answers"]) == 1
    for answer in held:
        assert school.problem(answer, 429, "too-many-answers")
        assert int(answer.headers["retry-after"]) >= 1


def test_a_long_answer_is_refused_with_its_length(school: Served, room: Class) -> None:
    room.ask(0)
    assert room.answer("ann", "1" * rooms.MOST_CHARACTERS).status_code == 204
    for length in (rooms.MOST_CHARACTERS + 1, 90_000):
        assert f"{length} characters" in school.problem(room.answer("ann", "1" * length), 422, "answer-too-long")


@pytest.mark.parametrize("answer", ["<script>alert(1)</script>", "event: closed\n\ndata: {}", "\0\r\n", "𝄞 课堂", ""])
def test_what_is_typed_reaches_the_teacher_as_text(room: Class, answer: str) -> None:
    room.ask(0)
    assert room.answer("ann", answer).status_code == 204
    assert room.spread["answers"] == [[answer, 1]]


@pytest.mark.parametrize(
    "body",
    [
        b'{"question": 0, "answer": "\\ud800"}',
        b'{"question": -1, "answer": "1"}',
        b'{"question": 40, "answer": "1"}',
        b'{"question": "0", "answer": "1"}',
        b'{"question": 0, "answer": 1}',
        b'{"question": 0, "answer": "1", "learner": "ben"}',
        b"[]",
    ],
)
def test_what_is_no_answer_is_refused(school: Served, room: Class, body: bytes) -> None:
    room.ask(0)
    headers = {"Gradgraph-Session": "ann", "Content-Type": "application/json"}
    assert school.problem(school.http.put(f"{room.path}/answer", content=body, headers=headers), 422, "bad-request")
    assert room.spread["answers"] == []


def test_a_learner_needs_a_name(school: Served, room: Class) -> None:
    room.ask(0)
    school.http.cookies.clear()
    answer = school.http.put(f"{room.path}/answer", json={"question": 0, "answer": "1"})
    assert school.problem(answer, 422, "nameless")
    assert school.problem(school.http.get(f"{room.path}/events"), 422, "nameless")


def test_one_room_s_learners_are_not_another_s(school: Served, room: Class, run: str) -> None:
    other = opened(school, run)
    room.ask(0)
    other.ask(0)
    room.answer("ann", "10")
    assert other.spread["learners"] == 0
    here, there = (school.service.rooms._rooms[each.code] for each in (room, other))
    other.answer("ann", "10")
    assert here.given.keys().isdisjoint(there.given.keys()), "who ann is in one room tells nothing of the other"


def test_a_room_needs_a_run_that_asks(school: Served) -> None:
    silent = school.run("import torch\nx = torch.ones(2)\n")["id"]
    unanswerable = school.run("import torch\nx = torch.ones(2)  # ? x + 1\n")["id"]
    for run in (silent, unanswerable):
        assert run in school.problem(school.http.post("/api/v1/rooms", json={"run": run}), 422, "nothing-asked")
    assert school.problem(school.http.post("/api/v1/rooms", json={"run": "nothing"}), 404, "no-such-run")


def test_only_a_question_of_the_program_can_be_asked(school: Served, room: Class) -> None:
    assert "number 30" in school.problem(room.ask(30), 422, "no-such-question")
    assert room.spread.get("question") is None


def test_a_snapshot_can_be_asked_about(school: Served, run: str) -> None:
    made = school.http.post("/api/v1/snapshots", json={"run": run, "view": {"step": 0, "lang": "en"}}).json()
    room = opened(school, made["id"])
    assert school.http.get(room.path).json()["run"] == made["id"]


def test_a_room_closes_by_itself(school: Served, run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    absent, long = opened(school, run), opened(school, run)
    room = school.service.rooms._rooms[absent.code]
    now = time.time()
    assert not room.is_over(now + rooms.ABSENT_S - 60)
    assert room.is_over(now + rooms.ABSENT_S + 60)
    monkeypatch.setattr(rooms, "ABSENT_S", -1.0)
    for each in (absent, long):
        assert school.problem(school.http.get(each.path), 404, "no-such-room")


@pytest.mark.slow
def test_rooms_are_few_for_one_address_and_for_all(tmp_path: Path) -> None:
    with serving(Settings(data_dir=tmp_path, warm_gallery=False, rooms=2, rooms_per_hour=3)) as served:
        run = str(served.run(ASKS.format(number=3))["id"])
        first, _ = opened(served, run), opened(served, run)
        assert "2 rooms" in served.problem(served.http.post("/api/v1/rooms", json={"run": run}), 503, "rooms-full")
        first.close()
        opened(served, run).close()
        refused = served.http.post("/api/v1/rooms", json={"run": run})
        assert "3 rooms" in served.problem(refused, 429, "too-many-rooms")
        assert int(refused.headers["retry-after"]) > 1


@pytest.mark.slow
def test_a_server_that_stops_lets_its_listeners_go_and_has_written_nothing_of_a_room(tmp_path: Path) -> None:
    with serving(Settings(data_dir=tmp_path, warm_gallery=False)) as served:
        room = opened(served, str(served.run(ASKS.format(number=4))["id"]))
        room.ask(0)
        assert room.answer("a name to look for", "an answer to look for").status_code == 204
        token = room.token
        with room.heard(**{"Gradgraph-Session": "ann"}) as ann:
            ann.until(lambda _: True)
            served.service.rooms.wind_down()
            assert not ann.is_closed(), "another node may know the room"
    written = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    for secret in (b"to look for", token.encode(), room.code.encode()):
        assert secret not in written


class Written(rooms.OwnBoard):
    """A board on which a node of another version has written a plan."""

    def __init__(self, plan: dict[str, object]) -> None:
        super().__init__()
        self._plan = plan

    async def get(self, key: str) -> bytes:
        return msgspec.json.encode(self._plan)


def test_a_plan_by_a_node_of_another_version_is_read_or_left_to_that_node() -> None:
    now = time.time()
    before: dict[str, object] = {"run": "a", "lesson": None, "owner": "o", "opened": now, "seen": now}
    found = asyncio.run(rooms.Rooms(Written(before), Settings()).find("BCDFG"))
    assert found.plan is not None and found.plan.run == "a"
    with pytest.raises(Problem) as why:
        asyncio.run(rooms.Rooms(Written({**before, "run": 7}), Settings()).find("BCDFG"))
    assert (why.value.key, why.value.retry_after_s) == ("rooms-down", rooms.RETRY_AFTER_S)
