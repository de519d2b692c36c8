"""Traces that an older or newer engine stored: made current on the way out, or told apart clearly."""

import asyncio
import gzip
from collections.abc import Iterator, Mapping

import msgspec
import pytest

from engine.formats import STEPS, Document, Step, UnreadableFormat, migrate
from engine.keys import run_id
from engine.request import RunRequest
from engine.trace import FORMAT, Program
from server.store import Stored, etag
from tests.server.conftest import Json, Served
from tests.server.stores import store_in

CODE = "import torch\nx = torch.tensor(3.0, requires_grad=True)\n(x * x).backward()\n"
OLD, OLDER, NEWER = "gradgraph.trace/0", "gradgraph.trace/0-draft", "gradgraph.trace/99"


def from_old(document: Document) -> Document:
    document["status"] = document.pop("state")
    return document


def from_older(document: Document) -> Document:
    del document["mood"]
    return document


@pytest.fixture
def two_steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two formats before the current one: the first called `status` `state`, the one before it had a `mood` too."""
    monkeypatch.setitem(STEPS, OLDER, Step(OLD, from_older))
    monkeypatch.setitem(STEPS, OLD, Step(FORMAT, from_old))
    yield


def aged(trace: Json, form: str) -> bytes:
    """A trace of today as a format had it."""
    document = {**trace, "format": form, "state": trace["status"], **({"mood": "good"} if form == OLDER else {})}
    del document["status"]
    return msgspec.json.encode(document)


def put(served: Served, run: str, body: bytes, form: str) -> None:
    """What another server, which shares the file, has stored."""

    async def into_the_file() -> None:
        store = store_in(served.service.settings.data_dir, 10**9)
        zipped = gzip.compress(body)
        await store.put(run, Stored(body=zipped, etag=etag(zipped), format=form))
        await store.close()

    asyncio.run(into_the_file())


def astray(steps: Mapping[str, Step]) -> set[str]:
    """Formats from which steps do not come to the current one: they end before it, or go round."""
    leads: set[str] = {FORMAT}
    while more := {form for form, step in steps.items() if step.to in leads} - leads:
        leads |= more
    return steps.keys() - leads


@pytest.mark.usefixtures("two_steps")
def test_every_step_leads_to_the_current_format() -> None:
    assert STEPS.keys() >= {OLD, OLDER}
    assert astray(STEPS) == set()
    assert astray({**STEPS, OLD: Step(OLDER, from_old)}) >= {OLD, OLDER}
    assert astray({**STEPS, "gradgraph.trace/-1": Step(NEWER, from_old)}) == {"gradgraph.trace/-1"}


@pytest.mark.usefixtures("two_steps")
@pytest.mark.parametrize("form", [OLD, OLDER])
def test_an_older_trace_is_given_as_a_current_one(served: Served, form: str) -> None:
    trace = served.run(CODE)
    run = f"stored-as-{form[-1]}"
    put(served, run, aged(trace, form), form)
    for _ in range(2):  # from the store, from memory
        answer = served.http.get(f"/api/v1/runs/{run}")
        assert (answer.status_code, answer.json()) == (200, trace)
    unchanged = served.http.get(f"/api/v1/runs/{run}", headers={"If-None-Match": answer.headers["etag"]})
    assert unchanged.status_code == 304
    graph = served.http.get(f"/api/v1/runs/{run}/graph")
    assert graph.json() == served.http.get(f"/api/v1/runs/{trace['id']}/graph").json()


def test_a_trace_of_an_unknown_format_is_a_clear_problem(served: Served) -> None:
    put(served, "newer", b'{"format":"%b","anything":1}' % NEWER.encode(), NEWER)
    for path in ("", "/graph", "/graph.svg", "/events", "/tensors/t1", "/passes/p1/engine", "/compare/newer"):
        detail = served.problem(served.http.get(f"/api/v1/runs/newer{path}"), 410, "other-format")
        assert NEWER in detail
        assert FORMAT in detail
        assert "POST /api/v1/runs" in detail


@pytest.mark.usefixtures("two_steps")
@pytest.mark.parametrize(
    "body",
    [
        b'{"state":"ok","format":"gradgraph.trace/0"}',
        b'{"format":"gradgraph.trace/0"}',
        b"[]",
        b"{",
        b'"gradgraph.trace/0"',
    ],
)
def test_a_trace_that_a_step_cannot_make_whole_is_no_bug(served: Served, body: bytes) -> None:
    put(served, "broken", body, OLD)
    served.problem(served.http.get("/api/v1/runs/broken"), 410, "other-format")


def test_a_program_whose_stored_trace_cannot_be_read_runs_again(served: Served) -> None:
    code = CODE + "print('again')\n"
    request = RunRequest(program=Program(code=code), limits=served.service.settings.limits)
    run = run_id(request, served.service.versions)
    put(served, run, b'{"format":"%b"}' % NEWER.encode(), NEWER)
    answer = served.http.post("/api/v1/runs", json={"code": code})
    assert (answer.status_code, answer.headers["cache-status"]) == (200, "gradgraph; fwd=miss")
    assert (answer.json()["id"], answer.json()["format"]) == (run, FORMAT)
    assert served.http.get(f"/api/v1/runs/{run}").json()["format"] == FORMAT


@pytest.mark.parametrize("document", [{}, {"format": None}, {"format": 3}, {"format": ["x"]}, {"format": NEWER}])
def test_what_names_no_known_format_cannot_be_read(document: Document) -> None:
    with pytest.raises(UnreadableFormat):
        migrate(msgspec.json.encode(document))


def test_a_current_trace_stays_as_it_is(served: Served) -> None:
    body = msgspec.json.encode(served.run(CODE))
    assert migrate(body) == body
