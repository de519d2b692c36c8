"""Snapshots: what is kept stays as it was, opens without its run, is given up by its owner, and nothing hostile runs."""

import re
import struct
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import httpx
import pytest

from server.settings import Settings
from server.snapshots import is_snapshot
from tests.server.conftest import Json, Served, serving, wait_until

CODE = (
    "import torch\nx = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)\nx.pow(3).sum().backward()\nprint(x.grad)\n"
)
VIEW: Json = {
    "step": 4, "lang": "zh", "theme": "dark", "selection": {"kind": "line", "line": 3}, "expanded": ["m2", "m1"],
    "level": "autograd", "panel": "ledger",
}  # fmt: skip


def kept(served: Served, run: str, **view: object) -> Json:
    """A snapshot that was made."""
    answer = served.http.post("/api/v1/snapshots", json={"run": run, "view": {"step": 0, "lang": "en", **view}})
    assert answer.status_code == 201, answer.text
    made: Json = answer.json()
    assert answer.headers["location"] == made["url"] == f"/s/{made['id']}"
    return made


def given_up(served: Served, id: str, token: str) -> httpx.Response:
    return served.http.delete(f"/api/v1/snapshots/{id}", headers={"Owner-Token": token})


@pytest.fixture(scope="module")
def run(served: Served) -> str:
    return str(served.run(CODE)["id"])


def test_the_numbers_of_a_snapshot_are_pytorch_s(served: Served, run: str) -> None:
    import torch

    x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
    x.pow(3).sum().backward()  # type: ignore[no-untyped-call]
    made = kept(served, run, **VIEW)
    told = served.http.get(f"{made['url']}.json").json()
    by_id = {tensor["id"]: tensor for tensor in told["trace"]["tensors"]}
    leaf = next(tensor for tensor in by_id.values() if tensor.get("names") == ["x"])
    assert x.grad is not None
    assert by_id[leaf["grad"]]["data"] == x.grad.tolist()
    assert told["trace"] == {**served.http.get(f"/api/v1/runs/{run}").json(), "id": made["id"]}
    assert told["format"] == "gradgraph.snapshot/1"
    assert told["view"] | VIEW | {"expanded": ["m1", "m2"]} == told["view"]


def test_the_same_content_has_the_same_id_and_another_view_another(served: Served, run: str) -> None:
    first, second = kept(served, run, **VIEW), kept(served, run, **VIEW | {"expanded": ["m1", "m2", "m1"]})
    assert (first["id"], len(first["id"])) == (second["id"], 12)
    assert first["token"] != second["token"]
    assert is_snapshot(first["id"])
    assert not is_snapshot(run)
    assert kept(served, run, **VIEW | {"step": 5})["id"] != first["id"]
    assert kept(served, first["id"], **VIEW)["id"] == first["id"], "a snapshot of a snapshot is one of its run"


def test_a_snapshot_goes_with_its_last_owner(served: Served, run: str) -> None:
    first, second = kept(served, run, step=1), kept(served, run, step=1)
    page = first["url"]
    served.problem(given_up(served, first["id"], "wrong"), 403, "not-your-snapshot")
    served.problem(given_up(served, first["id"], ""), 403, "not-your-snapshot")
    assert given_up(served, first["id"], first["token"]).status_code == 204
    served.problem(given_up(served, first["id"], first["token"]), 403, "not-your-snapshot")
    assert served.http.get(page).status_code in (200, 503), "somebody else keeps the same one"
    assert given_up(served, second["id"], second["token"]).status_code == 204
    served.problem(given_up(served, second["id"], second["token"]), 404, "no-such-snapshot")
    gone = served.http.get(page)
    assert gone.status_code == 404
    assert all(words in gone.text for words in ("There is no such snapshot", "没有这个快照", 'href="/"', first["id"]))
    for path in (f"{page}.json", f"{page}.py", f"/api/v1/runs/{first['id']}", f"/api/v1/runs/{first['id']}/graph"):
        assert first["id"] in served.problem(served.http.get(path), 404, "no-such-snapshot")


