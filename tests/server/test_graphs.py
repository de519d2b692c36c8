"""Views of a stored trace."""

from pathlib import Path

import pytest

from tests.server.conftest import Served

PROGRAM = """import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = (x * x).sum()
z = (x + 1).prod()
y.backward()
z.backward()
"""


@pytest.fixture(scope="module")
def graph_of(served: Served) -> str:
    """Address of a run's graph."""
    return f"/api/v1/runs/{served.run(PROGRAM)['id']}/graph"


def test_the_graph_has_every_edge_with_parallel_ones(served: Served, graph_of: str) -> None:
    graph = served.http.get(graph_of, params={"level": "autograd"}).json()
    roots = {root["name"]: root for root in graph["roots"]}
    assert set(roots) == {"y", "z"}
    of_y = served.http.get(graph_of, params={"level": "autograd", "root": roots["y"]["id"]}).json()
    titles = {box["id"]: box["title"] for box in of_y["boxes"]}
    assert sorted(titles.values()) == ["MulBackward0", "SumBackward0", "leaf"]
    edges = sorted((titles[link["source"]], titles[link["target"]]) for link in of_y["links"])
    assert edges == [("MulBackward0", "SumBackward0")] + [("leaf", "MulBackward0")] * 2


def test_a_pass_can_be_chosen(served: Served, graph_of: str) -> None:
    roots = served.http.get(graph_of).json()["roots"]
    chosen = {root["name"]: root["passes"][0] for root in roots}
    graph = served.http.get(graph_of, params={"pass": chosen["y"]}).json()
    assert graph["pass_id"] == chosen["y"]
    assert "ProdBackward0" not in {box["title"] for box in graph["boxes"]}


@pytest.mark.parametrize(
    ("query", "status", "key"),
    [
        ({"root": "n999"}, 422, "no-such-choice"),
        ({"pass": "p999"}, 422, "no-such-choice"),
        ({"level": "deep"}, 422, "bad-request"),
        ({"theme": "pink"}, 422, "bad-request"),
        ({"step": "-1"}, 422, "bad-request"),
    ],
)
def test_a_choice_that_does_not_exist_is_refused(
    served: Served, graph_of: str, query: dict[str, str], status: int, key: str
) -> None:
    served.problem(served.http.get(graph_of + ".svg", params=query), status, key)


def test_a_graph_is_not_sent_twice(served: Served, graph_of: str) -> None:
    tag = served.http.get(graph_of).headers["etag"]
    assert served.http.get(graph_of, headers={"If-None-Match": tag}).status_code == 304


@pytest.mark.parametrize("form", ["", "/layout", ".svg", ".png", ".dot", ".mmd"])
def test_no_view_of_a_run_that_does_not_exist(served: Served, form: str) -> None:
    served.problem(served.http.get(f"/api/v1/runs/none/graph{form}"), 404, "no-such-run")


def test_the_graph_in_text_languages_names_the_nodes(served: Served, graph_of: str) -> None:
    dot = served.http.get(graph_of + ".dot")
    assert dot.headers["content-type"].startswith("text/vnd.graphviz")
    assert "digraph {" in dot.text
    mermaid = served.http.get(graph_of + ".mmd")
    assert mermaid.headers["content-type"].startswith("text/vnd.mermaid")
    assert "flowchart" in mermaid.text
    for text in (dot.text, mermaid.text):
        assert "ProdBackward0" in text


@pytest.mark.parametrize(("form", "begins"), [(".svg", b"<svg "), (".png", b"\x89PNG")])
def test_the_picture_is_the_pages_own(served: Served, graph_of: str, form: str, begins: bytes) -> None:
    answer = served.http.get(graph_of + form, params={"lang": "zh", "theme": "dark", "step": "3"})
    if not served.service.drawing.ready:
        assert "static-svg.js" in served.problem(answer, 503, "no-picture")
        return
    assert answer.status_code == 200
    assert answer.content.startswith(begins)
    assert "script-src" not in answer.headers["content-security-policy"]


