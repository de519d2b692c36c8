"""A run in one file: no text of a program is more than text, every graph its steps lead to is there, it stays small."""

import gzip
import json
import re

import pytest

from server.standalone import ASSETS, MOST_PASSES, PLAYER, STYLES
from tests.server.conftest import Served

HOSTILE = """</script><script>alert(1)</script><!--<img src=x onerror="alert(1)">"""
LOOP = """import torch
x = torch.ones(2, requires_grad=True)
for _ in range(3):
    (x * x).sum().backward()
"""
CODE_BYTES = 60_000


def page(served: Served, code: str, **query: str) -> str:
    if not served.service.drawing.ready:
        pytest.skip("the drawing code is not built")
    answer = served.http.get(f"/api/v1/runs/{served.run(code)['id']}/graph.html", params=query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-security-policy"].startswith("sandbox allow-scripts; default-src 'none'")
    return answer.text


def data_of(text: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="run">(.*?)</script>', text)
    assert found
    read: dict[str, object] = json.loads(found[1])
    return read


def test_the_file_of_a_snapshot_has_every_pass_too(served: Served) -> None:
    run = served.run(LOOP)
    last = {"step": len(run["timeline"]), "lang": "en"}
    made = served.http.post("/api/v1/snapshots", json={"run": run["id"], "view": last}).json()
    data = data_of(served.http.get(f"{made['url']}.html").text)
    opens, parts = data["opens"], data["parts"]
    assert isinstance(opens, dict) and isinstance(parts, list)
    assert opens["step"] == str(last["step"])
    assert {part["pass"] for part in parts} == {pass_["id"] for pass_ in run["passes"]}


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
    assert policy[1].startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")
    assert not re.search(r"""(src|href)=["']?(https?:)?/""", text.partition("<script")[0])


def test_every_pass_has_its_graph_in_both_languages(served: Served) -> None:
    parts = data_of(page(served, LOOP, lang="zh", step="2"))["parts"]
    assert isinstance(parts, list)
    assert len(parts) == len({part["pass"] for part in parts}) == 3 < MOST_PASSES
    for part in parts:
        assert set(part["layouts"]) == {"en", "zh"}
        assert {box["id"] for box in part["layouts"]["en"]["boxes"]} <= {box["id"] for box in part["graph"]["boxes"]}


def test_how_it_opens_is_in_it(served: Served) -> None:
    opens = data_of(page(served, LOOP, lang="zh", step="2", theme="dark"))["opens"]
    assert opens == {"lang": "zh", "theme": "dark", "step": "2"}


def test_its_code_stays_small() -> None:
    files = [ASSETS / name for name in (PLAYER, STYLES)]
    if not all(file.exists() for file in files):
        pytest.skip("the frontend is not built")
    assert sum(len(gzip.compress(file.read_bytes(), 9)) for file in files) <= CODE_BYTES
    assert "</script" not in files[0].read_text("utf-8")
