"""The examples of docs/embedding.md: quoted as they are, built by the tools they name."""

import json
import os
import re
from pathlib import Path

import pytest
import typst

from tests.e2e.examples import EXAMPLES, PAGES, ROOT, TOOLS, Example, is_buildable, without_scripts

DOCUMENT = (ROOT / "docs" / "embedding.md").read_text("utf-8")
QUOTES = re.findall(r"^<!-- from: (\S+) -->\n````?\w*\n(.*?)^````?$", DOCUMENT, re.MULTILINE | re.DOTALL)
PICTURE_BYTES = 60_000
TOP = """#set page(width: 400pt, height: 320pt, margin: (x: -106pt, top: -105pt, bottom: -367pt))
#image("handout.pdf", width: 612pt)
"""
"""What there is on the page, without its margins: typst cuts it out."""

build = pytest.mark.timeout(900)


@pytest.mark.parametrize(("file", "quoted"), QUOTES, ids=[f"{at}-{file}" for at, (file, _) in enumerate(QUOTES)])
def test_what_the_document_quotes_stands_in_the_example(file: str, quoted: str) -> None:
    assert quoted in (EXAMPLES / file).read_text("utf-8")


def test_the_cell_of_the_notebook_is_quoted() -> None:
    cells = json.loads((EXAMPLES / "notebook" / "notes.ipynb").read_text("utf-8"))["cells"]
    assert f"```python\n{''.join(cells[1]['source'])}\n```" in DOCUMENT


def test_each_example_is_quoted_with_its_steps_and_its_picture() -> None:
    files = {file for file, _ in QUOTES}
    assert {Path(file).parts[0] for file in files} >= set(PAGES)
    assert {path.parent.name for path in EXAMPLES.glob("*/build.sh")} <= {
        Path(file).parent.name for file in files if file.endswith("build.sh")
    }
    for name in PAGES:
        assert f"](pictures/embed-{name}.png)" in DOCUMENT
        assert (ROOT / "docs" / "pictures" / f"embed-{name}.png").stat().st_size <= PICTURE_BYTES


@build
@pytest.mark.e2e
@pytest.mark.parametrize("name", PAGES)
def test_an_example_is_built(name: str, examples: dict[str, Example]) -> None:
    if not is_buildable(name):
        pytest.skip(f"no {TOOLS[name]} on this machine")
    assert examples[name].page.stat().st_size > 0


@build
@pytest.mark.e2e
@pytest.mark.skipif(not is_buildable("latex"), reason="no xelatex on this machine")
def test_the_handout_holds_the_picture(examples: dict[str, Example]) -> None:
    folder = examples["latex"].page.parent
    assert "graph.pdf" in (folder / "handout.log").read_text("utf-8", errors="replace")
    (folder / "top.typ").write_text(TOP, "utf-8")
    picture = bytes(typst.compile(folder / "top.typ", format="png", ppi=110))
    if pictures := os.environ.get("PICTURES_OF_THE_PAGE"):
        Path(pictures, "embed-latex.png").write_bytes(picture)
    assert len(picture) <= PICTURE_BYTES


def test_where_scripts_are_stripped_the_frame_stays_and_the_element_leaves_a_picture() -> None:
    frame = re.search(r"<iframe.*?></iframe>", (EXAMPLES / "moodle" / "page.html").read_text("utf-8"))
    assert frame is not None
    cleaned = without_scripts(f"<script>alert(1)</script>{frame[0]}")
    assert "<script" not in cleaned
    assert 'src="HOST/embed/RUN?step=10&amp;lang=zh' in cleaned and 'sandbox="allow-scripts allow-popups"' in cleaned
    element = without_scripts((EXAMPLES / "plain" / "index.html").read_text("utf-8"))
    assert "gradgraph-embed" not in element
    assert re.search(r'<a href="HOST/#run=RUN"><img .*alt="Graph of 2x · x²"', element)
