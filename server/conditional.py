"""Entity tags: what the client has already is not sent again."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.store import etag


class ConditionalGet:
    """ASGI middleware: answers to GET that may be kept get a tag, and become a 304 for who has them.

    Starlette does this for files only. The tag is weak unless the route gave one, for it stays the same when the answer
    is compressed on its way out. What comes in pieces passes through.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "GET":
            send = _unless_known(Headers(scope=scope).get("if-none-match", ""), send)
        await self._app(scope, receive, send)


def _unless_known(known: str, send: Send) -> Send:
    start: Message | None = None

    async def send_unless_known(message: Message) -> None:
        nonlocal start
        if message["type"] == "http.response.start" and _may_be_kept(message):
            start = message  # until its body is there
            return
        if start is not None:
            if not message.get("more_body", False):
                message = _tag(start, message, known)
            await send(start)
            start = None
        await send(message)

    return send_unless_known


def _may_be_kept(start: Message) -> bool:
    return start["status"] == 200 and "no-store" not in Headers(raw=start["headers"]).get("cache-control", "")


def _tag(start: Message, body: Message, known: str) -> Message:
    """Gives the answer its tag; the body it is to have."""
    headers = MutableHeaders(raw=start["headers"])
    tag = headers.setdefault("ETag", f"W/{etag(body['body'])}")
    if not _matches(known, tag):
        return body
    start["status"] = 304
    for name in ("content-length", "content-type", "content-encoding"):
        del headers[name]
    return {**body, "body": b""}


def _matches(known: str, tag: str) -> bool:
    """Whether the client named this tag as one it has; `W/` does not matter for reading."""
    return any(choice.strip().removeprefix("W/") in (tag.removeprefix("W/"), "*") for choice in known.split(","))
