"""Layouts and pictures by the frontend's own code and by libraries, all made in one process beside this one.

V8 takes 60 MB and what writes PDF as much again: that process is begun by the first who wants a picture and ends when
nobody has wanted one for a while. What takes too long or too much ends it, and it alone."""

import asyncio
import math
import re
import signal
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import msgspec

from server.child import Child, ChildLost
from server.drawing_jobs import OUT_OF_MEMORY, Broken, Job, Made, Pdf, Png, Script
from server.problems import Problem

BUNDLE = Path(__file__).parent / "assets" / "static-svg.js"
MAX_PENDING = 16
"""Pictures and layouts that may be made or wait for it."""
BUSY_RETRY_S = 5
LOST_RETRY_S = 1
SHARP = 2.0
PIXELS = 30_000_000
"""Most pixels of a PNG: four bytes each while it is painted."""

_SIZE = re.compile(r'\s(?:width|height)="([\d.]+)"')
_POINTS_PER_PX = 0.75


@dataclass(frozen=True)
class DrawingLimits:
    """What one picture or layout may take."""

    wall_s: float = 10.0
    heap_bytes: int = 512 * 1024**2
    """Of V8; all memory of the process is held to `drawing_process.DATA_BYTES` by the kernel."""
    made_bytes: int = 20 * 1024**2
    """Of a picture, or of a layout as JSON."""
    idle_s: float = 60.0
    """How long the process stays without work."""


class DrawingBroken(Exception):
    """The drawing code raised: a bug of ours."""


class Drawing:
    """The process that draws, one picture after the other."""

    def __init__(self, bundle: Path = BUNDLE, limits: DrawingLimits = DrawingLimits()) -> None:
        self._bundle = bundle
        self._limits = limits
        self._child = Child("server.drawing_process")
        self._turn = asyncio.Lock()
        self._pending = 0
        self._resting: asyncio.Task[None] | None = None

    @property
    def ready(self) -> bool:
        """Whether the bundle is built."""
        return self._bundle.exists()

    @property
    def pid(self) -> int | None:
        """The process, if there is one."""
        return self._child.pid

    async def svg(self, trace: bytes, graph: bytes, options: bytes) -> bytes:
        """The picture of a graph; all three are JSON. Raises Problem."""
        return await self._call("gradgraphSvg", trace, graph, options)

    async def layout(self, trace: bytes, graph: bytes, options: bytes) -> bytes:
        """Where everything of a graph goes, as JSON; all three are JSON. Raises Problem."""
        return await self._call("gradgraphLayout", trace, graph, options)

    async def layouts(self, trace: bytes, graph: bytes, options: bytes) -> bytes:
        """Where everything of a graph goes as it opens, then as its groups are opened and folded, as JSON. Raises
        Problem."""
        return await self._call("gradgraphLayouts", trace, graph, options)

    async def inline(self, trace: bytes) -> bytes:
        """What a file that holds a run needs besides its graphs, as JSON. Raises Problem."""
        return await self._call("gradgraphInline", trace)

    async def cut(self, trace: bytes, step: int) -> bytes:
        """A trace, as JSON, as it was after so many steps. Raises Problem."""
        return await self._call("gradgraphCut", trace, str(step).encode())

    async def png(self, svg: bytes, sharpness: float = SHARP) -> bytes:
        """A picture as pixels, at most so many for each of its units across. Raises Problem."""
        if find_spec("resvg_py") is None:
            raise Problem("no-export", name="PNG", extra="png")
        text = svg.decode()
        return await self._ask(Png(text, zoom_of(text, sharpness)))

    async def pdf(self, svg: bytes) -> bytes:
        """A picture as one page. Raises Problem."""
        if find_spec("typst") is None:
            raise Problem("no-export", name="PDF", extra="pdf")
        text = svg.decode()
        width, height = (_POINTS_PER_PX * side for side in size_of(text))
        return await self._ask(Pdf(text, width, height))

    async def close(self) -> None:
        """End the process."""
        if self._resting is not None:
            self._resting.cancel()
            await asyncio.gather(self._resting, return_exceptions=True)
        await self._child.end()

    async def _call(self, function: str, *texts: bytes) -> bytes:
        if not self.ready:
            raise Problem("no-picture", missing=f"server/assets/{self._bundle.name}")
        arguments = tuple(text.decode() for text in texts)
        return await self._ask(Script(str(self._bundle), function, arguments, self._limits.heap_bytes))

    async def _ask(self, what: Script | Png | Pdf) -> bytes:
        if self._pending >= MAX_PENDING:
            raise Problem("busy", retry_after_s=BUSY_RETRY_S, count=self._pending, retry=BUSY_RETRY_S)
        self._pending += 1
        try:
            async with self._turn:
                return await self._made(Job(what, self._limits.wall_s))
        finally:
            self._pending -= 1
            self._rest_later()

    async def _made(self, job: Job) -> bytes:
        try:
            said = await self._child.ask(msgspec.msgpack.encode(job))
        except (OSError, ChildLost) as lost:
            raise self._problem(lost) from None
        answer: Made | Broken = msgspec.msgpack.decode(said, type=Made | Broken)
        if isinstance(answer, Broken):
            raise DrawingBroken(answer.why)
        if len(answer.body) > self._limits.made_bytes:
            raise Problem("drawing-failed", limit=f" {self._limits.made_bytes >> 20} MiB")
        return answer.body

    def _problem(self, lost: OSError | ChildLost) -> Problem:
        status = lost.status if isinstance(lost, ChildLost) else None
        if status == -signal.SIGALRM:
            return Problem("drawing-failed", limit=f" {self._limits.wall_s:g} s")
        if status == OUT_OF_MEMORY:
            return Problem("drawing-failed", limit=f" {self._limits.heap_bytes >> 20} MiB")
        return Problem("drawing-lost", retry_after_s=LOST_RETRY_S)

    def _rest_later(self) -> None:
        if self._resting is not None:
            self._resting.cancel()
        self._resting = asyncio.create_task(self._rest())

    async def _rest(self) -> None:
        await asyncio.sleep(self._limits.idle_s)
        async with self._turn:
            await self._child.end()


def zoom_of(svg: str, most: float = SHARP) -> float:
    """Pixels for each unit of an SVG: sharp on a fine screen, less where the picture would take too much memory."""
    width, height = size_of(svg)
    return min(most, math.sqrt(PIXELS / max(1.0, width * height)))


def size_of(svg: str) -> tuple[float, float]:
    """Width and height that an SVG says of itself."""
    width, height = map(float, _SIZE.findall(svg.partition(">")[0]))
    return width, height
