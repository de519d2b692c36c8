"""The derivative rules, and PyTorch's own formulas."""

from functools import cache

import msgspec
from fastapi import APIRouter
from starlette.responses import Response

from engine.rules import texts
from engine.rules.derivatives import derivative_of
from server.answers import JSON
from server.examples import DERIVATIVE, PROBLEM, RULES
from server.problems import Problem

router = APIRouter(prefix="/api/v1/rules", tags=["rules"])


@router.get("", responses={200: RULES})
async def rules() -> Response:
    """All readable derivative rules, as MathML with places for the numbers of a node."""
    return Response(_encoded(), media_type=JSON)


@router.get("/{node_type}", responses={200: DERIVATIVE, 404: PROBLEM})
async def derivative(node_type: str) -> Response:
    """PyTorch's own formula text for a node type, for each slot: also of the nodes that have no readable rule."""
    found = derivative_of(node_type)
    if found is None:
        raise Problem("no-such-derivative", node_type=node_type[:100])
    return Response(msgspec.json.encode(found), media_type=JSON)


@cache
def _encoded() -> bytes:
    return msgspec.json.encode(texts())
