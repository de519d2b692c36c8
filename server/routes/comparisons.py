"""Two runs beside each other."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from server.answers import ASK_AGAIN, JSON, answer
from server.examples import COMPARISON, PROBLEM
from server.service import ServiceOf

router = APIRouter(prefix="/api/v1/runs/{run}", tags=["runs"])


@router.get("/compare/{other}", responses={200: COMPARISON, 404: PROBLEM})
async def comparison(request: Request, run: str, other: str, service: ServiceOf) -> Response:
    """What corresponds in two runs, what differs, and where their values, graphs and gradients part."""
    return await answer(request, await service.views.comparison(run, other), JSON, ASK_AGAIN)