def test_a_snapshot_is_read_wherever_a_run_is(served: Served) -> None:
    run = served.run("import torch\nx = torch.ones(30, 30, requires_grad=True)\n(x * 2).sum().backward()\n")
    large = next(tensor["id"] for tensor in run["tensors"] if tensor.get("stored"))
    id = kept(served, run["id"])["id"]
    for path in ("", "/graph", "/graph.dot", f"/tensors/{large}", f"/tensors/{large}.npy", "/what-ifs", "/fixes"):
        of_run, of_snapshot = (served.http.get(f"/api/v1/runs/{each}{path}") for each in (run["id"], id))
        assert of_snapshot.status_code == 200, path
        assert of_snapshot.content.replace(id.encode(), run["id"].encode()) == of_run.content, path
    assert served.http.get(f"/api/v1/runs/{run['id']}/compare/{id}").json()["there"]["run"] == id


@pytest.mark.slow
def test_a_snapshot_opens_when_its_run_is_gone_and_no_worker_is_there(tmp_path: Path) -> None:
    with serving(Settings(data_dir=tmp_path, warm_gallery=False)) as first:
        run = first.run(CODE)
        made = kept(first, run["id"])
    with serving(Settings(data_dir=tmp_path, warm_gallery=False, store_bytes=0), ready_first=False) as second:
        trace = second.http.get(f"/api/v1/runs/{made['id']}")  # no worker is ready yet
        second.run("print(1)")  # what can leave leaves for it
        wait_until(lambda: second.http.get(f"/api/v1/runs/{run['id']}").status_code == 404)
        assert trace.json()["nodes"] == second.http.get(f"/api/v1/runs/{made['id']}").json()["nodes"] == run["nodes"]
        assert "digraph" in second.http.get(f"{made['url']}.dot?step=1").text
        assert given_up(second, made["id"], made["token"]).status_code == 204


def test_runs_beside_it_are_kept_with_it_and_go_with_it(served: Served, run: str) -> None:
    other = served.run("print('beside')")["id"]
    made = kept(served, run, panel="compare", beside=[other])
    (beside,) = served.http.get(f"{made['url']}.json").json()["view"]["beside"]
    assert served.http.get(f"/api/v1/runs/{beside}").json()["program"]["code"] == "print('beside')"
    assert given_up(served, made["id"], made["token"]).status_code == 204
    served.problem(served.http.get(f"/api/v1/runs/{beside}"), 404, "no-such-snapshot")


def test_what_cannot_be_kept_is_told(served: Served) -> None:
    asked = {"run": "nosuchrun", "view": {"step": 0, "lang": "en"}}
    assert "nosuchrun" in served.problem(served.http.post("/api/v1/snapshots", json=asked), 404, "no-such-run")
    accepted = served.http.post(
        "/api/v1/runs", json={"code": "while True: pass"}, headers={"Prefer": "respond-async"}
    ).json()
    under_way = {**asked, "run": accepted["id"]}
    served.problem(served.http.post("/api/v1/snapshots", json=under_way), 409, "run-not-finished")
    served.http.delete(accepted["location"])


@pytest.mark.parametrize(
    ("view", "field", "rule"),
    [
        ({"step": -1}, "view.step", "0"),
        ({"step": "4"}, "view.step", "integer"),
        ({"step": 10**12}, "view.step", "10000000"),
        ({"lang": "fr"}, "view.lang", "'zh' or 'en'"),
        ({"theme": "<script>"}, "view.theme", "'light', 'dark' or 'auto'"),
        ({"panel": "admin"}, "view.panel", "'ledger'"),
        ({"selection": {"kind": "box", "id": "n1\u202e"}}, "view.selection", "pattern"),
        ({"selection": {"kind": "html", "id": "n1"}}, "view.selection", "'box'"),
        ({"expanded": ["m"] * 2_001}, "view.expanded", "2000"),
        ({"expanded": ["m" * 201]}, "view.expanded", "pattern"),
        ({"beside": ["a", "b", "c"]}, "view.beside", "2"),
        ({"lesson": "../../etc"}, "view.lesson", "pattern"),
        ({"__proto__": {}}, "view.__proto__", "not permitted"),
    ],
)
def test_a_hostile_view_is_refused(served: Served, run: str, view: Json, field: str, rule: str) -> None:
    body = {"run": run, "view": {"step": 0, "lang": "en", **view}}
    sentence = served.problem(served.http.post("/api/v1/snapshots", json=body), 422, "bad-request")
    assert field in sentence
    assert rule in sentence


