"""Programs that ask their readers: what the server draws of them gives no answer away, unless it is told to."""

import re
from typing import Any

import pytest

from tests.server.conftest import Served
from tests.server.test_standalone import page, parts_of

ASKING = """import torch
x = torch.tensor([1.5, 2.5], requires_grad=True)
y = x * 3.0
z = (y * y).sum()  # ? z
z.backward()  # ? x.grad
"""
ANSWERS = ("76.5", "27, 45", "SumBackward0", "PowBackward0")
EXTENSIONS = ["svg", "dot", "mmd", "tikz"]


@pytest.fixture
def asking(served: Served) -> dict[str, Any]:
    if not served.service.drawing.ready:
        pytest.skip("the drawing code is not built")
    return served.run(ASKING)


def drawn(served: Served, run: str, extension: str, **query: str) -> str:
    answer = served.http.get(f"/api/v1/runs/{run}/graph.{extension}", params={"lang": "en", **query})
    assert answer.status_code == 200, answer.text
    return answer.text


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_a_picture_ends_before_the_first_question(served: Served, asking: dict[str, Any], extension: str) -> None:
    shown = drawn(served, asking["id"], extension, step=str(len(asking["timeline"])))
    assert "Mul" in shown or "mul" in shown
    assert not [answer for answer in ANSWERS if answer in shown]
    whole = drawn(served, asking["id"], extension, questions="off")
    assert "Sum" in whole or "sum" in whole


def test_what_an_address_chose_of_later_is_not_said(served: Served, asking: dict[str, Any]) -> None:
    later = asking["passes"][0]["id"]
    root = asking["passes"][0]["roots"][0]["node"]
    assert "76.5" not in drawn(served, asking["id"], "svg", **{"pass": later})
    assert "76.5" not in drawn(served, asking["id"], "svg", root=root)
    assert "76.5" in drawn(served, asking["id"], "svg", root=root, questions="off")


def test_a_reader_without_scripts_sees_no_more(served: Served, asking: dict[str, Any]) -> None:
    for query in ("", "?questions=off"):
        text = served.http.get(f"/embed/{asking['id']}{query}").text
        (address,) = re.findall(r'<noscript><img src="([^"]+)"', text)
        assert ("76.5" in served.http.get(address.replace("&amp;", "&")).text) == bool(query)


def test_a_snapshot_of_the_whole_run_asks_like_the_run(served: Served, asking: dict[str, Any]) -> None:
    view = {"step": len(asking["timeline"]), "lang": "en"}
    made = served.http.post("/api/v1/snapshots", json={"run": asking["id"], "view": view}).json()
    assert "76.5" not in served.http.get(f"{made['url']}.svg").text
    assert "76.5" in served.http.get(f"{made['url']}.svg?questions=off").text
    for query in ("", "?questions=off"):
        text = served.http.get(f"/embed/{made['id']}{query}").text
        (address,) = re.findall(r'<noscript>.*?<img src="([^"]+)"', text)
        assert ("76.5" in served.http.get(address.replace("&amp;", "&")).text) == bool(query)
        assert ('questions=off" />' in text or "questions=off&amp;" in text) == bool(query)


def test_the_graph_until_a_step_has_no_later_box(served: Served, asking: dict[str, Any]) -> None:
    first = asking["questions"][0]["step"]
    graph = served.http.get(f"/api/v1/runs/{asking['id']}/graph", params={"until": str(first)}).json()
    ops = {box.get("op") for box in graph["boxes"]}
    happened = {step.get("op") for step in asking["timeline"][:first]}
    assert ops - {None} <= happened
    layout = served.http.get(f"/api/v1/runs/{asking['id']}/graph/layout", params={"until": str(first)}).json()
    assert {box["id"] for box in layout["boxes"]} == {box["id"] for box in graph["boxes"]}


def test_a_file_has_the_graph_before_each_question_and_the_player_that_asks(served: Served) -> None:
    text = page(served, ASKING)
    parts = parts_of(text)
    assert [part.get("until") for part in parts] == [
        None,
        *sorted({part["until"] for part in parts if "until" in part}),
    ]
    assert len(parts) == 3
    whole = page(served, ASKING, questions="off")
    assert [part.get("until") for part in parts_of(whole)] == [None]
    assert len(whole) < len(text)
