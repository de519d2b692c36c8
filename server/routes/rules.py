"""The derivative rules, and PyTorch's own formulas."""

from functools import cache

import msgspec
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from engine.rules import texts
from engine.rules.derivatives import derivative_of
from server.answers import ASK_AGAIN, JSON, answer
from server.examples import DERIVATIVE, PROBLEM, RULES
from server.problems import Problem

router = APIRouter(prefix="/api/v1/rules", tags=["rules"])


@router.get("", responses={200: RULES})
async def rules(request: Request) -> Response:
    """All readable derivative rules, as MathML with places for the numbers of a node."""
    return await answer(request, _encoded(), JSON, ASK_AGAIN)


@router.get("/{node_type}", responses={200: DERIVATIVE, 404: PROBLEM})
async def derivative(request: Request, node_type: str) -> Response:
    """PyTorch's own formula text for a node type, for each slot: also of the nodes that have no readable rule."""
    found = derivative_of(node_type)
    if found is None:
        raise Problem("no-such-derivative", node_type=node_type[:100])
    return await answer(request, msgspec.json.encode(found), JSON, ASK_AGAIN)


@cache
def _encoded() -> bytes:
    return msgspec.json.encode(texts())
