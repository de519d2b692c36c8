"""Around every answer: security headers, who may read it, and counting."""

from collections.abc import Sequence

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.metrics import Metrics

EMBED = "/embed/"
OPEN = ("/api/v1/runs/", "/api/v1/gallery", "/api/v1/rules", "/assets/", EMBED)
"""Paths whose answers every page may read: public to those who know the address, the same whoever asks. A frame that a
course page put into a sandbox has no origin and could not load its own files otherwise."""


def policy(path: str, script_hashes: Sequence[str] = ()) -> str:
    """The content security policy of a path: nothing from other hosts; framed by others only below /embed/."""
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
            "frame-ancestors *" if path.startswith(EMBED) else "frame-ancestors 'self'",
        )
    )


class Headers:
    """ASGI middleware: adds what every answer carries and counts it."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"]

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._metrics.answers[message["status"]] += 1
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", policy(path))
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "strict-origin-when-cross-origin"
                if scope["method"] in ("GET", "HEAD") and path.startswith(OPEN):
                    headers["Access-Control-Allow-Origin"] = "*"
            await send(message)

        await self._app(scope, receive, send_with_headers)
