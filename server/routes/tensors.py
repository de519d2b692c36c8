"""Values of one tensor in full."""

import gzip
import math
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from engine.trace import Number, Tensor
from server import npy
from server.examples import PROBLEM, VALUES, download
from server.problems import Problem
from server.service import Service, ServiceOf
from server.wire import ValuesPage

router = APIRouter(prefix="/api/v1/runs/{run}/tensors", tags=["tensors"])

PAGE = 1_000
MAX_PAGE = 10_000


@router.get(
    "/{tensor}.npy",
    response_class=Response,
    responses={200: download("application/octet-stream", "NUMPY"), 404: PROBLEM},
)
async def file(run: str, tensor: str, service: ServiceOf) -> Response:
    """All values as a NumPy file."""
    facts = await service.views.tensor(run, tensor)
    body = await kept(run, facts, service)
    headers = {"Content-Disposition": f'attachment; filename="{tensor}.npy"'}
    return Response(body, media_type="application/octet-stream", headers=headers)


@router.get("/{tensor}", responses={200: VALUES, 404: PROBLEM})
async def values(
    run: str,
    tensor: str,
    service: ServiceOf,
    *,
    offset: Annotated[int, Query(ge=0, description="Index of the first value.")] = 0,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE, description="Most values on this page.")] = PAGE,
) -> ValuesPage:
    """The values in row-major order, a page at a time; complex numbers as real and imaginary part in turn."""
    facts = await service.views.tensor(run, tensor)
    if facts.data is not None:
        numbers: tuple[Number, ...] = facts.data[offset : offset + limit]
        total = len(facts.data)
    else:
        body = await kept(run, facts, service)
        numbers, total = npy.read(body, offset, limit)
    following = offset + len(numbers)
    return ValuesPage(
        id=facts.id, shape=facts.shape, dtype=facts.dtype, offset=offset, values=list(numbers),
        next=following if numbers and following < total else None,
    )  # fmt: skip


async def kept(run: str, facts: Tensor, service: Service) -> bytes:
    """The .npy file of a tensor. Raises Problem when its values were not kept."""
    elements = npy.element_format(facts.dtype)
    if facts.data is not None and elements is not None:
        return npy.write_numbers(facts.data, facts.shape, elements)
    if facts.stored and (zipped := await service.traces.tensor(run, facts.id)):
        return gzip.decompress(zipped)
    reason = facts.reason or ("too large" if facts.data is None else f"NumPy has no {facts.dtype}")
    raise Problem("values-not-kept", run=run, tensor=facts.id, count=math.prod(facts.shape), reason=reason)
