"""Views of a stored trace: the graph as JSON, laid out or in any format of `server/exports.py`; its tensors."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Literal, TypeVar

import msgspec

from engine.compare import compare
from engine.fixes import Trial, judge
from engine.graph import Graph, Level, NoSuchChoice, view
from engine.replay import NoSuchPass, engine_view
from engine.trace import Record, Tensor, Trace
from engine.what_ifs import what_ifs
from server.cache import Cache
from server.drawing import SHARP, Drawing
from server.exports import FILES, PICTURES, Look
from server.problems import Language, Problem
from server.settings import Settings
from server.snapshots import no_such
from server.standalone import MOST_FOLDINGS, MOST_PASSES, Around, Part, Parts, stages
from server.store import Stored

T = TypeVar("T")

DECODED_BYTES = 32 * 1024**2
"""Bytes of decoded traces held, counted as JSON."""
PICTURE_BYTES = 16 * 1024**2
"""Bytes of finished pictures held."""
MAX_PENDING = 64
"""Views that may be under way or wait for a thread."""
RETRY_AFTER_S = 2
IN_ONE_BYTES = 64 * 1024
"""Largest trace, compressed, that is sent with its graph: a larger one is read while its graph is made."""

LANGUAGES: tuple[Language, ...] = ("en", "zh")

_decode = msgspec.json.Decoder(Trace).decode
_decode_around = msgspec.json.Decoder(Around).decode


class Choice(Record, frozen=True):
    """What to draw of a trace."""

    root: str | None = None
    """Node to start from; null for the latest pass."""
    pass_id: str | None = None
    """Pass whose gradients are shown."""
    level: Level = "both"
    """Level of detail."""
    layers: bool = True
    """Whether passes that differentiate what another one made are drawn together with it."""
    until: int | None = None
    """Steps after which the run ends, as before a question; null for all of it. Of a root or pass that came later
    nothing is said."""


class Shown(Record, frozen=True):
    """A run and its graph in one answer: what a page needs for its first picture."""

    trace: Trace
    """The trace."""
    graph: Graph
    """The graph that was chosen."""


class LayoutOptions(Record, frozen=True):
    """How it is laid out; the options of the frontend's static bundle."""

    lang: Language
    """Language of the words that are measured."""
    room: Literal["page", "embed", "phone"]
    """Where it is shown: embeds and phones have shorter titles and no step numbers."""


class FoldingOptions(Record, frozen=True):
    """How a graph is laid out for who cannot do so; the options of the frontend's static bundle."""

    lang: Language
    """Language of the words that are measured."""
    most: int
    """Choices of open groups."""
    expanded: tuple[str, ...] | None = None
    """Those that are open at first; null for those that open by themselves."""


