"""What holds for every request: the longest body, security headers, who may read it, counting, and an answer."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.metrics import Metrics
from server.problems import Problem

RESTART_S = 5
"""When to ask again a server that stopped: it starts anew by then, or another one answers."""

FRAMED = ("/embed/", "/s/")
"""Paths that every page may show in a frame: embeds, and snapshots with their pictures."""
_EMBEDS = ("/embed.js", "/embed.mjs", "/embed-questions.mjs")
OPEN = ("/api/v1/runs/", "/api/v1/gallery", "/api/v1/rules", "/assets/", *FRAMED, *_EMBEDS, "/oembed")
"""Paths whose answers every page may read: public to those who know the address, the same whoever asks. A frame that a
course page put into a sandbox has no origin and could not load its own files otherwise."""


ANYWHERE = ("*", "file:")
"""Pages of every site, and those opened from a disk, which `*` leaves out: slides, handouts."""


def policy(path: str, script_hashes: Sequence[str] = (), framed_by: Sequence[str] = ANYWHERE) -> str:
    """The content security policy of a path: nothing from other hosts; framed by others only where that is meant, and
    then by those of `framed_by`."""
    return "; ".join(
        (
            "default-src 'none'",
            " ".join(("script-src 'self'", *script_hashes)),
            "style-src 'self' 'unsafe-inline'",  # the editor puts its styles into the page
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "worker-src 'self' blob:",
            "base-uri 'none'",
            "form-action 'none'",
            " ".join(("frame-ancestors", *(framed_by if path.startswith(FRAMED) else ("'self'",)))),
        )
    )


class HttpPolicy:
    """ASGI middleware: limits what comes in, completes and counts each answer, and answers what a stop cuts off."""

    def __init__(
        self,
        app: ASGIApp,
        metrics: Metrics,
        body_bytes: int,
        refuse: Callable[[Request, Exception], Awaitable[Response]],
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._body_bytes = body_bytes
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def starting(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        completed = self._completed(scope, starting)
        if scope["method"] == "HEAD":  # of such an answer uvicorn leaves out the body
            scope = {**scope, "method": "GET"}
        try:
            await self._app(scope, self._limited(scope, receive), completed)
        except asyncio.CancelledError:  # by uvicorn, whose patience with a stop has ended
            if started:
                raise
            stopped = await self._refuse(Request(scope), Problem("stopped", retry_after_s=RESTART_S, retry=RESTART_S))
            await stopped(scope, receive, completed)

    def _limited(self, scope: Scope, receive: Receive) -> Receive:
        """Raises HTTPException where a body that is too long is read."""
        announced = Headers(scope=scope).get("content-length", "")
        left = self._body_bytes
        too_long = announced.isdecimal() and int(announced) > left

        async def receive_limited() -> Message:
            nonlocal left
            if too_long:
                raise HTTPException(413)
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise HTTPException(413)
            return message

        return receive_limited

    def _completed(self, scope: Scope, send: Send) -> Send:
        """Adds the headers."""
        path = scope["path"]
        is_open = scope["method"] in ("GET", "HEAD") and path.startswith(OPEN)

        async def send_completed(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._metrics.answers[message["status"]] += 1
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", policy(path))
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "strict-origin-when-cross-origin"
                headers.setdefault("Cache-Control", "no-cache")  # to be kept, and asked for again
                if "Accept-Encoding" not in headers.get("Vary", ""):  # of what it compressed, starlette has said so
                    headers.add_vary_header("Accept-Encoding")
                if is_open:  # starlette's CORSMiddleware knows no paths, and would answer preflights
                    headers["Access-Control-Allow-Origin"] = "*"
            await send(message)

        return send_completed
