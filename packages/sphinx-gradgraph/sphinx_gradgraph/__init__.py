"""A Sphinx extension: `.. gradgraph::` runs a program while the pages are built and shows what autograd did."""

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from sphinx_gradgraph import engine, html
from sphinx_gradgraph.directive import GradgraphDirective
from sphinx_gradgraph.nodes import GradgraphPlayer, GradgraphProgram


def setup(app: Sphinx) -> ExtensionMetadata:
    """What Sphinx calls."""
    app.add_config_value("gradgraph_sandboxed", True, "env", bool)
    app.add_directive("gradgraph", GradgraphDirective)
    elsewhere = dict.fromkeys(("latex", "man", "texinfo", "text"), (_as_it_is, _as_it_is))
    app.add_node(GradgraphProgram, False, html=(html.visit_program, html.depart_program), **elsewhere)
    app.add_node(GradgraphPlayer, False, html=(html.visit_player, html.depart_player), **elsewhere)
    app.connect("builder-inited", html.write_static_files)
    app.connect("html-page-context", html.load_static_files)
    app.connect("env-updated", engine.close)
    return {"version": "0.1.0", "parallel_read_safe": True, "parallel_write_safe": True}


def _as_it_is(_translator: object, _node: object) -> None:
    """Only its contents are shown."""
