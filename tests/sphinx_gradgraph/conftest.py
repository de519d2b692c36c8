"""Small projects, really built."""

import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

CONF = 'project = "course"\nextensions = ["sphinx_gradgraph", "myst_parser"]\nroot_doc = "index"\n'


_COLOUR = re.compile(r"\x1b\[[\d;]*m")


class Built(NamedTuple):
    """What came of a project."""

    folder: Path
    warnings: list[str]
    """Each with its place, from the name of the file on."""

    def text(self, name: str) -> str:
        """A file that was written."""
        return (self.folder / name).read_text("utf-8")


class Build(Protocol):
    """Builds the files of a project, or what is there already."""

    def __call__(
        self, place: Path, files: Mapping[str, str] | None = ..., builder: str = ..., **settings: str
    ) -> Built: ...


@pytest.fixture(scope="session")
def build() -> Build:
    """Builds a project in this process."""

    def built(place: Path, files: Mapping[str, str] | None = None, builder: str = "html", **settings: str) -> Built:
        for name, text in (files or {}).items():
            if not (place / name).exists() or (place / name).read_text("utf-8") != text:
                (place / name).write_text(text, "utf-8")
        if not (place / "conf.py").exists():
            (place / "conf.py").write_text(CONF, "utf-8")
        said = io.StringIO()
        out = place / "out" / builder
        with patch_docutils(place), docutils_namespace():
            app = Sphinx(
                place,
                place,
                out,
                place / "out" / "doctrees",
                builder,
                settings,
                status=None,
                warning=said,
                freshenv=False,
            )
            app.build()
        assert app.statuscode == 0
        lines = (line for line in _COLOUR.sub("", said.getvalue()).splitlines() if line.strip())
        return Built(out, [line.removeprefix(f"{place}/") for line in lines])

    return built
