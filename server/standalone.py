"""A run in one HTML file: the embed's player with trace, graphs and layouts inside. It needs no server and loads
nothing."""

import base64
import hashlib
import html
from collections.abc import Mapping
from pathlib import Path

import msgspec

from engine.trace import Record, Trace
from server.problems import Language, Problem

ASSETS = Path(__file__).parent / "assets"
PLAYER, STYLES, PLACE = "standalone.js", "standalone.css", "place.js"
MOST_PASSES = 64
"""Backward passes whose graphs a file holds: the last ones."""

_PAGE = """<!doctype html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Gradgraph">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{styles}</style>
</head>
<body>
<div id="embed"></div>
<noscript><pre>{program}</pre></noscript>
<script type="application/json" id="run">{data}</script>
{scripts}
</body>
</html>
"""
_TITLES: Mapping[Language, str] = {"en": "Computation graph", "zh": "计算图"}
_GROUPS = b'"groups":[{'
"""In JSON with any group to open. No text of the program reads so: quotes in it are escaped."""


class Around(Record, frozen=True):
    """What the drawing code says of a trace."""

    passes: tuple[str | None, ...]
    """Passes that its steps lead to."""
    titles: dict[Language, dict[str, str]]
    """What its errors are called."""


class Part(Record, frozen=True):
    """The graph of a pass; the field is `pass` in the file."""

    pass_: str | None = msgspec.field(name="pass")
    graph: msgspec.Raw = msgspec.field()
    layouts: dict[Language, msgspec.Raw] = msgspec.field()


class Parts(Record, frozen=True):
    """All that a player shows besides the trace."""

    parts: list[Part]
    titles: dict[Language, dict[str, str]]


def standalone(trace: Trace, parts: bytes, opens: Mapping[str, str]) -> bytes:
    """The file. `opens` says how it opens, in the words of an embed's address. Raises Problem."""
    scripts = [_built(name) for name in ((PLACE, PLAYER) if _GROUPS in parts else (PLAYER,))]
    lang: Language = "zh" if opens["lang"] == "zh" else "en"
    data = b'{"trace":%b,"opens":%b,%b' % (msgspec.json.encode(trace), msgspec.json.encode(opens), parts[1:])
    return _PAGE.format(
        lang=lang,
        title=_TITLES[lang],
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src {' '.join(map(_hash, scripts))}",
        styles=_built(STYLES),
        program=html.escape(trace.program.code),
        data=data.decode().replace("<", "\\u003c"),  # else a text of the program could end the element
        scripts="\n".join(f"<script>{script}</script>" for script in scripts),
    ).encode()


def _built(name: str) -> str:
    try:
        return (ASSETS / name).read_text("utf-8")
    except FileNotFoundError:
        raise Problem("no-picture", missing=f"server/assets/{name}") from None


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
