"""What a lesson says: paragraphs in which code, formulas, terms and phrases that point at the picture are told apart.

Texts are Markdown with three marks: `code`, $formula$ in LaTeX, and [phrase](what it speaks of), which is a name, the
type of a node, or code of the program. Terms of the glossary need no mark; [words]() that read like one and mean
something else have an empty one."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

from server.wire import Piece

_GLOSSARY = Path(__file__).parent.parent / "gallery" / "words" / "glossary.toml"
_WRAPPED = re.compile(r"(?<=[\u3000-\u9fff\uff00-\uffef])\n(?=[^\n])|(?<=[^\n])\n(?=[\u3000-\u9fff\uff00-\uffef])")
"""The end of a line beside a Chinese character: nothing stands for it."""
_MARKS = MarkdownIt("zero").enable(["backticks", "link"]).use(dollarmath_plugin, allow_space=False)


class Glossary:
    """Terms with their meanings in one language, each with the forms it is written in."""

    def __init__(self, language: str) -> None:
        terms = tomllib.loads(_GLOSSARY.read_text("utf-8")).values()
        self._says = {form.lower(): term[language]["says"] for term in terms for form in term[language]["forms"]}
        edge = r"\b" if language == "en" else ""
        longest_first = "|".join(re.escape(form) for form in sorted(self._says, key=len, reverse=True))
        self._forms = re.compile(f"{edge}(?:{longest_first}){edge}", re.IGNORECASE)

    def marked(self, text: str, told: set[str]) -> Iterator[Piece]:
        """Splits off the terms of a text that were not told before, and adds them to these."""
        start = 0
        for found in self._forms.finditer(text):
            says = self._says[found[0].lower()]
            if says in told:
                continue
            told.add(says)
            if found.start() > start:
                yield Piece(kind="text", text=text[start : found.start()])
            yield Piece(kind="term", text=found[0], says=says)
            start = found.end()
        if start < len(text):
            yield Piece(kind="text", text=text[start:])


def paragraphs(text: str, glossary: Glossary) -> tuple[tuple[Piece, ...], ...]:
    """A text in its pieces, paragraph by paragraph; a term is marked where it first stands."""
    told: set[str] = set()
    blocks = (token.children or [] for token in _MARKS.parse(_WRAPPED.sub("", text)) if token.type == "inline")
    return tuple(tuple(_pieces(block, glossary, told)) for block in blocks)


def _pieces(tokens: list[Token], glossary: Glossary, told: set[str]) -> Iterator[Piece]:
    at: str | None = None
    for token in tokens:
        if token.type == "link_open":
            at = unquote(str(token.attrGet("href")))
        elif token.type == "link_close":
            at = None
        elif at == "":
            yield Piece(kind="text", text=token.content)
        elif at:
            yield Piece(kind="phrase", text=token.content, at=at)
        elif token.type == "code_inline":
            yield Piece(kind="code", text=token.content)
        elif token.type == "math_inline":
            yield Piece(kind="math", text=token.content, says=convert(token.content))
        else:
            yield from glossary.marked(token.content, told)
