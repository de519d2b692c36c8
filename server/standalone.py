"""A run that needs no server: trace, graphs and layouts in one, and the HTML file that holds them with the player."""

import base64
import hashlib
import html
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from engine.trace import Record, Trace
from server.problems import Language, Problem

ASSETS = Path(__file__).parent / "assets"
PLAYER, ASKING_PLAYER = "embed.mjs", "embed-questions.mjs"
"""The player, which is a module for other pages too; and the same with what asks its reader."""
MOST_PASSES = 64
"""Backward passes whose graphs a file holds: the last ones."""
MOST_FOLDINGS = 24
"""Layouts of a file in one language, beyond one for each pass: what groups opened and folded make of its graph. One of
a large model is 40 KB and takes 60 ms."""

_PAGE = """<!doctype html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Gradgraph">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
</head>
<body>
<div id="embed"></div>
<noscript><pre>{program}</pre></noscript>
<script type="application/json" id="gradgraph-run">{data}</script>
<script type="module">{player}</script>
</body>
</html>
"""
_TITLES: Mapping[Language, str] = {"en": "Computation graph", "zh": "计算图"}


class Around(Record, frozen=True):
    """What the drawing code says of a trace."""

    passes: tuple[str | None, ...]
    """Passes that its steps lead to."""
    titles: dict[Language, dict[str, str]]
    """What its diagnoses are called."""


class Part(Record, frozen=True):
    """The graph of a pass; the field is `pass` in the file."""

    pass_: str | None = msgspec.field(name="pass")
    graph: msgspec.Raw = msgspec.field()
    layouts: dict[Language, msgspec.Raw] = msgspec.field()
    """As it opens, then as groups are opened and folded."""
    until: int | None = None
    """Steps after which a question ends the run; null for all of it."""


class Parts(Record, frozen=True):
    """All that a player shows besides the trace."""

    parts: list[Part]
    titles: dict[Language, dict[str, str]]


class Selected(Record, frozen=True):
    """What has a ring around it."""

    kind: Literal["box", "edge", "group"]
    """What it is."""
    id: str
    """Its id in the graph."""


class Player(Parts, frozen=True):
    """All that a player shows; the document of docs/embedding.md."""

    trace: Trace
    opens: dict[str, str]
    """How it opens, in the words of an embed's address."""
    format: Literal["gradgraph.player/1"]
    selection: Selected | None = None
    """What is selected then."""


def standalone(run: Player) -> bytes:
    """The file. Raises Problem."""
    player = _built(ASKING_PLAYER if stages(run.trace) and run.opens.get("questions") != "off" else PLAYER)
    lang: Language = "zh" if run.opens["lang"] == "zh" else "en"
    return _PAGE.format(
        lang=lang,
        title=_TITLES[lang],
        policy=f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {_hash(player)}",
        program=html.escape(run.trace.program.code),
        data=msgspec.json.encode(run).decode().replace("<", "\\u003c"),  # else a text could end the element
        player=player,
    ).encode()


def stages(trace: Trace) -> tuple[int, ...]:
    """The steps before which the program's questions end what is shown of a run, the first first."""
    asked = {question.step for question in trace.questions if not question.problem}
    return tuple(sorted(step for step in asked if step < len(trace.timeline)))


def _built(name: str) -> str:
    try:
        return (ASSETS / name).read_text("utf-8")
    except FileNotFoundError:
        raise Problem("no-picture", missing=f"server/assets/{name}") from None


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
