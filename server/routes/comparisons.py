"""Two runs beside each other, and what would make another one of a run."""

from fastapi import APIRouter
from starlette.responses import Response

from server.answers import JSON
from server.examples import COMPARISON, PROBLEM, WHAT_IFS
from server.service import ServiceOf

router = APIRouter(prefix="/api/v1/runs/{run}", tags=["runs"])


@router.get("/compare/{other}", responses={200: COMPARISON, 404: PROBLEM})
async def comparison(run: str, other: str, service: ServiceOf) -> Response:
    """What corresponds in two runs, what differs, and where their values, graphs and gradients part."""
    return Response(await service.views.comparison(run, other), media_type=JSON)


@router.get("/what-ifs", responses={200: WHAT_IFS, 404: PROBLEM})
async def what_ifs(run: str, service: ServiceOf) -> Response:
    """What the run could be done otherwise in: edits that make another program of it, to be run and compared."""
    return Response(await service.views.what_ifs(run), media_type=JSON)
