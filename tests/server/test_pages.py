"""The page, the embed, their files and the headers around every answer."""

import gzip
from pathlib import Path

import pytest
from starlette.requests import Request

from server.frontend_files import FrontendFiles
from server.http_policy import policy
from server.routes.pages import may_edit
from server.settings import Settings
from tests.bench.bench_sizes import ASSETS, loaded_by, zipped
from tests.server.conftest import Served

EVERYWHERE = [
    "/",
    "/docs",
    "/openapi.json",
    "/metrics",
    "/api/v1/health",
    "/api/v1/runs/none",
    "/nothing",
    "/embed/none",
    "/kept",
    "/s/none",
    "/s/none.svg",
]


@pytest.mark.parametrize("path", EVERYWHERE)
def test_only_embeds_may_be_framed_by_others(served: Served, path: str) -> None:
    headers = served.http.get(path).headers
    policy = headers["content-security-policy"]
    ancestors = policy.split("frame-ancestors ")[1]
    assert ancestors == ("* file:" if path.startswith(("/embed/", "/s/")) else "'self'")
    assert policy.startswith("default-src 'none'; script-src 'self'")
    assert "unsafe-eval" not in policy
    assert (headers["x-content-type-options"], "x-frame-options" in headers) == ("nosniff", False)
    assert headers["referrer-policy"] == "strict-origin-when-cross-origin"


PAGE = "https://course.example"


@pytest.mark.parametrize(
    ("allowed", "headers", "edits"),
    [
        ("", {"Referer": f"{PAGE}/"}, False),
        ("", {"Sec-Fetch-Dest": "document"}, False),
        (PAGE, {}, False),
        (PAGE, {"Referer": f"{PAGE}/"}, True),
        (PAGE, {"Referer": "https://course.example.evil/"}, False),
        (PAGE, {"Referer": "http://testserver/page"}, True),
        (PAGE, {"Sec-Fetch-Dest": "document"}, True),
        (f"https://other.example {PAGE}", {"Referer": f"{PAGE}/"}, True),
        ("*", {}, True),
    ],
)
def test_programs_change_only_where_the_operator_allows_it(allowed: str, headers: dict[str, str], edits: bool) -> None:
    scope = {
        "type": "http", "method": "GET", "path": "/embed/none", "scheme": "http", "server": ("testserver", 80),
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
    }  # fmt: skip
    assert may_edit(Request(scope), Settings(embed_edit=allowed).edit_origins) is edits


def test_an_embed_that_edits_is_framed_by_those_pages_alone() -> None:
    assert policy("/embed/none", framed_by=("'self'", PAGE)).endswith(f"frame-ancestors 'self' {PAGE}")
    assert policy("/", framed_by=("*",)).endswith("frame-ancestors 'self'")


def test_an_embed_that_may_not_edit_plays(served: Served) -> None:
    plays = served.http.get("/embed/none")
    asked = served.http.get("/embed/none", params={"mode": "edit"}, headers={"Referer": PAGE})
    assert asked.headers["content-security-policy"] == plays.headers["content-security-policy"]
    assert "/assets/edit-" not in asked.text


@pytest.mark.parametrize(
    ("path", "is_open"),
    [("/api/v1/runs/none", True), ("/api/v1/gallery", True), ("/api/v1/health", False), ("/", False)],
)
def test_other_origins_read_only_what_is_public(served: Served, path: str, is_open: bool) -> None:
    assert ("access-control-allow-origin" in served.http.get(path).headers) is is_open


def test_the_page_names_the_session_once(served: Served) -> None:
    served.http.cookies.clear()
    cookie = served.http.get("/").headers["set-cookie"]
    assert all(word in cookie for word in ("gradgraph_session=", "HttpOnly", "SameSite=lax", "Path=/;"))
    again = served.http.get("/", headers={"Cookie": "gradgraph_session=known"})
    assert "set-cookie" not in again.headers
    served.http.cookies.clear()


def test_what_the_build_compressed_is_sent_if_it_is_of_these_bytes(tmp_path: Path) -> None:
    file = tmp_path / "app.js"
    file.write_text("let x = 1\n" * 200)
    packed = gzip.compress(file.read_bytes(), 1)
    for beside, sent in ((packed, packed), (gzip.compress(b"let y = 2"), None)):
        (tmp_path / "app.js.gz").write_bytes(beside)
        page = FrontendFiles(tmp_path).get("app.js")
        assert page is not None
        assert page.zipped == (sent or gzip.compress(page.body, 9, mtime=0))
        assert FrontendFiles(tmp_path).get("app.js.gz") is None


