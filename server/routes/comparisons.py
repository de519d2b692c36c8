"""Two runs beside each other."""

from fastapi import APIRouter
from starlette.responses import Response

from server.answers import JSON
from server.examples import COMPARISON, PROBLEM
from server.service import ServiceOf

router = APIRouter(prefix="/api/v1/runs/{run}", tags=["runs"])


@router.get("/compare/{other}", responses={200: COMPARISON, 404: PROBLEM})
async def comparison(run: str, other: str, service: ServiceOf) -> Response:
    """What corresponds in two runs, what differs, and where their values, graphs and gradients part."""
    return Response(await service.views.comparison(run, other), media_type=JSON)
