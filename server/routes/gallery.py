"""The lessons."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from server.answers import json_answer
from server.examples import LESSON, PROBLEM, shown
from server.problems import Problem
from server.service import ServiceOf
from server.wire import Lesson

router = APIRouter(prefix="/api/v1/gallery", tags=["gallery"])


@router.get("", response_model=list[Lesson], responses={200: shown([LESSON])})
async def lessons(request: Request, service: ServiceOf) -> Response:
    """All gallery programs, in the order of the menu."""
    return await json_answer(request, list(service.lessons.values()))


@router.get("/{name}", response_model=Lesson, responses={200: shown(LESSON), 404: PROBLEM})
async def lesson(request: Request, name: str, service: ServiceOf) -> Response:
    """One gallery program."""
    if name not in service.lessons:
        raise Problem("no-such-lesson", name=name)
    return await json_answer(request, service.lessons[name])
