"""PyTorch's engine at work in one backward pass."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from engine.replay import MOST_STEPS
from server.answers import JSON
from server.examples import ENGINE, PROBLEM
from server.service import ServiceOf

router = APIRouter(prefix="/api/v1/runs/{run}/passes/{pass_id}", tags=["graphs"])

STEPS = 100


@router.get("/engine", responses={200: ENGINE, 404: PROBLEM, 422: PROBLEM})
async def steps(
    run: str,
    pass_id: str,
    service: ServiceOf,
    *,
    start: Annotated[int, Query(alias="from", ge=0, description="Number of the first step, from 0.")] = 0,
    count: Annotated[int, Query(ge=1, le=MOST_STEPS, description="Most steps told.")] = STEPS,
) -> Response:
    """What the engine held before a step of the pass, and the steps from there: the node it took from its ready queue,
    the gradients it sent on, the dependencies they closed and the nodes that became ready."""
    return Response(await service.views.engine(run, pass_id, start, count), media_type=JSON)
