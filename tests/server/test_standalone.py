"""A run in one file: no text of a program is more than text, every graph its steps lead to is there, it stays small."""

import gzip
import json
import re
from typing import Any

import pytest

from server.standalone import ASSETS, MOST_FOLDINGS, MOST_PASSES, PLAYER
from tests.server.conftest import Served

HOSTILE = """</script><script>alert(1)</script><!--<img src=x onerror="alert(1)">"""
LOOP = """import torch
x = torch.ones(2, requires_grad=True)
for _ in range(3):
    (x * x).sum().backward()
"""
GROUPS = """import torch
from torch import nn
model = nn.Sequential(nn.Linear(4, 8), nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8)), nn.Linear(8, 1))
model(torch.ones(3, 4)).pow(2).mean().backward()
"""
LONG = """import torch
x = torch.ones(2, requires_grad=True)
for _ in range(66):
    (x * x).sum().backward()
"""
CODE_BYTES = 65 * 1024
"""Of all that is not the run itself, compressed."""
ASKING_BYTES = 12 * 1024 + 768
"""More where the program asks its reader."""


def page(served: Served, code: str, **query: str) -> str:
    if not served.service.drawing.ready:
        pytest.skip("the drawing code is not built")
    answer = served.http.get(f"/api/v1/runs/{served.run(code)['id']}/graph.html", params=query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-security-policy"].startswith("sandbox allow-scripts; default-src 'none'")
    assert "img-src data:" in answer.headers["content-security-policy"], "small pictures of tensors"
    return answer.text


def data_of(text: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="gradgraph-run">(.*?)</script>', text)
    assert found
    read: dict[str, object] = json.loads(found[1])
    return read


def parts_of(text: str) -> list[dict[str, Any]]:
    parts = data_of(text)["parts"]
    assert isinstance(parts, list)
    return parts


def test_the_file_of_a_snapshot_has_every_pass_too(served: Served) -> None:
    run = served.run(LOOP)
    last = {"step": len(run["timeline"]), "lang": "en"}
    made = served.http.post("/api/v1/snapshots", json={"run": run["id"], "view": last}).json()
    data = data_of(served.http.get(f"{made['url']}.html").text)
    opens, parts = data["opens"], data["parts"]
    assert isinstance(opens, dict) and isinstance(parts, list)
    assert opens["step"] == str(last["step"])
    assert {part["pass"] for part in parts} == {pass_["id"] for pass_ in run["passes"]}


def test_the_file_of_a_snapshot_opens_as_the_snapshot(served: Served) -> None:
    if not served.service.drawing.ready:
        pytest.skip("the drawing code is not built")
    run = served.run(GROUPS)
    ids = {group["title"]: group["id"] for group in served.http.get(f"/api/v1/runs/{run['id']}/graph").json()["groups"]}
    selected, opened = {"kind": "group", "id": ids["1"]}, [ids["model"]]
    view = {"step": 3, "lang": "zh", "selection": selected, "expanded": opened}
    made = served.http.post("/api/v1/snapshots", json={"run": run["id"], "view": view}).json()
    text = served.http.get(f"{made['url']}.html").text
    data = data_of(text)
    assert data["opens"] == {"lang": "zh", "theme": "auto", "step": "3"}, "its colours are the reader's, as on the page"
    assert data["selection"] == selected
    for layouts in parts_of(text)[0]["layouts"].values():
        assert layouts[0]["open"] == opened
    wished = data_of(served.http.get(f"{made['url']}.html?theme=dark&step=4&lang=en").text)
    assert wished["opens"] == {"lang": "en", "theme": "dark", "step": "4"}


def test_a_hostile_program_is_text(served: Served) -> None:
    code = f"import torch\ntext = {HOSTILE!r}\nx = torch.ones(1, requires_grad=True)\n(x * 2).sum().backward()\n"
    text = page(served, code)
    assert HOSTILE not in text
    assert text.count("<script") == text.count("</script>") == 2
    trace = data_of(text)["trace"]
    assert isinstance(trace, dict)
    assert trace["program"]["code"] == code


def test_its_policy_names_each_script_and_nothing_else(served: Served) -> None:
    text = page(served, LOOP)
    policy = re.search(r'Content-Security-Policy" content="(.*?)"', text)
    assert policy
    assert policy[1].startswith("default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-")
    assert not re.search(r"""(src|href)=["']?(https?:)?/""", text.partition("<script")[0])


def test_every_pass_has_its_graph_in_both_languages(served: Served) -> None:
    parts = parts_of(page(served, LOOP, lang="zh", step="2"))
    assert len(parts) == len({part["pass"] for part in parts}) == 3 < MOST_PASSES
    for part in parts:
        assert set(part["layouts"]) == {"en", "zh"}
        opening = part["layouts"]["en"][0]
        assert {box["id"] for box in opening["boxes"]} <= {box["id"] for box in part["graph"]["boxes"]}


@pytest.mark.slow
def test_of_many_passes_the_last_are_in_it(served: Served) -> None:
    run = served.run(LONG)
    parts = parts_of(page(served, LONG))
    assert [part["pass"] for part in parts] == [one["id"] for one in run["passes"][-MOST_PASSES:]]


def test_groups_are_laid_out_opened_and_folded(served: Served) -> None:
    (part,) = parts_of(page(served, GROUPS))
    for layouts in part["layouts"].values():
        opening, *others = [set(layout["open"]) for layout in layouts]
        assert opening and len(layouts) <= MOST_FOLDINGS
        assert all(any(group not in other for other in others) for group in opening), "each can be folded"
    assert [one["open"] for one in part["layouts"]["en"]] == [one["open"] for one in part["layouts"]["zh"]]


def test_the_module_gets_what_the_file_holds(served: Served) -> None:
    data = data_of(page(served, LOOP, step="2"))
    answer = served.http.get(f"/api/v1/runs/{served.run(LOOP)['id']}/graph.player", params={"step": "2"})
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == data
    assert data["format"] == "gradgraph.player/1"
    module = served.http.get("/embed.mjs")
    assert module.headers["content-type"].startswith("text/javascript")
    assert module.headers["access-control-allow-origin"] == "*"


def test_how_it_opens_is_in_it(served: Served) -> None:
    opens = data_of(page(served, LOOP, lang="zh", step="2", theme="dark"))["opens"]
    assert opens == {"lang": "zh", "theme": "dark", "step": "2"}


def test_its_code_stays_small(served: Served) -> None:
    if not (ASSETS / PLAYER).exists():
        pytest.skip("the frontend is not built")
    assert "</script" not in (ASSETS / PLAYER).read_text("utf-8")
    for code in (LOOP, GROUPS):
        around = re.sub(r'(id="gradgraph-run">).*?(</script>)', r"\1\2", page(served, code))
        assert len(gzip.compress(around.encode(), 9)) <= CODE_BYTES
    around = re.sub(r'(id="gradgraph-run">).*?(</script>)', r"\1\2", page(served, f"{LOOP}# ? x.grad\n"))
    assert CODE_BYTES < len(gzip.compress(around.encode(), 9)) <= CODE_BYTES + ASKING_BYTES
