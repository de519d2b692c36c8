"""oEmbed: sites that know it turn a pasted link into the graph itself."""

from importlib.util import find_spec
from typing import Annotated
from urllib.parse import urlencode

import msgspec
from fastapi import APIRouter, Query
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from server.answers import JSON, tagged_answer
from server.examples import OEMBED, PROBLEM
from server.oembed import SIZE, THUMBNAIL, Asked, Size, Thumbnail, answer, asked_in, bounded, within, xml
from server.problems import Language, Problem
from server.routes.runs import finished_trace
from server.routes.snapshots import DRAWN_ANEW, drawn
from server.service import LanguageOf, Service, ServiceOf
from server.snapshot_page import opening, title_of
from server.snapshots import Opened, is_snapshot
from server.wire import SnapshotView

router = APIRouter(tags=["snapshots"])

FORMATS = ("json", "xml")

Bound = Annotated[int | None, Query(ge=1, description="Most pixels of the frame, and of the picture.")]


@router.get("/oembed", responses={200: OEMBED, 404: PROBLEM, 410: PROBLEM, 422: PROBLEM, 501: PROBLEM, 503: PROBLEM})
async def oembed(
    request: Request,
    service: ServiceOf,
    preferred: LanguageOf,
    url: Annotated[str, Query(max_length=2_000, description="Address of a snapshot's page or of an embed.")],
    format: Annotated[str, Query(description="`json` or `xml`.")] = "json",
    maxwidth: Bound = None,
    maxheight: Bound = None,
) -> Response:
    """What a site needs to show a pasted link as a graph (oEmbed 1.0): a frame, a title, a picture."""
    if format not in FORMATS:
        raise Problem("no-such-oembed-format", asked=format)
    base = str(request.base_url)
    if (asked := asked_in(url, base)) is None:
        raise Problem("not-embeddable", url=url, host=base)
    opened = await opened_at(service, asked, preferred)
    title = title_of(await service.views.trace(opened.stored), service.lessons, opened.view)
    picture = await thumbnail(service, asked, opened, base, bounded(THUMBNAIL, maxwidth, maxheight))
    told = answer(asked, base, title, bounded(SIZE, maxwidth, maxheight), picture).model_dump(exclude_none=True)
    if format == "xml":
        return await tagged_answer(request, xml(told), "text/xml; charset=utf-8", {"Cache-Control": DRAWN_ANEW})
    return await tagged_answer(request, msgspec.json.encode(told), JSON, {"Cache-Control": DRAWN_ANEW})


async def opened_at(service: Service, asked: Asked, preferred: Language) -> Opened:
    """The snapshot or run of an address, with the view that it asks for. Raises Problem."""
    opened = await service.snapshots.open(asked.id) if is_snapshot(asked.id) else None
    if opened is None:
        stored = await finished_trace(service, asked.id)
        lesson = next((each.name for each in service.lessons.values() if each.run == asked.id), None)
        end = len((await service.views.trace(stored)).timeline)
        opened = Opened(stored, SnapshotView(step=end, lang=preferred, lesson=lesson))
    return opened._replace(view=opening(opened.view, asked.opens))


async def thumbnail(service: Service, asked: Asked, opened: Opened, base: str, bounds: Size) -> Thumbnail | None:
    """The picture of what an embed opens at; None where it cannot be drawn here."""
    if find_spec("resvg_py") is None:
        return None
    choice, look = await drawn(service, opened)
    if asked.opens.get("questions") == "off":
        look = replace(look, questions="off")
    try:
        size = within((await service.views.picture(asked.id, "svg", choice, look)).decode(), bounds)
    except Problem:  # asked for by itself, it tells
        return None
    if size is None:
        return None
    is_known = is_snapshot(asked.id)
    path = f"s/{asked.id}.png" if is_known else f"api/v1/runs/{asked.id}/graph.png"
    shown = {name: said for name, said in asked.opens.items() if name in ("step", "lang", "theme", "questions")}
    look_of_run = {} if is_known else {"lang": opened.view.lang}
    return Thumbnail(f"{base}{path}?{urlencode(look_of_run | shown | {'width': size[0]})}", *size)
