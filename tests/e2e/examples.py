"""The examples of docs/embedding.md, each a whole small project, built as its own build.sh says."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import bleach
import httpx
from bleach.css_sanitizer import CSSSanitizer

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
PAGES = {
    "plain": "index.html",
    "moodle": "page.html",
    "jekyll": "_site/2026/03/02/autograd.html",
    "mkdocs": "site/index.html",
    "sphinx": "_build/html/index.html",
    "slides": "index.html",
    "book": "index.html",
    "notebook": "notes.html",
    "latex": "handout.pdf",
}
"""What comes of each project."""
TOOLS = {"jekyll": "jekyll", "latex": "xelatex"}
"""Programs that pip does not bring."""
IN_CHINESE = ("moodle", "jekyll", "sphinx", "book")
STEP = 10
"""At which they all open."""
BUILD_S = 300

_KEPT_TAGS = {"h1", "h2", "h3", "p", "a", "code", "img", "iframe"}
_KEPT_ATTRIBUTES = {
    "a": ["href"],
    "img": ["src", "alt", "loading"],
    "iframe": ["src", "title", "width", "height", "loading", "sandbox", "style"],
}
_KEPT_STYLES = CSSSanitizer(allowed_css_properties=["border"])


class Example(NamedTuple):
    """One that was built."""

    name: str
    page: Path


def is_buildable(name: str) -> bool:
    """Whether this machine has the tool."""
    return name not in TOOLS or shutil.which(TOOLS[name]) is not None


def built(into: Path, server: str) -> list[Example]:
    """All that can be built here, of one run on a server; `pages.json` there lists those for a browser."""
    code = (EXAMPLES / "program.py").read_text("utf-8")
    run = httpx.post(f"{server}/api/v1/runs", json={"code": code}, timeout=60).raise_for_status().json()["id"]
    shutil.copytree(EXAMPLES, into, dirs_exist_ok=True)
    for file in (path for path in into.rglob("*") if path.is_file()):
        file.write_text(file.read_text("utf-8").replace("HOST", server).replace("RUN", run), "utf-8")
    examples = [Example(name, into / name / page) for name, page in PAGES.items() if is_buildable(name)]
    for name, page in examples:
        _build(into / name)
        if name == "moodle":
            page.write_text(without_scripts(page.read_text("utf-8")), "utf-8")
    pages = [
        {
            "name": name,
            "page": str(page.relative_to(into)),
            "step": f"第 {STEP} 步" if name in IN_CHINESE else f"Step {STEP}",
        }
        for name, page in examples
        if page.suffix == ".html"
    ]
    (into / "pages.json").write_text(json.dumps(pages), "utf-8")
    return examples


def without_scripts(html: str) -> str:
    """What a platform that trusts nobody leaves of a page: an allowed set of elements and attributes."""
    cleaned = bleach.clean(html, tags=_KEPT_TAGS, attributes=_KEPT_ATTRIBUTES, css_sanitizer=_KEPT_STYLES, strip=True)
    return f'<!doctype html><html lang="zh"><meta charset="utf-8"><title>Course</title>{cleaned}'


def _build(folder: Path) -> None:
    if not (folder / "build.sh").exists():
        return
    tools, package = Path(sys.executable).parent, ROOT / "packages" / "sphinx-gradgraph"
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": str(package)}
    done = subprocess.run(
        ["sh", "-e", "build.sh"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=BUILD_S,
        check=False,
    )
    assert done.returncode == 0, f"{folder.name}: {done.stdout[-1500:]}{done.stderr[-1500:]}"


if __name__ == "__main__":
    built(Path(sys.argv[1]), os.environ["GRADGRAPH_URL"])
