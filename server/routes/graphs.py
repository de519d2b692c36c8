"""The graph of a run: as JSON to draw from, laid out, or drawn."""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from engine.graph import Level
from server.answers import JSON
from server.examples import GRAPH, LAYOUT, PROBLEM, Documented, text
from server.service import LanguageOf, ServiceOf
from server.views import Choice, LayoutOptions, Look

router = APIRouter(prefix="/api/v1/runs/{run}", tags=["graphs"])

SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
PICTURE = {"Content-Security-Policy": SVG_POLICY}
REFUSED: dict[int | str, Documented] = {404: PROBLEM, 422: PROBLEM}


async def choice_of(
    root: Annotated[str | None, Query(description="Node to start from; else the latest pass or root.")] = None,
    pass_id: Annotated[str | None, Query(alias="pass", description="Pass whose gradients are shown.")] = None,
    level: Annotated[Level, Query(description="Autograd nodes, recorded operations, or both.")] = "both",
    layers: Annotated[
        bool, Query(description="Together with the passes that made, with create_graph=True, what a pass ran over.")
    ] = True,
) -> Choice:
    """What to draw, from the query."""
    return Choice(root=root, pass_id=pass_id, level=level, layers=layers)


async def look_of(
    preferred: LanguageOf,
    lang: Annotated[Literal["zh", "en"] | None, Query(description="Words; else by Accept-Language.")] = None,
    theme: Annotated[Literal["light", "dark"], Query(description="Colours.")] = "light",
    step: Annotated[int | None, Query(ge=0, description="Step of the timeline; else the end.")] = None,
) -> Look:
    """How to draw it, from the query."""
    return Look(lang=lang or preferred, theme=theme, step=step)


async def layout_options_of(
    preferred: LanguageOf,
    lang: Annotated[Literal["zh", "en"] | None, Query(description="Words; else by Accept-Language.")] = None,
    room: Annotated[
        Literal["page", "embed", "phone"],
        Query(description="Where it is shown: embeds and phones have shorter titles and no step numbers."),
    ] = "page",
) -> LayoutOptions:
    """How to lay it out, from the query."""
    return LayoutOptions(lang=lang or preferred, room=room)


ChoiceOf = Annotated[Choice, Depends(choice_of)]
LookOf = Annotated[Look, Depends(look_of)]
LayoutOptionsOf = Annotated[LayoutOptions, Depends(layout_options_of)]


@router.get("/graph", responses={200: GRAPH, **REFUSED})
async def graph(run: str, choice: ChoiceOf, service: ServiceOf) -> Response:
    """The graph to draw, as JSON."""
    return Response(await service.views.graph(run, choice), media_type=JSON)


@router.get("/graph/layout", responses={200: LAYOUT, 503: PROBLEM, **REFUSED})
async def layout(run: str, choice: ChoiceOf, options: LayoutOptionsOf, service: ServiceOf) -> Response:
    """Where everything goes when the graph opens: what the page would work out itself."""
    return Response(await service.views.layout(run, choice, options), media_type=JSON)


@router.get(
    "/graph.svg", response_class=Response, responses={200: text("image/svg+xml", "<svg …"), 503: PROBLEM, **REFUSED}
)
async def svg(run: str, choice: ChoiceOf, look: LookOf, service: ServiceOf) -> Response:
    """The graph as the page draws it."""
    return picture(await service.views.svg(run, choice, look), "image/svg+xml")


@router.get("/graph.png", response_class=Response, responses={200: text("image/png", "PNG"), 503: PROBLEM, **REFUSED})
async def png(run: str, choice: ChoiceOf, look: LookOf, service: ServiceOf) -> Response:
    """The same picture as pixels."""
    return picture(await service.views.png(run, choice, look), "image/png")


@router.get("/graph.dot", response_class=Response, responses={200: text("text/vnd.graphviz", "digraph …"), **REFUSED})
async def dot(run: str, choice: ChoiceOf, look: LookOf, service: ServiceOf) -> Response:
    """The graph in Graphviz's language."""
    return picture(await service.views.dot(run, choice, look.lang), "text/vnd.graphviz; charset=utf-8")


@router.get(
    "/graph.mmd", response_class=Response, responses={200: text("text/vnd.mermaid", "flowchart TB …"), **REFUSED}
)
async def mermaid(run: str, choice: ChoiceOf, look: LookOf, service: ServiceOf) -> Response:
    """The graph in Mermaid's language."""
    return picture(await service.views.mermaid(run, choice, look.lang), "text/vnd.mermaid; charset=utf-8")


def picture(body: bytes, media_type: str) -> Response:
    """A view that a browser may open by itself."""
    return Response(body, media_type=media_type, headers=PICTURE)
