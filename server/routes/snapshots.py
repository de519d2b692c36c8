"""Snapshots: keep a run as it is looked at, give it back as a page and as files, give it up."""

import contextlib
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Header, Query
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from engine.export.script import runnable
from engine.graph import pass_at
from server.answers import JSON, NEVER, ONE_DAY, tagged_answer
from server.examples import MADE, PROBLEM, SNAPSHOT, SNAPSHOTS, Documented, download
from server.exports import PICTURES, Look, Picture
from server.problems import Problem
from server.routes.graphs import Height, Questions, Width, policy_of, with_charset
from server.routes.pages import html_of, with_session
from server.routes.runs import client_of, finished_trace
from server.service import LanguageOf, Service, ServiceOf
from server.snapshot_page import gone, refused
from server.snapshots import Opened, is_snapshot, json_of, new_token
from server.standalone import Selected
from server.views import Choice
from server.wire import MOST_STEPS, SelectedPart, SnapshotBody, SnapshotMade, SnapshotView

router = APIRouter(tags=["snapshots"])

REFUSED: dict[int | str, Documented] = {404: PROBLEM, 410: PROBLEM, 422: PROBLEM, 503: PROBLEM}
DRAWN_ANEW = "public, max-age=3600"
"""Of what is drawn from a snapshot: its content stays, the drawing code may get better."""


@dataclass(frozen=True)
class Asked:
    """What a reader wants otherwise than the snapshot has it."""

    step: int | None
    lang: Literal["zh", "en"] | None
    theme: Literal["light", "dark"] | None

    def of(self, view: SnapshotView) -> SnapshotView:
        """The view of the snapshot with that in it."""
        otherwise = {"step": self.step, "lang": self.lang, "theme": self.theme}
        return view.model_copy(update={name: value for name, value in otherwise.items() if value is not None})


async def asked_of(
    step: Annotated[
        int | None, Query(ge=0, le=MOST_STEPS, description="Step of the timeline; else the snapshot's.")
    ] = None,
    lang: Annotated[Literal["zh", "en"] | None, Query(description="Words; else the snapshot's.")] = None,
    theme: Annotated[Literal["light", "dark"] | None, Query(description="Colours; else the snapshot's.")] = None,
) -> Asked:
    """What is wanted otherwise, from the query."""
    return Asked(step, lang, theme)


AskedOf = Annotated[Asked, Depends(asked_of)]


async def opened_of(snapshot: str, asked: AskedOf, service: ServiceOf) -> Opened:
    """The snapshot of a path, with the view that is asked for. Raises Problem."""
    found = await service.snapshots.open(snapshot) if is_snapshot(snapshot) else None
    if found is None:
        raise Problem("no-such-snapshot", snapshot=snapshot)
    return found._replace(view=asked.of(found.view))


OpenedOf = Annotated[Opened, Depends(opened_of)]


@router.post(
    "/api/v1/snapshots",
    status_code=201,
    responses={201: MADE, 400: PROBLEM, 409: PROBLEM, 413: PROBLEM, 429: PROBLEM, 507: PROBLEM, **REFUSED},
)
async def make(
    request: Request, response: Response, body: Annotated[SnapshotBody, SNAPSHOTS], service: ServiceOf
) -> SnapshotMade:
    """Keep a finished run as it is looked at, until its token deletes it. The same content has the same id."""
    service.snapshots.admit(client_of(request).address)
    token = new_token()
    plain = SnapshotView(step=0, lang=body.view.lang)
    beside = [await keep(service, run, plain, token) for run in body.view.beside]
    id = await keep(service, body.run, body.view.model_copy(update={"beside": beside}), token)
    response.headers.update({"Location": f"/s/{id}", "Cache-Control": NEVER})
    return SnapshotMade(id=id, url=f"/s/{id}", token=token)


@router.delete(
    "/api/v1/snapshots/{snapshot}",
    status_code=204,
    responses={204: {"description": "It is no longer kept for you."}, 403: PROBLEM, **REFUSED},
)
async def release(
    snapshot: str, service: ServiceOf, owner_token: Annotated[str, Header(description="As its making told it.")] = ""
) -> None:
    """Give a snapshot up. It is gone unless somebody else has made the same one; then that one goes on keeping it."""
    beside: list[str] = []
    with contextlib.suppress(Problem):  # one of a foreign version can be given up too
        found = await service.snapshots.open(snapshot)
        beside = found.view.beside if found else []
    for each in (snapshot, *beside):
        await service.snapshots.release(each, owner_token)


