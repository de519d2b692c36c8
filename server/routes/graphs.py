"""The graph of a run: as JSON to draw from, laid out, or drawn."""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from engine.graph import Level
from server.answers import JSON
from server.examples import GRAPH, LAYOUT, PROBLEM, Documented, download
from server.exports import FILES, PICTURES, Asking, File, Look, Picture
from server.service import LanguageOf, ServiceOf
from server.views import Choice, LayoutOptions

router = APIRouter(prefix="/api/v1/runs/{run}", tags=["graphs"])

SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
PLAYER_POLICY = f"sandbox allow-scripts; {SVG_POLICY}; script-src 'unsafe-inline'"
"""Of a page with the program's texts in it: it has no origin here. Its own head names its scripts by hash."""
REFUSED: dict[int | str, Documented] = {404: PROBLEM, 422: PROBLEM}


async def choice_of(
    root: Annotated[str | None, Query(description="Node to start from; else the latest pass or root.")] = None,
    pass_id: Annotated[str | None, Query(alias="pass", description="Pass whose gradients are shown.")] = None,
    level: Annotated[Level, Query(description="Autograd nodes, recorded operations, or both.")] = "both",
    layers: Annotated[
        bool, Query(description="Together with the passes that made, with create_graph=True, what a pass ran over.")
    ] = True,
    until: Annotated[
        int | None, Query(ge=0, description="Steps after which the run ends, as before a question; else all.")
    ] = None,
) -> Choice:
    """What to draw, from the query."""
    return Choice(root=root, pass_id=pass_id, level=level, layers=layers, until=until)


Width = Annotated[int | None, Query(ge=16, le=4_000, description="Pixels across; else as large as it is drawn.")]

Height = Annotated[
    int | None, Query(ge=16, le=4_000, description="Pixels down, with `width`; else as the graph is shaped.")
]


Questions = Annotated[
    Asking, Query(description="`off`: show all of a program that asks, not only what was there before its questions.")
]


async def look_of(
    preferred: LanguageOf,
    lang: Annotated[Literal["zh", "en"] | None, Query(description="Words; else by Accept-Language.")] = None,
    theme: Annotated[Literal["light", "dark"], Query(description="Colours.")] = "light",
    step: Annotated[int | None, Query(ge=0, description="Step of the timeline; else the end.")] = None,
    width: Width = None,
    height: Height = None,
    questions: Questions = "on",
) -> Look:
    """How to draw it, from the query."""
    high = height if width else None
    return Look(lang=lang or preferred, theme=theme, step=step, width=width, height=high, questions=questions)


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


def _picture_route(extension: str, made: Picture) -> None:
    """A route for a format of the graph."""
    refused = {**REFUSED, 503: PROBLEM} if made.drawn else REFUSED

    @router.get(
        f"/graph.{extension}",
        name=f"graph_{extension}",
        description=made.says,
        response_class=Response,
        responses={200: download(made.media_type, made.begins), **refused},
    )
    async def written(run: str, choice: ChoiceOf, look: LookOf, service: ServiceOf) -> Response:
        return picture(await service.views.picture(run, extension, choice, look), with_charset(made.media_type))


def _file_route(name: str, made: File) -> None:
    """A route for a format of the whole run."""

    @router.get(
        f"/{name}",
        name=name.partition(".")[0],
        description=made.says,
        response_class=Response,
        responses={200: download(made.media_type, made.begins), **REFUSED},
    )
    async def written(run: str, service: ServiceOf) -> Response:
        return picture(await service.views.file(run, name), with_charset(made.media_type))


for _extension, _made in PICTURES.items():
    _picture_route(_extension, _made)
for _name, _file in FILES.items():
    _file_route(_name, _file)


def with_charset(media_type: str) -> str:
    """A text's type says its encoding."""
    return f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type


def policy_of(media_type: str) -> str:
    """What a browser lets a file do that it opens by itself."""
    return PLAYER_POLICY if media_type.startswith("text/html") else SVG_POLICY


def picture(body: bytes, media_type: str) -> Response:
    """A view that a browser may open by itself."""
    return Response(body, media_type=media_type, headers={"Content-Security-Policy": policy_of(media_type)})
