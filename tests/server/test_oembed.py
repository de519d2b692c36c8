"""oEmbed: a pasted link becomes a frame of ours and nothing else, whatever stands in it or in the program."""

import re
import struct
from html import unescape
from urllib.parse import urlsplit
from xml.etree import ElementTree

import httpx
import pytest

from server.oembed import asked_in, within, xml
from tests.server.conftest import Json, Served
from tests.server.test_snapshots import CODE, kept

HOSTILE = """s = '"><script>alert(1)</script>&amp;<!--'\nprint(s)\n"""


def asked(served: Served, url: str, **more: object) -> httpx.Response:
    return served.http.get("/oembed", params={"url": url, **{name: str(value) for name, value in more.items()}})


def told(served: Served, path: str, **more: object) -> Json:
    """What is said of a path of the server."""
    answer = asked(served, f"{base_of(served)}{path}", **more)
    assert answer.status_code == 200, answer.text
    facts: Json = answer.json()
    return facts


def base_of(served: Served) -> str:
    return str(served.http.base_url).rstrip("/")


@pytest.fixture(scope="module")
def id(served: Served) -> str:
    return str(kept(served, served.run(CODE)["id"], step=4, lang="zh")["id"])


def test_a_snapshot_is_told_with_frame_title_and_provider(served: Served, id: str) -> None:
    facts = told(served, f"/s/{id}?step=2&theme=dark&x=%22%3E")
    assert (facts["type"], facts["version"], facts["title"]) == ("rich", "1.0", CODE.splitlines()[1])
    assert (facts["provider_name"], facts["provider_url"]) == ("Gradgraph", f"{base_of(served)}/")
    frame = ElementTree.fromstring(facts["html"])
    assert frame.attrib["src"] == f"{base_of(served)}/embed/{id}?step=2&theme=dark"
    assert (frame.attrib["width"], frame.attrib["height"]) == (str(facts["width"]), str(facts["height"]))
    assert frame.attrib["sandbox"] == "allow-scripts allow-popups"
    assert served.http.get(f"/oembed?url={base_of(served)}/s/{id}").headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("bounds", [{}, {"maxwidth": 200}, {"maxheight": 120}, {"maxwidth": 9_999, "maxheight": 90}])
def test_frame_and_picture_are_within_the_bounds(served: Served, id: str, bounds: dict[str, int]) -> None:
    facts = told(served, f"/s/{id}", **bounds)
    assert facts["width"] <= min(800, bounds.get("maxwidth", 800))
    assert facts["height"] <= min(460, bounds.get("maxheight", 460))
    if not served.service.drawing.ready:
        pytest.skip("the drawing code is not built")
    assert facts["thumbnail_width"] <= bounds.get("maxwidth", 1200)
    assert facts["thumbnail_height"] <= bounds.get("maxheight", 1200)
    picture = served.http.get(facts["thumbnail_url"])
    assert picture.headers["content-type"] == "image/png"
    assert struct.unpack(">II", picture.content[16:24]) == (facts["thumbnail_width"], facts["thumbnail_height"])