@router.get("/s/{snapshot}.json", responses={200: SNAPSHOT, 304: {"description": "You have it already."}, **REFUSED})
async def json(request: Request, opened: OpenedOf) -> Response:
    """The whole snapshot: the trace with all its numbers, and the view."""
    return await tagged_answer(request, json_of(opened), JSON, {"Cache-Control": ONE_DAY})


def _picture_route(extension: str, made: Picture) -> None:
    """A route for a format of the graph, at the step of the view."""

    @router.get(
        f"/s/{{snapshot}}.{extension}",
        name=f"snapshot_{extension}",
        description=made.says,
        response_class=Response,
        responses={200: download(made.media_type, made.begins), **REFUSED},
    )
    async def drawn_anew(
        request: Request,
        snapshot: str,
        opened: OpenedOf,
        service: ServiceOf,
        width: Width = None,
        height: Height = None,
        questions: Questions = "on",
    ) -> Response:
        size = (width, height if width else None)
        choice, look = await drawn(service, opened, plays=made.drawn == "parts", size=size)
        look = replace(look, questions=questions)
        body = await service.views.picture(snapshot, extension, choice, look)
        return await picture(request, body, with_charset(made.media_type))


for _extension, _made in PICTURES.items():
    _picture_route(_extension, _made)


@router.get(
    "/s/{snapshot}.py", response_class=Response, responses={200: download("text/x-python", "import torch"), **REFUSED}
)
async def program(request: Request, snapshot: str, opened: OpenedOf, service: ServiceOf) -> Response:
    """The program, with what it ran with above it: run as a file, it gives the numbers of the snapshot."""
    code = runnable(await service.views.trace(opened.stored), f"{request.base_url}s/{snapshot}")
    return await picture(request, code.encode(), "text/x-python; charset=utf-8")


@router.get("/s/{snapshot}", include_in_schema=False)
async def page(request: Request, snapshot: str, asked: AskedOf, service: ServiceOf, language: LanguageOf) -> Response:
    """The page as the one who shared it saw it."""
    try:
        found = await service.snapshots.open(snapshot) if is_snapshot(snapshot) else None
    except Problem as problem:
        return HTMLResponse(refused(problem, language), problem.status, {"Cache-Control": NEVER})
    if found is None:
        return HTMLResponse(gone(snapshot, language), 404, {"Cache-Control": NEVER})
    opening = found._replace(view=asked.of(found.view))
    return with_session(request, await html_of(request, service, "index.html", snapshot, opening))


async def keep(service: Service, run: str, view: SnapshotView, token: str) -> str:
    """Keep one run for the owner of a token; the snapshot's id. Raises Problem."""
    stored = await finished_trace(service, run)
    trace = await service.views.trace(stored)
    if view.step > (total := len(trace.timeline)):
        raise Problem("no-such-step", step=view.step, run=run, total=total)
    large = [each.id for each in trace.tensors if each.stored]
    values = {tensor: body for tensor in large if (body := await service.traces.tensor(run, tensor))}
    return await service.snapshots.keep(stored, values, view, token)


async def drawn(
    service: Service, opened: Opened, *, plays: bool = False, size: tuple[int | None, int | None] = (None, None)
) -> tuple[Choice, Look]:
    """What of a snapshot is drawn, and how: what its page would show. A player chooses by its step, as the page does;
    a picture is of the step's pass."""
    view = opened.view
    chosen = view.pass_id
    if chosen is None and view.root is None and not plays:
        chosen = pass_at(await service.views.trace(opened.stored), view.step)
    choice = Choice(root=view.root, pass_id=chosen, level=view.level, layers=view.pass_id is None)
    expanded = None if view.expanded is None else tuple(sorted(view.expanded))
    theme = "light" if view.theme == "auto" and not plays else view.theme
    part = view.selection
    selection = Selected(kind=part.kind, id=part.id) if isinstance(part, SelectedPart) else None
    width, height = size
    return choice, Look(
        lang=view.lang, theme=theme, step=view.step, expanded=expanded, selection=selection, width=width, height=height
    )


async def picture(request: Request, body: bytes, media_type: str) -> Response:
    """A file made of a snapshot, which a browser may open by itself."""
    return await tagged_answer(
        request, body, media_type, {"Content-Security-Policy": policy_of(media_type), "Cache-Control": DRAWN_ANEW}
    )
