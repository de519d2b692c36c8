"""A run as the files that pages show: made once, kept by their content in the folder of the build's doctrees."""

import asyncio
import hashlib
import html
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from http.client import HTTPException
from pathlib import Path
from typing import Final, NamedTuple
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import urlopen

import msgspec

from engine.graph import pass_at
from engine.keys import run_id, versions
from engine.request import RunRequest
from engine.trace import Program, Trace
from server import standalone
from server.drawing import BUNDLE
from server.exports import Look
from server.problems import Problem
from server.views import Choice, views_of
from sphinx_gradgraph import engine
from sphinx_gradgraph.options import Options

GRAPHS = ("svg", "png", "pdf")
"""Formats of the light picture; each builder takes the one it likes best."""
DARK, PLAYER = "dark.svg", "player.html"
FETCH_S = 30.0

_FACTS = "figure.json"
_THEMES: Final = ("light", "dark")
_SNAPSHOT = re.compile(r"https?://[^?#\s]+/s/[1-9A-HJ-NP-Za-km-z]{12,22}")
_TEXT = re.compile(r"<title>(.*?)</title><desc>(.*?)</desc>", re.DOTALL)


class _Traced(msgspec.Struct):
    program: Program
    timeline: list[object]


class _Snapshot(msgspec.Struct):
    """What is read of a snapshot, whatever its version."""

    trace: _Traced


class NotMade(Exception):
    """A sentence that says why there is no figure."""


class Figure(NamedTuple):
    """What a page needs to know of one besides its files."""

    key: str
    alt: str
    """What its picture shows, in words."""
    program: str
    steps: int
    """The last step of its timeline."""
    ended: str = ""
    """Why the program did not reach its end; empty when it did."""
    lasts: bool = True
    """Whether the same program would end the same way: not where time or the machine ended it."""


class _Made(NamedTuple):
    figure: Figure
    files: Mapping[str, bytes]


def graph(key: str, extension: str) -> str:
    """Name of a figure's light picture."""
    return f"graph-{key}.{extension}"


def folder(doctrees: Path, key: str) -> Path:
    """Where the files of a figure lie."""
    return doctrees / "gradgraph" / key


def of_program(code: str, look: Options, doctrees: Path, *, sandboxed: bool) -> Figure:
    """The figure of a program, which runs unless it is known. Raises NotMade."""
    run = run_id(RunRequest(program=Program(code=code)), versions())
    key = _key(run, sandboxed, look.step, look.lang, look.questions, _drawing_code())
    return _kept(doctrees, key, lambda: _run(key, code, look, sandboxed=sandboxed))


def of_snapshot(address: str, look: Options, doctrees: Path) -> Figure:
    """The figure of a snapshot, fetched from its server unless it is known: a snapshot never changes. Raises
    NotMade."""
    if not _SNAPSHOT.fullmatch(address):
        raise NotMade(f"{address!r} is not the address of a snapshot; give one such as https://HOST/s/3kTMd9u2Xy7Q")
    key = _key(address, look.step, look.lang, look.questions)
    return _kept(doctrees, key, lambda: _fetch(key, address, look))


def _key(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


@cache
def _drawing_code() -> str:
    files = (BUNDLE, standalone.ASSETS / standalone.PLAYER)
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files if file.exists())).hexdigest()


def _kept(doctrees: Path, key: str, make: Callable[[], _Made]) -> Figure:
    """The figure of a key; one that may come out otherwise another time is made anew at each reading."""
    place = folder(doctrees, key)
    known = _known(place)
    if known is not None and known.lasts:
        return known
    figure, files = make()
    place.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=f"{key}-", dir=place.parent))
    for name, body in {**files, _FACTS: msgspec.json.encode(figure)}.items():
        (new / name).write_bytes(body)
    if known is not None:
        shutil.rmtree(place, ignore_errors=True)
    try:
        new.rename(place)
    except OSError:  # another process that reads pages was first
        shutil.rmtree(new)
    return figure


def _known(place: Path) -> Figure | None:
    try:
        return msgspec.json.decode((place / _FACTS).read_bytes(), type=Figure)
    except FileNotFoundError:
        return None


def _run(key: str, code: str, look: Options, *, sandboxed: bool) -> _Made:
    try:
        trace = engine.run(code, sandboxed)
        files = asyncio.run(_drawn(key, trace, look))
    except engine.CannotRun as broken:
        raise NotMade(f"the program cannot run here: {broken}") from None
    except Problem as refused:
        raise NotMade(refused.sentence("en")) from None
    alt, steps = _words(files[graph(key, "svg")]), len(trace.timeline)
    lasts = trace.status in ("ok", "failed")
    return _Made(Figure(key, alt, code, steps, _ended(trace), lasts), files)


async def _drawn(key: str, trace: Trace, look: Options) -> dict[str, bytes]:
    last = len(trace.timeline)
    step = None if look.step is None or look.step > last else look.step
    shown = Choice(pass_id=pass_at(trace, last if step is None else step))
    light, dark = (Look(lang=look.lang, theme=theme, step=step, questions=look.questions) for theme in _THEMES)
    async with views_of(trace) as views:
        return {
            **{graph(key, each): await views.picture(trace.id, each, shown, light) for each in GRAPHS},
            DARK: await views.picture(trace.id, "svg", shown, dark),
            PLAYER: await views.picture(trace.id, "html", Choice(), Look(lang=look.lang, questions=look.questions)),
        }


def _ended(trace: Trace) -> str:
    if (failure := trace.failure) is None:
        return ""
    place = f" in its line {failure.span.line}" if failure.span is not None else ""
    return f"the program ended{place} with {failure.type}: {failure.message.splitlines()[0] if failure.message else ''}"


def _fetch(key: str, address: str, look: Options) -> _Made:
    kept = msgspec.json.decode(_get(f"{address}.json"), type=_Snapshot)
    steps = len(kept.trace.timeline)
    query = {"lang": look.lang, "questions": look.questions} | (
        {} if look.step is None or look.step > steps else {"step": str(look.step)}
    )
    light, dark = (f"?{urlencode({**query, 'theme': theme})}" for theme in _THEMES)
    files = {
        graph(key, "svg"): _get(f"{address}.svg{light}"),
        DARK: _get(f"{address}.svg{dark}"),
        PLAYER: _get(f"{address}.html{light}"),
    }
    for extension in ("png", "pdf"):
        with suppress(NotMade):  # a server may have no program for it
            files[graph(key, extension)] = _get(f"{address}.{extension}{light}")
    return _Made(Figure(key, _words(files[graph(key, "svg")]), kept.trace.program.code, steps), files)


def _get(url: str) -> bytes:
    try:
        with urlopen(url, timeout=FETCH_S) as answer:
            return bytes(answer.read())
    except HTTPError as refused:
        raise NotMade(f"{url} answers {refused.code} {refused.reason}") from None
    except (OSError, HTTPException) as wrong:
        raise NotMade(f"{url} cannot be fetched: {wrong}") from None


def _words(svg: bytes) -> str:
    """The text alternative that a picture carries."""
    found = _TEXT.search(svg.decode())
    return html.unescape("; ".join(found.groups())) if found else ""