@pytest.mark.parametrize(
    "view",
    [
        '{"step": NaN, "lang": "en"}',
        '{"step": Infinity, "lang": "en"}',
        '{"step": 1e400, "lang": "en"}',
        '{"step": 0.5, "lang": "en"}',
        '{"step": %s, "lang": "en"}' % ("9" * 5_000),
        '{"step": true, "lang": "en"}',
        '{"step": [0], "lang": "en"}',
        '{"step": {"$gt": 0}, "lang": "en"}',
        '{"step": 0, "lang": "<script>alert(1)</script>"}',
        '{"step": 0, "lang": ["en"]}',
        '{"step": 0, "lang": null}',
        '{"step": 0, "lang": "en", "selection": {"kind": "box", "id": "\\ud800"}}',
        '{"step": 0, "lang": "en", "selection": {"kind": "box", "id": "n1\\n"}}',
        '{"step": 0, "lang": "en", "selection": {"kind": "line", "line": 1e999}}',
        '{"step": 0, "lang": "en", "selection": %s}' % ("[" * 50_000 + "]" * 50_000),
        '{"step": 0, "lang": "en", "expanded": %s}' % ('{"a":' * 50_000 + "1" + "}" * 50_000),
        "[" * 200_000,
        "NaN",
        '"view"',
        "",
    ],
    ids=lambda view: view[:40],
)
def test_a_view_that_is_no_view_is_told_and_never_a_bug(served: Served, run: str, view: str) -> None:
    body = f'{{"run": "{run}", "view": {view}}}'
    for language in ("en", "zh"):
        headers = {"Content-Type": "application/json", "Accept-Language": language}
        answer = served.http.post("/api/v1/snapshots", content=body.encode(), headers=headers)
        assert answer.status_code in (400, 413, 422), answer.text
        assert "<script>" not in answer.text or answer.headers["content-type"] == "application/problem+json"
        assert len(answer.json()["detail"]) > 20


def test_what_stands_in_a_selection_is_text_on_every_page(served: Served, run: str) -> None:
    hostile = """"><script>alert(1)</script>{0}${alert(1)}"""
    made = kept(served, run, selection={"kind": "box", "id": hostile}, expanded=[hostile])
    for path in (made["url"], f"/embed/{made['id']}", f"{made['url']}.svg", f"{made['url']}.html"):
        answer = served.http.get(path)
        assert answer.status_code in (200, 503)
        assert "<script>alert(1)" not in answer.text, path


@pytest.mark.parametrize("id", ["<img src=x onerror=alert(1)>", "a" * 12, "{snapshot}", "a" * 5_000, "%00"])
def test_an_unknown_id_is_told_as_text(served: Served, id: str) -> None:
    page = served.http.get(f"/s/{id}")
    assert page.status_code == 404
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "<img" not in page.text
    sentence = served.problem(
        served.http.get(f"/s/{id}.json", headers={"Accept-Language": "zh"}), 404, "no-such-snapshot"
    )
    assert "没有" in sentence


@pytest.mark.parametrize("token", ["x" * 5_000, "' OR 1=1 --", "../..", "null"])
def test_a_wrong_token_deletes_nothing(served: Served, run: str, token: str) -> None:
    made = kept(served, run, step=2)
    served.problem(given_up(served, made["id"], token), 403, "not-your-snapshot")
    assert served.http.get(f"{made['url']}.json").status_code == 200


def test_a_step_beyond_the_end_is_refused(served: Served, run: str) -> None:
    body = {"run": run, "view": {"step": 4_000, "lang": "en"}}
    assert "4000" in served.problem(served.http.post("/api/v1/snapshots", json=body), 422, "no-such-step")


def test_a_huge_body_is_not_read(served: Served) -> None:
    def body() -> Iterator[bytes]:
        yield b'{"run": "'
        for _ in range(100):
            yield b"a" * 2**20

    try:
        answer = served.http.post("/api/v1/snapshots", content=body())
    except httpx.WriteError:
        return  # the connection was closed while it was still being sent
    served.problem(answer, 413, "body-too-large")


