"""The page, the embed and their files."""

import secrets
from collections.abc import Callable, Sequence
from typing import Annotated, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from server.answers import FOREVER, file_answer, tagged_answer
from server.frontend_files import NOT_BUILT
from server.http_policy import ANYWHERE, policy
from server.kept import page_of
from server.oembed import opens_in
from server.problems import Problem
from server.service import LanguageOf, Service, ServiceOf
from server.snapshot_page import opening, title_of, written, written_of_run
from server.snapshots import Opened, is_snapshot

router = APIRouter(include_in_schema=False)

SESSION = "gradgraph_session"


@router.get("/")
async def playground(request: Request, service: ServiceOf) -> Response:
    """The page."""
    return with_session(request, await html(request, service, "index.html"))


@router.get("/embed/{run}")
async def embed(
    request: Request, run: str, service: ServiceOf, mode: Annotated[str | None, Query()] = None
) -> Response:
    """Graph and player of a stored trace, for a frame on a course page."""
    edits = mode == "edit" and may_edit(request, service.settings.edit_origins)
    page, framed_by = ("edit.html", ("'self'", *service.settings.edit_origins)) if edits else ("embed.html", ANYWHERE)
    query = request.url.query
    if found := await service.snapshots.open(run) if is_snapshot(run) else None:
        found = found._replace(view=opening(found.view, opens_in(query)))
        return await html_of(request, service, page, run, found, framed_by)
    base = str(request.base_url)
    return await html(request, service, page, lambda text: written_of_run(text, base, run, query), framed_by)


def may_edit(request: Request, origins: Sequence[str]) -> bool:
    """Whether the page around, if any, may let its readers run programs. What it says of itself only chooses what they
    see; which pages are allowed to frame it, the browser is told by the policy."""
    if not origins or "*" in origins or request.headers.get("sec-fetch-dest") == "document":
        return bool(origins)
    around = urlsplit(request.headers.get("referer", ""))
    own = (request.url.scheme, request.url.netloc)
    return (around.scheme, around.netloc) == own or f"{around.scheme}://{around.netloc}" in origins


@router.get("/kept")
async def kept(
    service: ServiceOf, preferred: LanguageOf, lang: Annotated[Literal["zh", "en"] | None, Query()] = None
) -> Response:
    """What is kept, how long and why."""
    return HTMLResponse(page_of(service.settings, lang or preferred, SESSION))


@router.get("/assets/{path:path}")
async def asset(request: Request, path: str, service: ServiceOf) -> Response:
    """A file of the build; its name changes with its contents."""
    if (page := service.frontend.get(f"assets/{path}")) is None:
        raise Problem("no-such-page", path=request.url.path)
    return file_answer(request, page, {"Cache-Control": FOREVER})


@router.get("/{file}")
async def top_file(request: Request, file: str, service: ServiceOf) -> Response:
    """A file at the top of the build, such as an icon."""
    if file.endswith(".html") or file.startswith(".") or (page := service.frontend.get(file)) is None:
        raise Problem("no-such-page", path=request.url.path)
    return file_answer(request, page)


async def html(
    request: Request,
    service: Service,
    name: str,
    write: Callable[[str], str] | None = None,
    framed_by: Sequence[str] = ANYWHERE,
) -> Response:
    """A page of the build, with something written into it; or one that says how to build it. `framed_by`: the pages
    that may frame an embed or snapshot."""
    if (page := service.frontend.get(name)) is None:
        return HTMLResponse(NOT_BUILT.format(missing=f"server/assets/{name}"), 503, {"Cache-Control": "no-store"})
    headers = {"Content-Security-Policy": policy(request.url.path, page.script_hashes, framed_by)}
    if write is None:
        return file_answer(request, page, headers)
    return await tagged_answer(request, write(page.body.decode()).encode(), "text/html; charset=utf-8", headers)


async def html_of(
    request: Request, service: Service, name: str, id: str, opened: Opened, framed_by: Sequence[str] = ANYWHERE
) -> Response:
    """A page of the build that opens on a snapshot."""
    title = title_of(await service.views.trace(opened.stored), service.lessons, opened.view)
    base, path = str(request.base_url), "embed/" if request.url.path.startswith("/embed/") else "s/"
    opens = opens_in(request.url.query)

    def write(page: str) -> str:
        return written(page, base, path, id, opened.view, title, opens)

    return await html(request, service, name, write, framed_by)


def with_session(request: Request, answer: Response) -> Response:
    """The page with a cookie that tells the queue and rooms one browser from another; it holds nothing else. A browser
    keeps it as it comes again, from a link on another site too: so it is sent to pages, and lax."""
    if SESSION not in request.cookies:
        answer.set_cookie(
            SESSION, secrets.token_urlsafe(12), httponly=True, samesite="lax",
            secure=request.url.scheme == "https",
        )  # fmt: skip
    return answer