def test_without_pictures_there_is_a_frame(served: Served, id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.routes.oembed.find_spec", lambda _name: None)
    assert not [name for name in told(served, f"/embed/{id}") if name.startswith("thumbnail")]


def test_a_run_and_a_lesson_are_told_too(served: Served) -> None:
    lesson = served.http.get("/api/v1/gallery/diamond").json()
    assert served.run(lesson["code"])["id"] == lesson["run"]
    facts = told(served, f"/embed/{lesson['run']}?lang=zh")
    assert facts["title"] == lesson["zh"]["title"]
    if served.service.drawing.ready:
        assert f"/api/v1/runs/{lesson['run']}/graph.png?lang=zh" in facts["thumbnail_url"]
        assert served.http.get(facts["thumbnail_url"]).status_code == 200


def test_xml_says_the_same_as_json(served: Served) -> None:
    path = f"/s/{kept(served, served.run(HOSTILE)['id'])['id']}"
    answer = asked(served, f"{base_of(served)}{path}", format="xml")
    assert answer.headers["content-type"] == "text/xml; charset=utf-8"
    root = ElementTree.fromstring(answer.content)
    assert root.tag == "oembed"
    assert {each.tag: each.text for each in root} == {name: str(fact) for name, fact in told(served, path).items()}


def test_a_hostile_title_is_text_everywhere(served: Served) -> None:
    id = kept(served, served.run(HOSTILE)["id"])["id"]
    facts = told(served, f"/s/{id}")
    assert facts["title"] == HOSTILE.splitlines()[0]
    frame = ElementTree.fromstring(facts["html"])
    assert (frame.attrib["title"], len(frame), frame.text) == (facts["title"], 0, None)
    for path in (f"/s/{id}", f"/embed/{id}"):
        page = served.http.get(path)
        if page.status_code == 503:
            pytest.skip("the page is not built")
        assert "<script>alert" not in page.text


def test_characters_that_xml_has_not_are_replaced() -> None:
    root = ElementTree.fromstring(xml({"title": "a\x00\x1b\ud800\ufffe]]>b"}))
    assert root.findtext("title") == "a\ufffd\ufffd\ufffd\ufffd]]>b"


def test_pages_name_where_to_ask(served: Served, id: str) -> None:
    run = served.run(CODE)["id"]
    for path in (f"/s/{id}?step=3", f"/embed/{id}?step=3", f"/embed/{run}?step=3&x=%22"):
        page = served.http.get(path)
        if page.status_code == 503:
            pytest.skip("the page is not built")
        head = page.text.partition("</head>")[0]
        links = re.findall(r'<link rel="alternate" type="([^"]+)\+oembed" title="[^"]*" href="([^"]+)"', head)
        assert [kind for kind, _ in links] == ["application/json", "text/xml"], path
        for kind, link in links:
            answer = served.http.get(unescape(link))
            assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (200, kind)
            assert "step=3" in answer.text


@pytest.mark.parametrize(
    "url",
    [
        "https://elsewhere.example/s/{id}",
        "http://127.0.0.1:1/s/{id}",
        "javascript://{host}/s/{id}",
        "file:///s/{id}",
        "http://{host}@elsewhere.example/s/{id}",
        "http://{host}/",
        "http://{host}/s/{id}/../../docs",
        "http://{host}/s/{id}.svg",
        "http://{host}:99999/s/{id}",
        "http://[::1/s/{id}",
        '"><script>alert(1)</script>',
        "",
    ],
)
def test_other_addresses_are_refused(served: Served, id: str, url: str) -> None:
    host = urlsplit(base_of(served)).netloc
    answer = asked(served, url.format(id=id, host=host))
    assert base_of(served) in served.problem(answer, 404, "not-embeddable")


def test_what_is_not_there_and_other_formats_are_told(served: Served, id: str) -> None:
    served.problem(asked(served, f"{base_of(served)}/s/{'a' * 12}"), 404, "no-such-snapshot")
    served.problem(asked(served, f"{base_of(served)}/embed/nosuchrun"), 404, "no-such-run")
    sentence = served.problem(asked(served, f"{base_of(served)}/s/{id}", format="yaml"), 501, "no-such-oembed-format")
    assert "yaml" in sentence
    served.problem(served.http.get("/oembed"), 422, "bad-request")
    served.problem(asked(served, "x" * 2_001), 422, "bad-request")
    for bound in ("0", "-1", "wide", "1e9"):
        served.problem(asked(served, f"{base_of(served)}/s/{id}", maxwidth=bound), 422, "bad-request")


def test_a_proxy_may_speak_https_to_the_world() -> None:
    found = asked_in("https://Graph.example/s/abc?mode=edit&hide=code#run=abc&step=5&lang=fr", "http://graph.example/")
    assert found is not None
    assert (found.id, found.opens) == ("abc", {"step": "5", "hide": "code"})
    assert asked_in("https://graph.example:8443/s/abc", "http://graph.example/") is None


def test_a_mere_dot_is_no_picture() -> None:
    assert within('<svg width="400" height="300">', (200, 1_000)) == (200, 150)
    assert within('<svg width="400" height="8000">', (200, 200)) is None
