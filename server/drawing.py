"""Layouts and static SVG by the frontend's own code, run in V8 inside this process on a thread of its own."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from py_mini_racer import JSEvalException, JSOOMException, JSTimeoutException, MiniRacer

from server.problems import Problem

BUNDLE = Path(__file__).parent / "assets" / "static-svg.js"
TIME_LIMIT_S = 10.0
HEAP_BYTES = 512 * 1024**2
SVG_BYTES = 20 * 1024**2
"""Most characters of a picture, or of a layout as JSON."""
MAX_PENDING = 16
"""Pictures and layouts that may be made or wait for it."""
RETRY_AFTER_S = 5
MESSAGE_CHARACTERS = 200
PRELUDE = "globalThis.structuredClone = (value) => value && JSON.parse(JSON.stringify(value))"
"""dagre 3.1 copies its options, plain data, with a function that browsers have and V8 alone has not."""


class DrawingBroken(Exception):
    """The drawing code raised: a bug of ours."""


class Drawing:
    """One V8 context, used by one thread, made anew when its memory was used up or the bundle was built again."""

    def __init__(self, bundle: Path = BUNDLE) -> None:
        self._bundle = bundle
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="drawing")
        self._context: MiniRacer | None = None
        self._built = 0.0
        self._pending = 0

    @property
    def ready(self) -> bool:
        """Whether the bundle is built."""
        return self._bundle.exists()

    async def svg(self, trace: bytes, graph: bytes, options: bytes) -> str:
        """The picture of a graph; all three are JSON. Raises Problem."""
        return await self._ask("gradgraphSvg", trace, graph, options)

    async def layout(self, trace: bytes, graph: bytes, options: bytes) -> str:
        """Where everything of a graph goes, as JSON; all three are JSON. Raises Problem."""
        return await self._ask("gradgraphLayout", trace, graph, options)

    async def layouts(self, trace: bytes, graph: bytes, options: bytes) -> str:
        """Where everything of a graph goes as it opens, then as its groups are opened and folded, as JSON. Raises
        Problem."""
        return await self._ask("gradgraphLayouts", trace, graph, options)

    async def inline(self, trace: bytes) -> str:
        """What a file that holds a run needs besides its graphs, as JSON. Raises Problem."""
        return await self._ask("gradgraphInline", trace)

    async def cut(self, trace: bytes, step: int) -> str:
        """A trace, as JSON, as it was after so many steps. Raises Problem."""
        return await self._ask("gradgraphCut", trace, str(step).encode())

    async def _ask(self, function: str, *texts: bytes) -> str:
        if not self.ready:
            raise Problem("no-picture", missing=f"server/assets/{self._bundle.name}")
        if self._pending >= MAX_PENDING:
            raise Problem("busy", retry_after_s=RETRY_AFTER_S, count=self._pending, retry=RETRY_AFTER_S)
        self._pending += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._draw, function, texts)
        finally:
            self._pending -= 1

    async def close(self) -> None:
        """Give V8 back."""
        await asyncio.to_thread(self._thread.shutdown, wait=True, cancel_futures=True)
        self._forget()

    def _draw(self, function: str, texts: tuple[bytes, ...]) -> str:
        try:
            drawn = self._ready_context().call(function, *(text.decode() for text in texts), timeout_sec=TIME_LIMIT_S)
        except JSTimeoutException:
            self._ready_context().eval("0")  # returns when V8 has really stopped
            raise Problem("drawing-failed", limit=f" {TIME_LIMIT_S:g} s") from None
        except JSOOMException:
            self._forget()
            raise Problem("drawing-failed", limit=f" {HEAP_BYTES >> 20} MiB") from None
        except JSEvalException as failed:  # its whole text holds the call, and with it the user's program
            raise DrawingBroken(str(failed).partition("\n")[0][:MESSAGE_CHARACTERS]) from None
        if not isinstance(drawn, str) or len(drawn) > SVG_BYTES:
            raise Problem("drawing-failed", limit=f" {SVG_BYTES >> 20} MiB")
        return drawn

    def _ready_context(self) -> MiniRacer:
        built = self._bundle.stat().st_mtime
        if self._context is None or built != self._built:
            self._forget()
            self._context = MiniRacer()
            self._context.set_hard_memory_limit(HEAP_BYTES)
            self._context.eval(PRELUDE)
            self._context.eval(self._bundle.read_text("utf-8"))
            self._built = built
        return self._context

    def _forget(self) -> None:
        if self._context is not None:
            self._context.close()
            self._context = None
