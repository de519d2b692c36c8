"""What the share box writes, built by the tool it is written for."""

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import httpx
import pytest

from tests.e2e.examples import BUILD_S, EXAMPLES, is_buildable
from tests.e2e.snippets import snippets

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(2 * BUILD_S)]


class Pasted(NamedTuple):
    """A snapshot and what is pasted of it."""

    address: str
    texts: dict[str, str]


class Elements(HTMLParser):
    """What a browser makes of a text, element by element."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if tag != "img":
            self.seen.append((f"/{tag}", {}))

    @classmethod
    def of(cls, text: str) -> list[tuple[str, dict[str, str]]]:
        parser = cls()
        parser.feed(text)
        return parser.seen


@pytest.fixture(scope="module")
def pasted(url: str) -> Pasted:
    code = (EXAMPLES / "program.py").read_text("utf-8")
    run = httpx.post(f"{url}/api/v1/runs", json={"code": code}, timeout=60).raise_for_status().json()["id"]
    body = {"run": run, "view": {"step": 10, "lang": "zh"}}
    id = httpx.post(f"{url}/api/v1/snapshots", json=body, timeout=60).raise_for_status().json()["id"]
    return Pasted(f"{url}/s/{id}", snippets(url, id, 10))


def built(command: list[str], folder: Path) -> str:
    """What a tool says."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=BUILD_S, check=False)
    assert done.returncode == 0, f"{done.stdout[-1500:]}{done.stderr[-1500:]}"
    return done.stdout


def test_markdown_is_a_picture_that_leads_to_the_snapshot(pasted: Pasted, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(pasted.texts["markdown"], "utf-8")
    page = ElementTree.fromstring(built([sys.executable, "-m", "markdown", "page.md"], tmp_path))
    link, picture = page.find("a"), page.find("a/img")
    assert link is not None and picture is not None
    assert link.attrib["href"] == pasted.address
    for address, kind in ((pasted.address, "text/html"), (picture.attrib["src"], "image/svg+xml")):
        answer = httpx.get(address, timeout=60)
        assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (200, kind)


@pytest.mark.skipif(not is_buildable("jekyll"), reason="no jekyll on this machine")
def test_jekyll_leaves_the_element_whole(pasted: Pasted, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "jekyll", tmp_path, dirs_exist_ok=True)
    text = f"---\ntitle: Pasted\n---\nBefore *it*.\n\n{pasted.texts['jekyll']}\n\nAfter *it*.\n"
    (tmp_path / "pasted.md").write_text(text, "utf-8")
    built(["jekyll", "build"], tmp_path)
    page = (tmp_path / "_site" / "pasted.html").read_text("utf-8")
    found = re.search(r"<p>Before <em>it</em>.</p>\s*(<div>.*</div>)\s*<p>After <em>it</em>.</p>", page, re.DOTALL)
    assert found is not None, page
    assert Elements.of(found[1]) == Elements.of(pasted.texts["jekyll"])


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex on this machine")
def test_latex_sets_the_picture_it_says_how_to_fetch(pasted: Pasted, tmp_path: Path) -> None:
    text = pasted.texts["latex"]
    fetch, packages = re.findall("^% (.*)$", text, re.MULTILINE)
    built(["sh", "-ec", fetch], tmp_path)
    document = f"\\documentclass{{article}}\n{packages}\n\\begin{{document}}\n{text}\n\\end{{document}}\n"
    (tmp_path / "handout.tex").write_text(document, "utf-8")
    built(["pdflatex", "-halt-on-error", "handout.tex"], tmp_path)
    log = (tmp_path / "handout.log").read_text("utf-8", errors="replace")
    assert f"{pasted.address.rpartition('/')[2]}.pdf" in log and "Overfull" not in log