def test_the_page_shows_others_what_it_is_of_and_runs_nothing_of_it(served: Served) -> None:
    served.http.cookies.clear()
    hostile = """s = '"><script>alert(1)</script>' # {style} </noscript>\nprint(s)\n"""
    made = kept(served, served.run(hostile)["id"], step=1, theme="dark")
    answer = served.http.get(f"{made['url']}?step=0")
    if answer.status_code == 503:
        pytest.skip("the page is not built")
    assert "<script>alert" not in answer.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in answer.text
    base = str(served.http.base_url).rstrip("/")
    assert (
        f'property="og:image" content="{base}{made["url"]}.png?step=0&amp;lang=en&amp;theme=dark&amp;width=1200&amp;height=630"'
        in answer.text
    )
    assert 'name="twitter:card" content="summary_large_image"' in answer.text
    assert f'<noscript><a href="{base}{made["url"]}.svg' in answer.text
    assert answer.text.count("<noscript>") == 1
    assert '<html lang="en">' in answer.text
    assert "gradgraph_session" in answer.headers["set-cookie"]
    assert "gradgraph-view" in served.http.get(f"/embed/{made['id']}").text
    served.http.cookies.clear()


def test_the_picture_for_other_sites_is_as_large_as_the_page_says(served: Served, run: str) -> None:
    made = kept(served, run, step=4, lang="zh")
    for path in (made["url"], f"/embed/{made['id']}"):
        page = served.http.get(path)
        if page.status_code == 503 or not served.service.drawing.ready:
            pytest.skip("the page is not built")
        told = {name: unescape(value) for name, value in re.findall(r'="([a-z:]+)" content="([^"]*)" />', page.text)}
        assert told["og:image:alt"] == told["twitter:image:alt"] == f"计算图：{told['og:title']}"
        assert told["twitter:image"] == told["og:image"]
        picture = served.http.get(told["og:image"])
        assert picture.headers["content-type"] == "image/png"
        size = struct.unpack(">II", picture.content[16:24])
        assert size == (int(told["og:image:width"]), int(told["og:image:height"])) == (1200, 630)


def test_a_lesson_is_called_by_its_title(served: Served) -> None:
    lesson = served.http.get("/api/v1/gallery/diamond").json()
    made = kept(served, served.run(lesson["code"])["id"], lesson="diamond", lang="zh")
    answer = served.http.get(made["url"])
    if answer.status_code == 503:
        pytest.skip("the page is not built")
    assert f"<title>{lesson['zh']['title']} · Gradgraph</title>" in answer.text


def test_files_have_strong_tags_and_are_sent_once(served: Served, run: str) -> None:
    url = kept(served, run)["url"]
    for ending, cached in ((".json", "max-age=86400, immutable"), (".dot", "max-age=3600"), (".py", "max-age=3600")):
        answer = served.http.get(f"{url}{ending}", headers={"Accept-Encoding": "gzip"})
        assert answer.headers["etag"].startswith('"')
        assert cached in answer.headers["cache-control"]
        same = served.http.get(
            f"{url}{ending}", headers={"Accept-Encoding": "gzip", "If-None-Match": answer.headers["etag"]}
        )
        assert same.status_code == 304
        plain = served.http.get(f"{url}{ending}", headers={"Accept-Encoding": "identity"})
        assert plain.content == answer.content
        assert answer.headers["access-control-allow-origin"] == "*"
    assert served.http.get(f"{url}.json?step=2&lang=zh").json()["view"]["lang"] == "zh"


@pytest.mark.slow
def test_the_program_runs_as_a_file_with_the_numbers_of_the_snapshot(served: Served, tmp_path: Path) -> None:
    code = '"""Text."""\nfrom __future__ import annotations\nimport torch, random, numpy\nprint(torch.rand(3), random.random(), numpy.random.rand())\n'
    run = served.run(code, seed=7)
    made = kept(served, run["id"])
    file = tmp_path / "made.py"
    file.write_bytes(served.http.get(f"{made['url']}.py").content)
    text = file.read_text("utf-8")
    assert f"{served.http.base_url}".rstrip("/") + made["url"] in text
    assert "seed 7" in text
    ran = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout == run["output"][0]["text"]


