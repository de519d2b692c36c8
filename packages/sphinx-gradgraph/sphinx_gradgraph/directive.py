"""The directive: a program, a file or a snapshot becomes nodes that every builder can write."""

import os
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import OptionSpec

from sphinx_gradgraph import figures, options
from sphinx_gradgraph.figures import Figure, NotMade
from sphinx_gradgraph.nodes import GradgraphPlayer, GradgraphProgram
from sphinx_gradgraph.options import Options

_logger = logging.getLogger(__name__)
_BOTH = "a program inside and {argument!r} beside the name are two things to show; give one of them"
_NEITHER = "there is nothing to show; give a program, a file such as program.py, or the address of a snapshot"


class GradgraphDirective(SphinxDirective):
    """`.. gradgraph:: [FILE.py | ADDRESS]` with the program inside where there is no argument."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[OptionSpec] = dict.fromkeys(options.NAMES, directives.unchanged)

    def run(self) -> list[nodes.Node]:
        """The program, for builders without a player, and the figure. What is wrong is a warning at its line."""
        look = options.read(self.options, self.config.language, self._warn)
        try:
            figure = self._figure(look)
        except NotMade as why:
            self._warn(str(why))
            return [self._program("\n".join(self.content))] if self.content else []
        if not figure.lasts:
            self.env.note_reread()
        if look.fails != bool(figure.ended):
            self._warn(figure.ended or ":fails: is said of a program that reached its end")
        if look.step is not None and look.step > figure.steps:
            self._warn(f":step: {look.step} is not a step of this run; give a whole number from 0 to {figure.steps}")
        shown = self._shown(figure, look)
        return [shown] if look.hides_code else [GradgraphProgram("", self._program(figure.program)), shown]

    def _figure(self, look: Options) -> Figure:
        argument = self.arguments[0].strip() if self.arguments else ""
        if bool(argument) == bool(self.content):
            raise NotMade(_BOTH.format(argument=argument) if argument else _NEITHER)
        doctrees = Path(self.env.doctreedir)
        if argument.startswith(("http://", "https://")):
            return figures.of_snapshot(argument, look, doctrees)
        code = self._read(argument) if argument else "\n".join(self.content) + "\n"
        return figures.of_program(code, look, doctrees, sandboxed=self.config.gradgraph_sandboxed)

    def _read(self, file: str) -> str:
        relative, path = self.env.relfn2path(file)
        self.env.note_dependency(relative)
        try:
            return Path(path).read_text("utf-8")
        except OSError as wrong:
            raise NotMade(f"cannot read {file!r}: {wrong.strerror}") from None
        except UnicodeDecodeError:
            raise NotMade(f"cannot read {file!r}: it is not UTF-8 text") from None

    def _shown(self, figure: Figure, look: Options) -> nodes.figure:
        place = figures.folder(Path(self.env.doctreedir), figure.key) / figures.graph(figure.key, "*")
        uri = "/" + Path(os.path.relpath(place, self.env.srcdir)).as_posix()
        player = GradgraphPlayer(
            "",
            nodes.image(uri=uri, alt=self.options.get("alt") or figure.alt),
            key=figure.key, lang=look.lang, theme=look.theme, height=look.height,
            step=None if look.step is None or look.step > figure.steps else look.step,
            hide="code" if look.hides_code else None, title=self.options.get("title"),
        )  # fmt: skip
        shown = nodes.figure("", player, classes=["gradgraph", *self.options.get("class", "").split()])
        if text := self.options.get("caption"):
            inline, messages = self.parse_inline(text)
            shown += [nodes.caption(text, "", *inline), *messages]
        self.set_source_info(shown)
        self.add_name(shown)
        return shown

    def _program(self, code: str) -> nodes.literal_block:
        text = code.rstrip()
        block = nodes.literal_block(text, text, language="python")
        self.set_source_info(block)
        return block

    def _warn(self, sentence: str) -> None:
        _logger.warning("gradgraph: %s", sentence, location=self.get_location(), type="gradgraph")
