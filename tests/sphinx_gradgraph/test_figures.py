"""A program in a document: run while the pages are built, shown by each builder as it can."""

import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from sphinx_gradgraph import engine
from tests import soak
from tests.e2e.snippets import snippets
from tests.sphinx_gradgraph.conftest import CONF, Build, Built

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

SQUARE = "import torch\nx = torch.tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()\n"
INDEX = """Course
======

See :numref:`square`.

.. gradgraph::
   :step: 3
   :caption: Both gradients *arrive*.
   :name: square

   import torch
   x = torch.tensor(3.0, requires_grad=True)
   y = x * x
   y.backward()

.. gradgraph:: square.py
   :theme: dark
   :hide: code
   :height: 300
   :title: Square
   :alt: x is used twice

.. toctree::

   chinese
"""
CHINESE = """# 平方

```{gradgraph} square.py
:lang: zh
:step: 3
```
"""
PROJECT = {"conf.py": f"{CONF}numfig = True\n", "index.rst": INDEX, "chinese.md": CHINESE, "square.py": SQUARE}
EPUB = {"epub_copyright": "all", "version": "1"}
"""What an EPUB has to say of itself."""
ALL = ("html", "dirhtml", "singlehtml", "epub", "latex", "text", "man", "texinfo")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a project with figures in both markups."""
    return tmp_path_factory.mktemp("course")


@pytest.fixture(scope="module")
def html(place: Path, build: Build) -> Built:
    """Its pages."""
    return build(place, PROJECT)


@pytest.fixture
def nothing_runs(html: Built, monkeypatch: pytest.MonkeyPatch) -> None:
    """The project is built, and from now on no program can run."""
    assert html.warnings == []

    def refuse(code: str, sandboxed: bool) -> None:
        raise AssertionError(f"ran anew: {code}")

    monkeypatch.setattr(engine, "run", refuse)


def test_a_program_becomes_its_picture_inside_its_player(html: Built) -> None:
    page = html.text("index.html")
    element = re.search(
        r'<gradgraph-embed lang="en" src="(\S+)" step="3" theme="auto">\s*(.*?)</gradgraph-embed>', page, re.DOTALL
    )
    assert element is not None
    player = html.text(element[1])
    assert "Content-Security-Policy" in player and "y = x * x" in player
    dark, light = re.findall(r'src(?:set)?="([^"]+)"', element[2])
    assert "MulBackward0" in html.text(dark) and "MulBackward0" in html.text(light)
    assert html.text(dark) != html.text(light)
    assert re.search(r'alt="Computation graph: .*; x · leaf · 3; MulBackward0 · y · 9', element[2])
    assert "Both gradients <em>arrive</em>." in page and 'id="square"' in page and "Fig. 1" in page
    assert re.search(r'<div class="gradgraph-program">\s*<div class="highlight-python', page)


def test_options_reach_the_element(html: Built) -> None:
    page = html.text("index.html")
    assert re.search(
        r'<gradgraph-embed height="300" hide="code" lang="en" src="\S+" theme="dark" title="Square">', page
    )
    assert 'alt="x is used twice"' in page
    assert page.count("gradgraph-program") == 1, "the second one hides its code"


def test_the_same_run_is_published_once(html: Built) -> None:
    page = html.text("index.html")
    assert len(set(re.findall(r' src="(_static/_gradgraph/\w+\.html)"', page))) == 1


def test_only_pages_with_figures_load_the_element(html: Built) -> None:
    assert "_gradgraph/embed.js" in html.text("index.html")
    assert "_gradgraph/embed.js" not in html.text("genindex.html")


def test_myst_has_the_directive_too(html: Built) -> None:
    page = html.text("chinese.html")
    assert re.search(r'<gradgraph-embed lang="zh" src="\S+" step="3" theme="auto">', page)
    assert 'alt="计算图：' in page


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize("builder", ALL)
def test_each_builder_shows_what_it_can_and_runs_nothing_again(place: Path, build: Build, builder: str) -> None:
    built = build(place, None, builder, **EPUB)
    assert built.warnings == []
    told = {
        "html": ("index.html", r"<gradgraph-embed .*y = x|<gradgraph-embed "),
        "dirhtml": ("chinese/index.html", r'<gradgraph-embed lang="zh" src="\.\./_static/_gradgraph/\w+\.html"'),
        "singlehtml": ("index.html", r'<gradgraph-embed lang="zh" src="_static/_gradgraph/\w+\.html"'),
        "epub": ("index.xhtml", r'<img alt="[^"]+" src="_images/graph-\w+\.svg"'),
        "latex": ("course.tex", r"sphinxVerbatim(?s:.*)\\sphinxincludegraphics\{\{graph-\w+\}\.pdf\}"),
        "text": ("index.txt", r"y = x \* x(?s:.*)\[image: Computation graph: "),
        "man": ("course.1", r"y = x \* x(?s:.*)\[image: Computation graph: "),
        "texinfo": ("course.texi", r"@image\{course-figures/graph-\w+"),
    }
    name, form = told[builder]
    text = built.text(name)
    assert re.search(form, text), text
    assert ("<gradgraph-embed" in text) == builder.endswith("html")


@pytest.mark.usefixtures("nothing_runs")
def test_a_page_that_changed_around_its_program_runs_nothing(place: Path, build: Build) -> None:
    built = build(place, {**PROJECT, "index.rst": INDEX.replace("See", "Look at")})
    assert "Look at" in built.text("index.html")


def test_a_document_in_chinese_has_chinese_figures(tmp_path: Path, build: Build) -> None:
    built = build(
        tmp_path, {"index.rst": "课\n==\n\n.. gradgraph:: square.py\n", "square.py": SQUARE}, language="zh_CN"
    )
    assert built.warnings == []
    assert '<gradgraph-embed lang="zh"' in built.text("index.html")


WRONG = """# Wrong