class Views:
    """Computes views off the event loop and remembers the latest."""

    def __init__(self, find: Callable[[str], Awaitable[Stored | None]], drawing: Drawing, max_boxes: int) -> None:
        self._find = find
        self._drawing = drawing
        self._max_boxes = max_boxes
        self._pending = 0
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="views")
        self._decoded: Cache[tuple[Trace, bytes]] = Cache(DECODED_BYTES)
        self._done: Cache[bytes] = Cache(PICTURE_BYTES)

    async def graph(self, run: str, choice: Choice) -> bytes:
        """The graph to draw, as JSON."""
        stored = await self._stored(run, choice)
        return await self._remembered(("json", choice), stored, lambda: self._graph_json(stored, choice))

    async def shown(self, stored: Stored, choice: Choice) -> bytes | None:
        """A trace with its graph, as JSON; None when the trace is large or has nothing to draw by this choice."""
        if len(stored.body) > IN_ONE_BYTES:
            return None
        try:
            graph = await self._remembered(("json", choice), stored, lambda: self._graph_json(stored, choice))
        except Problem:  # asked for by itself, it tells
            return None
        return b'{"trace":%b,"graph":%b}' % (gzip.decompress(stored.body), graph)

    async def picture(self, run: str, extension: str, choice: Choice, look: Look) -> bytes:
        """The graph in one of the formats of `PICTURES`: of a program that asks, before its first question."""
        picture = PICTURES[extension]
        whole = await self._stored(run)
        asked = stages(await self.trace(whole)) if look.questions == "on" else ()
        if asked and choice.until is None and picture.drawn != "parts":
            choice = msgspec.structs.replace(choice, until=asked[0])
        if picture.drawn == "layout":
            drawn = await self.layout(run, choice, LayoutOptions(lang=look.lang, room="page"))
        elif picture.drawn == "parts":
            drawn = await self._parts(run, choice, look.expanded, asked)
        elif picture.drawn is not None:
            drawn = await self._drawn("svg", run, choice, look, self._drawing.svg)
        else:
            drawn = b""
        stored = await self._stored(run, choice)
        if picture.drawn == "png":
            sharpness = SHARP if look.width is None else 1.0
            return await self._kept(("png", choice, look), stored, lambda: self._drawing.png(drawn, sharpness))
        if picture.drawn == "pdf":
            return await self._kept(("pdf", choice, look), stored, lambda: self._drawing.pdf(drawn))
        if (write := picture.write) is None:
            return drawn
        return await self._remembered(
            (extension, choice, look), stored, lambda: write(*self._graph(stored, choice), look, drawn)
        )

    async def _parts(self, run: str, choice: Choice, expanded: tuple[str, ...] | None, asked: tuple[int, ...]) -> bytes:
        """Each graph that a player of the run needs, laid out in both languages, as JSON: those of the whole run, and
        those before each question."""
        titles, choices = await self._played(run, choice)
        for step in asked:
            choices += (await self._played(run, msgspec.structs.replace(choice, until=step)))[1]
        most = max(1, MOST_FOLDINGS // len(choices))
        options = [FoldingOptions(lang=lang, most=most, expanded=expanded) for lang in LANGUAGES]
        parts = [
            Part(
                pass_=each.pass_id,
                until=each.until,
                graph=msgspec.Raw(await self.graph(run, each)),
                layouts={
                    one.lang: msgspec.Raw(await self._drawn("layouts", run, each, one, self._drawing.layouts))
                    for one in options
                },
            )
            for each in choices
        ]
        return msgspec.json.encode(Parts(parts=parts, titles=titles))

    async def _played(self, run: str, choice: Choice) -> tuple[dict[Language, dict[str, str]], list[Choice]]:
        """What the errors of a run are called, and the choices that its steps lead to."""
        stored = await self._stored(run, choice)
        trace = await self._in_thread(lambda: self._trace(stored)[1])
        around = _decode_around(await self._drawing.inline(trace))
        passes = [msgspec.structs.replace(choice, pass_id=one) for one in around.passes[-MOST_PASSES:]]
        return around.titles, passes if choice.root is None and choice.pass_id is None else [choice]

    async def file(self, run: str, name: str) -> bytes:
        """The whole run in one of the formats of `FILES`."""
        stored = await self._stored(run)
        return await self._remembered((name,), stored, lambda: FILES[name].write(self._trace(stored)[0]))

    async def layout(self, run: str, choice: Choice, options: LayoutOptions) -> bytes:
        """Where everything goes when the graph opens, as JSON."""
        return await self._drawn("layout", run, choice, options, self._drawing.layout)

    async def engine(self, run: str, pass_id: str, start: int, count: int) -> bytes:
        """The engine's steps in a pass, as JSON."""
        stored = await self._stored(run)

        def write() -> bytes:
            try:
                return msgspec.json.encode(engine_view(self._trace(stored)[0], pass_id, start, count))
            except NoSuchPass:
                raise Problem("no-such-pass", run=run, pass_id=pass_id, trace=f"/api/v1/runs/{run}") from None

        return await self._remembered(("engine", pass_id, start, count), stored, write)

    async def comparison(self, run: str, other: str) -> bytes:
        """Two runs beside each other, as JSON."""
        here, there = await self._stored(run), await self._stored(other)

        def write() -> bytes:
            return msgspec.json.encode(compare(self._trace(here)[0], self._trace(there)[0]))

        return await self._remembered(("compare", there.etag), here, write)

    async def what_ifs(self, run: str) -> bytes:
        """What a run could be done otherwise in, as JSON."""
        stored = await self._stored(run)
        return await self._remembered(
            ("what-ifs",), stored, lambda: msgspec.json.encode(what_ifs(self._trace(stored)[0]))
        )

    async def trial(self, stored: Stored, finding: int, mended: Stored) -> Trial:
        """What the run of an edited program says of a finding's fix."""
        return await self._in_thread(lambda: judge(self._trace(stored)[0], finding, self._trace(mended)[0]))

    async def trace(self, stored: Stored) -> Trace:
        """A trace, decoded."""
        return (await self._in_thread(lambda: self._trace(stored)))[0]

    async def tensor(self, run: str, tensor: str) -> Tensor:
        """What the trace says of a tensor."""
        trace = await self.trace(await self._stored(run))
        found = next((each for each in trace.tensors if each.id == tensor), None)
        if found is None:
            raise Problem("no-such-tensor", run=run, tensor=tensor, trace=f"/api/v1/runs/{run}")
        return found

    async def close(self) -> None:
        """Wait for the views under way."""
        await asyncio.to_thread(self._threads.shutdown, wait=True, cancel_futures=True)

    async def _drawn(
        self,
        what: str,
        run: str,
        choice: Choice,
        options: Look | LayoutOptions | FoldingOptions,
        draw: Callable[[bytes, bytes, bytes], Awaitable[bytes]],
    ) -> bytes:
        """What the drawing code makes of a graph, remembered."""
        stored = await self._stored(run, choice)

        async def made() -> bytes:
            trace, graph = await self._in_thread(lambda: self._drawable(stored, choice))
            return await draw(trace, graph, msgspec.json.encode(options))

        return await self._kept((what, choice, options), stored, made)

    async def _stored(self, run: str, choice: Choice | None = None) -> Stored:
        """The run, or what there was of it when a choice ends it."""
        if (stored := await self._find(run)) is None:
            raise no_such(run)
        if choice is None or (until := choice.until) is None:
            return stored

        async def cut() -> bytes:
            trace = await self._in_thread(lambda: self._trace(stored)[1])
            return gzip.compress(await self._drawing.cut(trace, until), 1, mtime=0)

        what = ("until", until)
        return Stored(body=await self._kept(what, stored, cut), etag=_key(what, stored))

    async def _remembered(self, what: tuple[object, ...], stored: Stored, write: Callable[[], bytes]) -> bytes:
        return await self._kept(what, stored, lambda: self._in_thread(write))

    async def _kept(self, what: tuple[object, ...], stored: Stored, make: Callable[[], Awaitable[bytes]]) -> bytes:
        key = _key(what, stored)
        if (done := self._done.get(key)) is None:
            done = await make()
            self._done.put(key, done, len(done))
        return done

    async def _in_thread(self, work: Callable[[], T]) -> T:
        if self._pending >= MAX_PENDING:
            raise Problem("busy", retry_after_s=RETRY_AFTER_S, count=self._pending, retry=RETRY_AFTER_S)
        self._pending += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._pending -= 1

    def _trace(self, stored: Stored) -> tuple[Trace, bytes]:
        if (known := self._decoded.get(stored.etag)) is None:
            body = gzip.decompress(stored.body)
            known = (_decode(body), body)
            self._decoded.put(stored.etag, known, len(body))
        return known

    def _graph(self, stored: Stored, choice: Choice) -> tuple[Trace, Graph]:
        trace, _ = self._trace(stored)
        root, pass_id = choice.root, choice.pass_id
        if choice.until is not None:
            root = root if any(node.id == root for node in trace.nodes) else None
            pass_id = pass_id if any(each.id == pass_id for each in trace.passes) else None
        try:
            return trace, view(trace, root=root, pass_id=pass_id, level=choice.level, layers=choice.layers)
        except NoSuchChoice as missing:
            raise Problem("no-such-choice", reason=str(missing)) from None

    def _graph_json(self, stored: Stored, choice: Choice) -> bytes:
        return msgspec.json.encode(self._graph(stored, choice)[1])

    def _drawable(self, stored: Stored, choice: Choice) -> tuple[bytes, bytes]:
        _, graph = self._graph(stored, choice)
        if len(graph.boxes) > self._max_boxes:
            raise Problem("graph-too-large", boxes=len(graph.boxes), limit=self._max_boxes)
        return self._trace(stored)[1], msgspec.json.encode(graph)


@asynccontextmanager
async def views_of(trace: Trace) -> AsyncIterator[Views]:
    """Views of one trace that is in no store, under its run id."""
    stored = Stored(body=gzip.compress(msgspec.json.encode(trace), 1, mtime=0), etag=trace.id)

    async def find(_run: str) -> Stored:
        return stored

    drawing = Drawing()
    views = Views(find, drawing, Settings().graph_boxes)
    try:
        yield views
    finally:
        await views.close()
        await drawing.close()


def _key(what: tuple[object, ...], stored: Stored) -> str:
    return f"{stored.etag}{what!r}"
