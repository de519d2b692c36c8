"""The page, the embed and their files."""

import secrets
from dataclasses import replace
from html import escape
from urllib.parse import quote

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from server.answers import FOREVER, file_answer
from server.frontend_files import NOT_BUILT
from server.http_policy import policy
from server.problems import Problem
from server.service import Service, ServiceOf

router = APIRouter(include_in_schema=False)

SESSION = "gradgraph_session"


@router.get("/")
async def playground(request: Request, service: ServiceOf) -> Response:
    """The page. Its cookie tells the queue one browser from another; it holds nothing else."""
    answer = html(request, service, "index.html")
    if SESSION not in request.cookies:
        answer.set_cookie(
            SESSION, secrets.token_urlsafe(12), path="/api/", httponly=True, samesite="strict",
            secure=request.url.scheme == "https",
        )  # fmt: skip
    return answer


@router.get("/embed/{run}")
async def embed(request: Request, run: str, service: ServiceOf) -> Response:
    """Graph and player of a stored trace, for a frame on a course page."""
    return html(request, service, "embed.html", _picture_of(run, request.url.query))


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


def _picture_of(run: str, query: str) -> bytes:
    """What a reader without scripts sees of a run."""
    address = f"/api/v1/runs/{quote(run, safe='')}/graph.svg?{query}"
    return f'<noscript><img src="{escape(address)}" alt="{escape(run)}" style="max-width: 100%"></noscript>'.encode()


def html(request: Request, service: Service, name: str, besides: bytes = b"") -> Response:
    """A page of the build with something at the end of its body, or one that says how to build it."""
    if (page := service.frontend.get(name)) is None:
        return HTMLResponse(NOT_BUILT.format(missing=f"server/assets/{name}"), 503, {"Cache-Control": "no-store"})
    csp = policy(request.url.path, page.script_hashes)
    if besides:
        page = replace(page, body=page.body.replace(b"</body>", besides + b"</body>"))
    return file_answer(request, page, {"Content-Security-Policy": csp})