LAYERED = """import torch
from torch import nn

model = nn.Sequential(*[nn.Sequential(nn.Linear(4, 4), nn.ReLU()) for _ in range(12)])
model(torch.ones(2, 4)).sum().backward()
"""
CUT = """import torch
x = torch.ones(2, requires_grad=True)
((x * x).detach() * x).sum().backward()
"""


@pytest.mark.parametrize("program", [PROGRAM, LAYERED, CUT])
@pytest.mark.parametrize("room", ["page", "embed", "phone"])
def test_a_layout_places_what_the_graph_holds(served: Served, program: str, room: str) -> None:
    address = f"/api/v1/runs/{served.run(program)['id']}/graph"
    answer = served.http.get(f"{address}/layout", params={"room": room, "lang": "zh"})
    if not served.service.drawing.ready:
        assert "static-svg.js" in served.problem(answer, 503, "no-picture")
        return
    layout = answer.json()
    graph = served.http.get(address).json()
    groups = {group["id"] for group in graph["groups"]}
    assert {frame["id"] for frame in layout["frames"]} == set(layout["open"]) <= groups
    placed = {box["id"] for box in layout["boxes"]}
    assert placed <= {box["id"] for box in graph["boxes"]} | groups
    links = {f"{link['source']}>{link['target']}" for link in graph["links"]}
    drawn = {link.partition("#")[0] for wire in layout["wires"] for link in wire["links"]}
    assert drawn <= links
    if not groups:  # all but constants and untracked tensors, which are stubs of their boxes
        apart = {box["id"] for box in graph["boxes"] if box["kind"] == "ghost" and box.get("op") is None}
        assert placed == {box["id"] for box in graph["boxes"]} - apart
        assert drawn == {f"{link['source']}>{link['target']}" for link in graph["links"] if link["source"] not in apart}


def test_layouts_differ_with_room_and_language_and_are_not_sent_twice(served: Served) -> None:
    address = f"/api/v1/runs/{served.run(CUT)['id']}/graph/layout"
    if not served.service.drawing.ready:
        pytest.skip("the drawing code is not built")
    asked = [{"room": room, "lang": lang} for room in ("page", "embed") for lang in ("zh", "en")]
    answers = [served.http.get(address, params=each) for each in asked]
    assert len({answer.content for answer in answers}) == len(answers)
    assert (
        answers[1].content
        == served.http.get(address, params={"room": "page"}, headers={"Accept-Language": "en"}).content
    )
    tags = {"If-None-Match": answers[0].headers["etag"]}
    assert served.http.get(address, params=asked[0], headers=tags).status_code == 304


@pytest.mark.parametrize(
    ("query", "status", "key"),
    [
        ({"root": "n999"}, 422, "no-such-choice"),
        ({"pass": "p999"}, 422, "no-such-choice"),
        ({"room": "attic"}, 422, "bad-request"),
        ({"lang": "fr"}, 422, "bad-request"),
    ],
)
def test_a_layout_of_what_does_not_exist_is_refused(
    served: Served, graph_of: str, query: dict[str, str], status: int, key: str
) -> None:
    served.problem(served.http.get(graph_of + "/layout", params=query), status, key)


def test_too_many_boxes_are_not_laid_out(served: Served, graph_of: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served.service.views, "_max_boxes", 2)
    answer = served.http.get(graph_of + "/layout", params={"room": "phone"})
    assert "at most 2" in served.problem(answer, 422, "graph-too-large")


def test_without_the_drawing_code_there_is_no_layout_but_the_graph(
    served: Served, graph_of: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(served.service.drawing, "_bundle", tmp_path / "static-svg.js")
    answer = served.http.get(graph_of + "/layout", params={"level": "forward"})
    assert "static-svg.js" in served.problem(answer, 503, "no-picture")
    assert served.http.get(graph_of, params={"level": "forward"}).status_code == 200