def test_files_of_the_build_are_read_compressed_and_read_again(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    file = tmp_path / "assets" / "app-1a2b.js"
    file.write_text("let x = 1\n" * 200)
    pages = FrontendFiles(tmp_path)
    page = pages.get("assets/app-1a2b.js")
    assert page is not None
    assert page.media_type == "text/javascript"
    assert gzip.decompress(page.zipped) == page.body == file.read_bytes()
    file.write_text("let y = 2")
    newer = pages.get("assets/app-1a2b.js")
    assert newer is not None
    assert newer.body == b"let y = 2"


@pytest.mark.parametrize("path", ["../secret", "assets/../../secret", "/etc/passwd", "assets", "", "none"])
def test_nothing_outside_the_build_is_served(tmp_path: Path, path: str) -> None:
    (tmp_path / "build" / "assets").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    assert FrontendFiles(tmp_path / "build").get(path) is None


def test_inline_scripts_of_the_page_are_named_in_its_policy(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text('<script>go()</script><script type="module" src="/a.js"></script>')
    page = FrontendFiles(tmp_path).get("index.html")
    assert page is not None
    assert page.script_hashes == ("'sha256-5KYv+PUboo5h+0+YAtGRPbwv5d/QxzHslP4YGnUaxRw='",)


def test_a_path_that_does_not_exist_and_a_wrong_method_are_problems(served: Served) -> None:
    assert "/nothing" in served.problem(served.http.get("/nothing"), 404, "no-such-page")
    assert "/a/b/c" in served.problem(served.http.get("/a/b/c"), 404, "no-such-page")
    assert "DELETE" in served.problem(served.http.delete("/api/v1/runs"), 405, "method-not-allowed")
    served.problem(served.http.get("/assets/none.js"), 404, "no-such-page")
    served.problem(served.http.get("/index.html"), 404, "no-such-page")


@pytest.mark.parametrize("path", ["/api/v1/gallery", "/docs", "/nothing"])
def test_head_is_get_without_the_body(served: Served, path: str) -> None:
    head, whole = served.http.head(path), served.http.get(path)
    assert (head.status_code, head.content) == (whole.status_code, b"")
    assert head.headers["content-length"] == whole.headers["content-length"]


def test_an_answer_made_by_a_route_has_a_tag_and_is_compressed(served: Served) -> None:
    whole = served.http.get("/api/v1/gallery", headers={"Accept-Encoding": "gzip"})
    assert (whole.headers["content-encoding"], whole.headers["vary"]) == ("gzip", "Accept-Encoding")
    assert whole.headers["cache-control"] == "no-cache"
    assert int(whole.headers["content-length"]) < len(whole.content) / 2
    plain = served.http.get("/api/v1/gallery", headers={"Accept-Encoding": "identity"})
    assert (plain.json(), "content-encoding" in plain.headers) == (whole.json(), False)
    assert plain.headers["vary"] == "Accept-Encoding"
    for known in (whole.headers["etag"], f'"other", {whole.headers["etag"]}', "*"):
        same = served.http.get("/api/v1/gallery", headers={"If-None-Match": known})
        assert (same.status_code, same.content, same.headers["vary"]) == (304, b"", "Accept-Encoding")
        assert same.headers["etag"] == whole.headers["etag"]
    assert served.http.get("/api/v1/gallery", headers={"If-None-Match": '"other"'}).status_code == 200
    assert "etag" not in served.http.get("/api/v1/health").headers, "what is never kept needs none"


def test_an_embed_without_scripts_is_a_picture(served: Served) -> None:
    if not served.service.frontend.get("embed.html"):
        pytest.skip("the frontend is not built")
    text = served.http.get('/embed/a"><script>', params={"step": '3"><script>'}).text
    assert text.count("<script") == 1
    address = "/api/v1/runs/a%22%3E%3Cscript%3E/graph.svg?step=3%22%3E%3Cscript%3E"
    assert f'<noscript><img src="{address}"' in text


def test_the_element_of_course_pages_is_small(served: Served) -> None:
    if not served.service.frontend.get("embed.js"):
        pytest.skip("the frontend is not built")
    answer = served.http.get("/embed.js")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert len(gzip.compress(answer.content, 9)) <= 4096


def test_what_course_pages_load_stays_small() -> None:
    if not (ASSETS / "embed.html").exists():
        pytest.skip("the page is not built")
    assert zipped(ASSETS / "embed.js") <= 4_000
    assert sum(zipped(ASSETS / "assets" / name) for name in loaded_by("embed.html")) <= 50 * 1024


def test_the_first_script_of_the_playground_stays_small() -> None:
    if not (ASSETS / "index.html").exists():
        pytest.skip("the page is not built")
    assert max(zipped(ASSETS / "assets" / name) for name in loaded_by("index.html")) <= 60_000
