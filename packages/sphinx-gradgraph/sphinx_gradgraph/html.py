"""Figures in HTML: the player with its picture inside, which is all there is in print and without scripts."""

import hashlib
import shutil
from pathlib import Path
from typing import Final

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders import Builder
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.util.osutil import relative_uri
from sphinx.writers.html5 import HTML5Translator

from server.standalone import ASSETS
from sphinx_gradgraph import figures
from sphinx_gradgraph.nodes import GradgraphPlayer, GradgraphProgram

FOLDER: Final = "_gradgraph"
ELEMENT, STYLES = "embed.js", "gradgraph.css"
SAID = ("step", "lang", "theme", "height", "hide", "title")
"""Attributes of the element that the options give."""

_SCREEN = {"auto": "screen and (prefers-color-scheme: dark)", "dark": "screen"}
"""Where the dark picture is shown, by theme: never on paper."""


def write_static_files(app: Sphinx) -> None:
    """The element and its styles, for all pages."""
    if not _plays(app.builder):
        return
    place = _static(app.builder)
    place.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ASSETS / ELEMENT, place / ELEMENT)
    shutil.copyfile(Path(__file__).with_name(STYLES), place / STYLES)


def load_static_files(
    app: Sphinx, _page: str, _template: str, _context: dict[str, object], doctree: nodes.document | None
) -> None:
    """Only pages with figures load them."""
    if doctree is not None and _plays(app.builder) and doctree.next_node(GradgraphPlayer) is not None:
        app.add_js_file(f"{FOLDER}/{ELEMENT}", loading_method="defer")
        app.add_css_file(f"{FOLDER}/{STYLES}")


def visit_program(self: HTML5Translator, node: GradgraphProgram) -> None:
    """Hidden on a screen with scripts, where the player has it."""
    if _plays(self.builder):
        self.body.append(self.starttag(node, "div", CLASS="gradgraph-program"))


def depart_program(self: HTML5Translator, _node: GradgraphProgram) -> None:
    """After the block."""
    if _plays(self.builder):
        self.body.append("</div>\n")


def visit_player(self: HTML5Translator, node: GradgraphPlayer) -> None:
    """The element; its contents are the picture."""
    if not _plays(self.builder):
        return
    place = figures.folder(Path(self.builder.doctreedir), node["key"])
    said = {name: str(node[name]) for name in SAID if node[name] is not None}
    said["src"] = _published(self.builder, place / figures.PLAYER)
    self.body.append(self.starttag(node, "gradgraph-embed", "\n", False, **said))
    if media := _SCREEN.get(node["theme"]):
        dark = _published(self.builder, place / figures.DARK)
        self.body.append(f'<picture><source media="{media}" srcset="{dark}">')


def depart_player(self: HTML5Translator, node: GradgraphPlayer) -> None:
    """After the picture."""
    if _plays(self.builder):
        end = "</picture>" if node["theme"] in _SCREEN else ""
        self.body.append(f"{end}</gradgraph-embed>\n")


def _plays(builder: Builder) -> bool:
    """Whether pages are for a browser: not in a book or a help viewer."""
    return isinstance(builder, StandaloneHTMLBuilder) and not builder.embedded


def _static(builder: Builder) -> Path:
    return Path(builder.outdir, "_static", FOLDER)


def _published(builder: StandaloneHTMLBuilder, file: Path) -> str:
    """The address of a file from the page that is written, by its content: many figures may have the same one."""
    body = file.read_bytes()
    name = f"{hashlib.sha256(body).hexdigest()[:16]}{file.suffix}"
    place = _static(builder) / name
    if not place.exists():
        place.write_bytes(body)
    page = builder.get_target_uri(builder.current_docname)
    return relative_uri(page, f"_static/{FOLDER}/{name}")
