"""A snapshot opens after its formats have moved on, and one of a format nobody here knows is told.

One of each format there was is kept beside this file, by its number, and never changed."""

import asyncio
import gzip
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from engine import formats
from engine.formats import Document, Step
from engine.trace import FORMAT, Trace
from server import snapshots
from server.problems import Problem
from server.snapshots import Format, opened
from tests.server.conftest import Json, Served
from tests.server.stores import store_in

KEPT = sorted((Path(__file__).parent / "snapshots").glob("*.json"))
ID = "a" * 12
NEXT = "gradgraph.snapshot/2"


def kept(**otherwise: object) -> bytes:
    """The first snapshot that is kept, otherwise in some fields, as it is stored."""
    document: Json = msgspec.json.decode(KEPT[0].read_bytes())
    return gzip.compress(msgspec.json.encode(document | otherwise))


def trace_of(found: snapshots.Opened) -> Trace:
    return msgspec.json.decode(gzip.decompress(found.stored.body), type=Trace)


def test_one_of_every_format_is_kept() -> None:
    assert {file.stem for file in KEPT} == {each.rpartition("/")[2] for each in get_args(Format)}


@pytest.mark.parametrize("file", KEPT, ids=lambda file: file.stem)
def test_a_snapshot_of_every_format_there_was_opens(file: Path) -> None:
    found = opened(ID, gzip.compress(file.read_bytes()))
    trace = trace_of(found)
    assert (trace.format, trace.id) == (FORMAT, ID)
    leaf = next(tensor for tensor in trace.tensors if tensor.names == ("x",))
    assert [tensor.data for tensor in trace.tensors if tensor.id == leaf.grad] == [(3.0, 12.0, 27.0)]
    assert (found.view.step, found.view.panel, found.view.expanded) == (4, "ledger", [])


def test_one_of_today_opens_when_the_envelope_has_moved_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next version has another name for what is open, and one step leads to it."""

    def next_version(document: Document) -> Document:
        view = document["view"]
        return {**document, "view": {**view, "panel": {"ledger": "training"}[view["panel"]]}}

    monkeypatch.setattr(snapshots, "FORMAT", NEXT)
    monkeypatch.setitem(snapshots.STEPS, "gradgraph.snapshot/1", Step(NEXT, next_version))
    found = opened(ID, kept())
    assert found.view.panel == "training"
    assert trace_of(found).status == "ok"
    assert msgspec.json.decode(snapshots.json_of(found))["format"] == NEXT


def test_one_of_today_opens_when_the_trace_has_moved_on(monkeypatch: pytest.MonkeyPatch) -> None:
    older = "gradgraph.trace/0"

    def next_version(document: Document) -> Document:
        document["status"] = document.pop("state")
        return document

    monkeypatch.setitem(formats.STEPS, older, Step(FORMAT, next_version))
    document: Json = msgspec.json.decode(KEPT[0].read_bytes())
    trace = document["trace"]
    aged = {**trace, "format": older, "state": trace["status"]}
    del aged["status"]
    assert trace_of(opened(ID, kept(trace=aged))) == trace_of(opened(ID, kept()))


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (kept(format="gradgraph.snapshot/9"), "gradgraph.snapshot/9"),
        (kept(trace={"format": "gradgraph.trace/9"}), "gradgraph.trace/9"),
        (kept(trace={"format": FORMAT}), FORMAT),
        (kept(trace=[]), "gradgraph.snapshot/1"),
        (kept(view={"step": "many"}), "gradgraph.snapshot/1"),
        (gzip.compress(b"{"), "damaged"),
        (kept()[:-20], "damaged"),
        (b"no snapshot", "damaged"),
    ],
    ids=["newer", "newer trace", "no trace", "no object", "no view", "no JSON", "cut off", "not compressed"],
)
def test_what_cannot_be_read_says_what_it_is(body: bytes, found: str) -> None:
    with pytest.raises(Problem, match="foreign-snapshot") as told:
        opened(ID, body)
    for language in ("en", "zh"):
        sentence = told.value.sentence(language)
        assert all(part in sentence for part in (ID, found, FORMAT, snapshots.FORMAT))


def test_a_newer_one_is_told_on_every_route_and_can_be_given_up(served: Served) -> None:
    async def as_a_newer_server() -> None:
        store = store_in(served.service.settings.data_dir, 10**9, 10**9)
        await store.keep_snapshot(ID, kept(format="gradgraph.snapshot/9"), snapshots.owner_of("mine"))
        await store.close()

    asyncio.run(as_a_newer_server())
    for path in (f"/s/{ID}.json", f"/s/{ID}.svg", f"/s/{ID}.py", f"/api/v1/runs/{ID}", f"/embed/{ID}"):
        assert "gradgraph.snapshot/9" in served.problem(served.http.get(path), 410, "foreign-snapshot")
    page = served.http.get(f"/s/{ID}")
    assert (page.status_code, page.headers["content-type"]) == (410, "text/html; charset=utf-8")
    assert "made by a newer Gradgraph" in page.text
    assert "由更新的 Gradgraph 制作" in page.text
    gone = served.http.delete(f"/api/v1/snapshots/{ID}", headers={"Owner-Token": "mine"})
    assert gone.status_code == 204
    assert served.http.get(f"/s/{ID}").status_code == 404
