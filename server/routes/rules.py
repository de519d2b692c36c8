"""The derivative rules."""

from functools import cache

import msgspec
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from engine.rules import texts
from server.answers import ASK_AGAIN, JSON, answer
from server.examples import RULES

router = APIRouter(prefix="/api/v1/rules", tags=["rules"])


@router.get("", responses={200: RULES})
async def rules(request: Request) -> Response:
    """All readable derivative rules, as MathML with places for the numbers of a node."""
    return await answer(request, _encoded(), JSON, ASK_AGAIN)


@cache
def _encoded() -> bytes:
    return msgspec.json.encode(texts())
