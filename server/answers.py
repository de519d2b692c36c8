"""Answers as bytes: compressed when the client takes it, with entity tags, without blocking the event loop."""

import asyncio
import gzip
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import msgspec
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from server.frontend_files import BuiltFile
from server.store import Stored, etag

JSON = "application/json"
SHOWN = "application/vnd.gradgraph.shown+json"
"""A trace and its graph in one."""
FOREVER = "public, max-age=31536000, immutable"
ASK_AGAIN = "no-cache"
NEVER = "no-store"
NO_HEADERS: Mapping[str, str] = MappingProxyType({})

_WORTH_COMPRESSING = 1_000
_QUICK = 50_000
"""Bytes up to which compressing takes less time than going to a thread and back."""


def accepts_gzip(request: Request) -> bool:
    """Whether the client takes gzip."""
    for choice in request.headers.get("accept-encoding", "").lower().split(","):
        coding, _, weight = choice.strip().partition(";")
        if coding.strip() in ("gzip", "*"):
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def accepts_shown(request: Request) -> bool:
    """Whether the client asks for a trace and its graph in one."""
    return SHOWN in request.headers.get("accept", "")


async def trace_answer(
    request: Request, stored: Stored, cache_control: str, headers: Mapping[str, str] = NO_HEADERS
) -> Response:
    """A stored trace: straight from the store when the client takes gzip; 304 when it has it already."""
    return await _answer(request, JSON, stored.etag, cache_control, dict(headers), zipped=stored.body)


async def answer(
    request: Request, body: bytes, media_type: str, cache_control: str, headers: Mapping[str, str] = NO_HEADERS
) -> Response:
    """Bytes with their entity tag; compressed when it is worth it."""
    return await _answer(request, media_type, etag(body), cache_control, dict(headers), plain=body)


async def json_answer(
    request: Request, body: BaseModel | Sequence[BaseModel], cache_control: str = ASK_AGAIN
) -> Response:
    """A body of `wire.py`."""
    data = body.model_dump_json().encode() if isinstance(body, BaseModel) else _encode(body)
    return await answer(request, data, JSON, cache_control)


def file_answer(
    request: Request, page: BuiltFile, cache_control: str, headers: Mapping[str, str] = NO_HEADERS
) -> Response:
    """A file of the build, compressed beforehand."""
    wants_gzip = accepts_gzip(request) and len(page.body) >= _WORTH_COMPRESSING
    tag = f'{page.etag[:-1]}-gz"' if wants_gzip else page.etag
    sent = {**headers, "ETag": tag, "Cache-Control": cache_control, "Vary": "Accept-Encoding"}
    if _matches(request, tag):
        return Response(status_code=304, headers=sent)
    if wants_gzip:
        sent["Content-Encoding"] = "gzip"
    return Response(page.zipped if wants_gzip else page.body, media_type=page.media_type, headers=sent)


async def unzipped(body: bytes) -> bytes:
    """The JSON of a stored trace."""
    return gzip.decompress(body) if len(body) < _QUICK // 10 else await asyncio.to_thread(gzip.decompress, body)


async def _answer(
    request: Request,
    media_type: str,
    tag: str,
    cache_control: str,
    headers: dict[str, str],
    *,
    plain: bytes | None = None,
    zipped: bytes | None = None,
) -> Response:
    wants_gzip = accepts_gzip(request) and (plain is None or len(plain) >= _WORTH_COMPRESSING)
    sent_tag = f'{tag[:-1]}-gz"' if wants_gzip else tag
    headers |= {"ETag": sent_tag, "Cache-Control": cache_control, "Vary": "Accept-Encoding"}
    if request.method == "GET" and _matches(request, sent_tag):
        return Response(status_code=304, headers=headers)
    if wants_gzip:
        headers["Content-Encoding"] = "gzip"
        return Response(zipped or await _zipped(plain or b""), media_type=media_type, headers=headers)
    return Response(
        plain if plain is not None else await unzipped(zipped or b""), media_type=media_type, headers=headers
    )


async def _zipped(body: bytes) -> bytes:
    return gzip.compress(body, 5) if len(body) < _QUICK else await asyncio.to_thread(gzip.compress, body, 4)


def _matches(request: Request, tag: str) -> bool:
    """Whether the client named this tag as one it has; `W/` does not matter for reading."""
    given = request.headers.get("if-none-match", "")
    return any(choice.strip().removeprefix("W/") in (tag, "*") for choice in given.split(","))


def _encode(bodies: Sequence[BaseModel]) -> bytes:
    return msgspec.json.encode([body.model_dump(mode="json") for body in bodies])
