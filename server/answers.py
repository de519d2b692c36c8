"""Answers whose compressed form is at hand; all others are compressed by the middleware, and tagged there."""

import asyncio
import gzip
from collections.abc import Mapping
from types import MappingProxyType

from starlette.requests import Request
from starlette.responses import Response

from server.frontend_files import BuiltFile
from server.store import Stored, etag

JSON = "application/json"
SHOWN = "application/vnd.gradgraph.shown+json"
"""A trace and its graph in one."""
FOREVER = "public, max-age=31536000, immutable"
ONE_DAY = "public, max-age=86400, immutable"
"""Of what never changes but may be deleted: then it is gone everywhere a day later."""
NEVER = "no-store"
NO_HEADERS: Mapping[str, str] = MappingProxyType({})

COMPRESSED_FROM_BYTES = 1_000
"""Shorter answers are sent as they are."""
GZIP_LEVEL = 4
"""5 takes eight times as long for an answer of 400 KB, and saves 4 % of it."""
IN_A_THREAD_FROM_BYTES = 50_000
"""Bytes up to which compressing takes less time than going to a thread and back."""


def accepts_gzip(request: Request) -> bool:
    """Whether the client takes gzip, by the same rule as starlette's middleware."""
    return "gzip" in request.headers.get("accept-encoding", "")


def accepts_shown(request: Request) -> bool:
    """Whether the client asks for a trace and its graph in one."""
    return SHOWN in request.headers.get("accept", "")


async def trace_answer(
    request: Request, stored: Stored, cache_control: str, headers: Mapping[str, str] = NO_HEADERS
) -> Response:
    """A stored trace: straight from the store when the client takes gzip."""
    headers = {**headers, "ETag": stored.etag, "Cache-Control": cache_control}
    if accepts_gzip(request):
        return Response(stored.body, headers=headers | _gzipped(stored.etag), media_type=JSON)
    return Response(await unzipped(stored.body), headers=headers, media_type=JSON)


async def tagged_answer(request: Request, body: bytes, media_type: str, headers: Mapping[str, str]) -> Response:
    """An answer made now, with a strong tag, compressed when the client takes gzip and it is worth it."""
    tag = etag(body)
    headers = {**headers, "ETag": tag}
    if not accepts_gzip(request) or len(body) < COMPRESSED_FROM_BYTES or media_type == "image/png":
        return Response(body, headers=headers, media_type=media_type)
    zipped = await asyncio.to_thread(gzip.compress, body, GZIP_LEVEL, mtime=0)
    return Response(zipped, headers=headers | _gzipped(tag), media_type=media_type)


def file_answer(request: Request, file: BuiltFile, headers: Mapping[str, str] = NO_HEADERS) -> Response:
    """A file of the build, compressed when it was built."""
    headers = {**headers, "ETag": file.etag}
    if accepts_gzip(request) and len(file.body) >= COMPRESSED_FROM_BYTES:
        return Response(file.zipped, headers=headers | _gzipped(file.etag), media_type=file.media_type)
    return Response(file.body, headers=headers, media_type=file.media_type)


async def unzipped(body: bytes) -> bytes:
    """The JSON of a stored trace."""
    quick = len(body) < IN_A_THREAD_FROM_BYTES // 10
    return gzip.decompress(body) if quick else await asyncio.to_thread(gzip.decompress, body)


def _gzipped(tag: str) -> dict[str, str]:
    """What a compressed body says of itself; its strong tag is another than that of the plain one."""
    return {"Content-Encoding": "gzip", "ETag": f'{tag[:-1]}-gz"'}
