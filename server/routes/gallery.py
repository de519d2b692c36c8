"""The lessons."""

from fastapi import APIRouter

from server.examples import LESSON, PROBLEM, shown
from server.problems import Problem
from server.service import ServiceOf
from server.wire import Lesson

router = APIRouter(prefix="/api/v1/gallery", tags=["gallery"])


@router.get("", response_model_exclude_none=True, responses={200: shown([LESSON])})
async def lessons(service: ServiceOf) -> list[Lesson]:
    """All gallery programs, in the order of the menu."""
    return list(service.lessons.values())


@router.get("/{name}", response_model_exclude_none=True, responses={200: shown(LESSON), 404: PROBLEM})
async def lesson(name: str, service: ServiceOf) -> Lesson:
    """One gallery program."""
    if name not in service.lessons:
        raise Problem("no-such-lesson", name=name)
    return service.lessons[name]