```{gradgraph}
:step: three
:theme: red

import torch
x = torch.ones(2, requires_grad=True)
x.exp_()
```

```{gradgraph} square.py
:step: 99
:fails:
```

```{gradgraph} nowhere.py
```

```{gradgraph} https://example.org/#run=abc
```

```{gradgraph}
```

```{gradgraph} square.py
print(1)
```

```{gradgraph}
:fails:

import torch
torch.ones(2) @ torch.ones(3)
```

The page goes on.
"""


def test_what_is_wrong_is_a_warning_at_its_line_and_the_page_is_built(tmp_path: Path, build: Build) -> None:
    built = build(tmp_path, {"index.md": WRONG, "square.py": SQUARE})
    assert built.warnings == [
        "index.md:3: WARNING: gradgraph: :step: 'three' is not a whole number, 0 or more [gradgraph]",
        "index.md:3: WARNING: gradgraph: :theme: 'red' is not auto, light or dark [gradgraph]",
        "index.md:3: WARNING: gradgraph: the program ended in its line 3 with RuntimeError: a leaf Variable that requires"
        " grad is being used in an in-place operation. [gradgraph]",
        "index.md:12: WARNING: gradgraph: :fails: is said of a program that reached its end [gradgraph]",
        "index.md:12: WARNING: gradgraph: :step: 99 is not a step of this run; give a whole number from 0 to 9"
        " [gradgraph]",
        "index.md:17: WARNING: gradgraph: cannot read 'nowhere.py': No such file or directory [gradgraph]",
        "index.md:20: WARNING: gradgraph: 'https://example.org/#run=abc' is not the address of a snapshot; give one such"
        " as https://HOST/s/3kTMd9u2Xy7Q [gradgraph]",
        "index.md:23: WARNING: gradgraph: there is nothing to show; give a program, a file such as program.py, or the"
        " address of a snapshot [gradgraph]",
        "index.md:26: WARNING: gradgraph: a program inside and 'square.py' beside the name are two things to show; give"
        " one of them [gradgraph]",
    ]
    page = built.text("index.html")
    assert "The page goes on." in page
    assert page.count("<gradgraph-embed") == 3, "what a failed program did is shown"


def test_a_program_that_a_limit_stopped_runs_again_at_the_next_build(
    tmp_path: Path, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    floods = ".. gradgraph::\n\n   while True:\n       print('x' * 1000)\n"
    first = build(tmp_path, {"index.rst": f"Loop\n====\n\n{floods}"})
    assert len(first.warnings) == 1 and "the program ended" in first.warnings[0]

    def refuse(_code: str, _sandboxed: bool) -> None:
        raise engine.CannotRun("asked again")

    monkeypatch.setattr(engine, "run", refuse)
    assert "asked again" in build(tmp_path).warnings[0]


def test_without_a_sandbox_the_program_stands_there_and_a_warning_says_why(
    tmp_path: Path, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_code: str, _sandboxed: bool) -> None:
        raise engine.CannotRun("this machine has no isolation")

    monkeypatch.setattr(engine, "run", refuse)
    built = build(tmp_path, {"index.rst": "A\n=\n\n.. gradgraph::\n\n   print('shown')\n"})
    assert [line.split("gradgraph: ")[1] for line in built.warnings] == [
        "the program cannot run here: this machine has no isolation [gradgraph]"
    ]
    assert "shown" in built.text("index.html")


def test_pages_are_read_in_parallel(tmp_path: Path) -> None:
    pages = [f"page{number}" for number in range(8)]
    (tmp_path / "conf.py").write_text(CONF)
    (tmp_path / "index.rst").write_text("A\n=\n\n.. toctree::\n\n" + "".join(f"   {page}\n" for page in pages))
    for page in pages:
        (tmp_path / f"{page}.rst").write_text(
            f"{page}\n=======\n\n.. gradgraph::\n\n   {SQUARE.replace(chr(10), chr(10) + '   ')}"
        )
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-j", "2", str(tmp_path), str(tmp_path / "out")]
    root = Path(__file__).parents[2]
    path = {"PYTHONPATH": f"{root / 'packages' / 'sphinx-gradgraph'}", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, cwd=root, env=path, capture_output=True, text=True, timeout=250, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert all("<gradgraph-embed" in (tmp_path / "out" / f"{page}.html").read_text() for page in pages)


def test_what_the_share_box_writes_is_fetched_once_and_then_needs_no_server(tmp_path: Path, build: Build) -> None:
    data = tmp_path / "data"
    data.mkdir()
    with soak.server(data, slow_workers=0) as server:
        run = httpx.post(f"{server.address}/api/v1/runs", json={"code": SQUARE}, timeout=60).json()["id"]
        kept = {"run": run, "view": {"step": 2, "lang": "zh"}}
        id = httpx.post(f"{server.address}/api/v1/snapshots", json=kept, timeout=60).json()["id"]
        index = f"# A\n\n{snippets(server.address, id, 3)['sphinx']}\n"
        built = build(tmp_path, {"index.md": index})
        gone = build(tmp_path, {"other.md": f"# B\n\n```{{gradgraph}} {server.address}/s/111111111111\n```\n"})
    assert built.warnings == []
    assert re.search(r'<gradgraph-embed lang="en" src="\S+" step="3"', built.text("index.html"))
    assert "gradgraph-program" in built.text("index.html")
    assert "/s/111111111111.json answers 404" in gone.warnings[0]
    (tmp_path / "other.md").unlink()
    again = build(tmp_path, {"index.md": f"{index}\nStopped.\n"})
    assert again.warnings == []
    assert "Stopped." in again.text("index.html")