def test_a_picture_is_of_the_pass_that_its_step_belongs_to(served: Served) -> None:
    again = "import torch\nx = torch.tensor(2.0, requires_grad=True)\n(x * x).backward()\n(3 * x).backward()\n"
    run = served.run(again)
    ends = [at for at, step in enumerate(run["timeline"], 1) if step["kind"] == "pass_end"]
    made = kept(served, run["id"])
    for step, wanted in ((0, "p1"), (ends[0], "p1"), (ends[0] + 1, "p2"), (len(run["timeline"]), "p2")):
        drawn = served.http.get(f"{made['url']}.mmd?step={step}").text
        assert drawn == served.http.get(f"/api/v1/runs/{run['id']}/graph.mmd?pass={wanted}&lang=en").text, step


def test_a_selection_has_its_ring_in_every_picture(served: Served, run: str) -> None:
    if not served.service.drawing.ready:
        pytest.skip("the drawing code is not built")
    box = next(each["id"] for each in served.http.get(f"/api/v1/runs/{run}/graph").json()["boxes"])
    plain, chosen = (kept(served, run, selection=part)["url"] for part in (None, {"kind": "box", "id": box}))
    assert 'class="ring"' not in served.http.get(f"{plain}.svg").text
    assert served.http.get(f"{chosen}.svg").text.count('class="ring"') == 1
    for ending in (".png", ".pdf"):
        assert served.http.get(f"{chosen}{ending}").content != served.http.get(f"{plain}{ending}").content
    for part in ({"kind": "box", "id": "nosuchbox"}, {"kind": "line", "line": 99_999}):
        drawn = served.http.get(f"{kept(served, run, selection=part)['url']}.svg")
        assert (drawn.status_code, 'class="ring"' in drawn.text) == (200, False)


def test_a_reader_s_wish_wins_on_every_route(served: Served, run: str) -> None:
    url = kept(served, run, step=4, lang="zh")["url"]
    for ending in (".svg", ".png", ".pdf", ".html", ".json", ".dot", ".mmd", ".tikz", ".py"):
        if ending in (".svg", ".png", ".pdf", ".html", ".tikz") and not served.service.drawing.ready:
            continue
        for name, wish, changes in (
            ("lang", "en", ending != ".py"),
            ("step", "1", ending in (".svg", ".png", ".pdf", ".html", ".json")),
            ("theme", "dark", ending in (".svg", ".png", ".pdf", ".html", ".json")),
        ):
            plain, wished = (served.http.get(f"{url}{ending}{query}") for query in ("", f"?{name}={wish}"))
            assert plain.status_code == wished.status_code == 200
            assert not changes or plain.content != wished.content, (ending, name)
        for query in ("step=-1", "step=x", "step=1e9", "lang=fr", "theme=pink"):
            served.problem(served.http.get(f"{url}{ending}?{query}"), 422, "bad-request")


@pytest.mark.slow
def test_the_room_for_snapshots_and_their_rate_are_the_operator_s(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, warm_gallery=False, snapshots_mb=0, snapshots_per_hour=2)
    with serving(settings) as served:
        body = {"run": served.run("x = 1")["id"], "view": {"step": 0, "lang": "en"}}
        for _ in range(2):
            served.problem(served.http.post("/api/v1/snapshots", json=body), 507, "snapshots-full")
        answer = served.http.post("/api/v1/snapshots", json=body)
        assert "2 snapshots" in served.problem(answer, 429, "too-many-snapshots")
        assert int(answer.headers["retry-after"]) > 0


@pytest.mark.parametrize("language", ["zh", "en"])
def test_what_is_kept_is_told_with_the_operator_s_figures(served: Served, language: str) -> None:
    page = served.http.get("/kept", headers={"Accept-Language": language}).text
    assert f'<html lang="{language}">' in page
    for figure in ("2 GiB", "16 MiB", "4 GiB", "100", "600"):
        assert figure in page
    other = {"zh": "en", "en": "zh"}[language]
    assert served.http.get(f"/kept?lang={other}").text.startswith(f'<!doctype html><html lang="{other}">')
