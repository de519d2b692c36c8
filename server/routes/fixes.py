"""What came of the fixes that findings offer."""

import re
from typing import Annotated

from fastapi import APIRouter, Header
from starlette.requests import Request
from starlette.responses import Response

from server.answers import JSON, NEVER
from server.examples import FIXES, PROBLEM
from server.routes.runs import client_of
from server.service import ServiceOf

router = APIRouter(prefix="/api/v1/runs/{run}", tags=["runs"])

MOST_PATIENCE_S = 10


@router.get("/fixes", responses={200: FIXES, 404: PROBLEM})
async def fixes(
    request: Request,
    run: str,
    service: ServiceOf,
    prefer: Annotated[
        str, Header(description="`wait=N` answers when all fixes are tried, at the latest after N seconds (up to 10).")
    ] = "",
) -> Response:
    """The fixes of a run's findings that were tried: the edited program was run, and what it says is the proof. They
    are tried when they are first asked for, while no worker has anything else to do."""
    asked = re.search(r"\bwait=(\d+)", prefer)
    patience_s = min(MOST_PATIENCE_S, int(asked[1])) if asked else 0
    told = await service.fixes.of(run, client_of(request).address, patience_s)
    return Response(told, headers={"Cache-Control": NEVER}, media_type=JSON)
