"""Rooms: a teacher opens one, learners answer what is asked in it, both hear what happens."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Annotated

import msgspec
from fastapi import APIRouter, Header
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from server.answers import NEVER
from server.examples import PROBLEM, ROOM, ROOM_EVENTS, ROOM_MADE, ROOMS, Documented
from server.problems import Problem
from server.rooms import Room, Rooms
from server.routes.pages import html, with_session
from server.routes.runs import HEARTBEAT_S, client_of, finished_trace, sent
from server.service import LanguageOf, ServiceOf
from server.snapshot_page import refused
from server.wire import AnswerBody, RoomAsks, RoomBody, RoomMade, RoomNow

router = APIRouter(tags=["rooms"])

TELL_S = 0.25
"""Least time between two words to one listener: a class that answers at once is told of in few."""
REFUSED: dict[int | str, Documented] = dict.fromkeys((400, 403, 404, 409, 422, 429, 503), PROBLEM)
TokenOf = Annotated[str, Header(alias="Owner-Token", description="The teacher's, as the opening told it.")]


@router.post("/api/v1/rooms", status_code=201, responses={201: ROOM_MADE, **REFUSED})
async def open_room(
    request: Request, response: Response, body: Annotated[RoomBody, ROOMS], service: ServiceOf
) -> RoomMade:
    """Open a room for a finished run, or a snapshot, whose program asks questions."""
    trace = await service.views.trace(await finished_trace(service, body.run))
    questions = sum(not question.problem for question in trace.questions)
    if not questions:
        raise Problem("nothing-asked", run=body.run)
    code, token = await service.rooms.open(body.run, body.lesson, questions, client_of(request).address)
    response.headers.update({"Location": f"/r/{code}", "Cache-Control": NEVER})
    return RoomMade(code=code, url=f"/r/{code}", token=token)


@router.get("/api/v1/rooms/{code}", responses={200: ROOM, 404: PROBLEM, 503: PROBLEM})
async def now(code: str, response: Response, service: ServiceOf) -> RoomNow:
    """What a room is about, and which of its questions is asked."""
    state = (await service.rooms.find(code)).told("")
    assert state is not None  # as it was found
    response.headers["Cache-Control"] = NEVER
    return RoomNow(run=state.run, lesson=state.lesson, question=state.question, is_revealed=state.is_revealed)


@router.put("/api/v1/rooms/{code}/question", status_code=204, responses=REFUSED)
async def ask(code: str, body: RoomAsks, service: ServiceOf, owner_token: TokenOf = "") -> None:
    """Ask a question, or show its answer: for the teacher. Asked anew, it is answered anew."""
    await service.rooms.ask(code, owner_token, body.question, body.is_revealed)


@router.put("/api/v1/rooms/{code}/answer", status_code=204, responses=REFUSED)
async def answer(request: Request, code: str, body: AnswerBody, service: ServiceOf) -> None:
    """Answer the question that is asked; another answer of the same browser takes the place of the first."""
    await service.rooms.answer(code, session_of(request), body.question, body.answer)


@router.delete("/api/v1/rooms/{code}", status_code=204, responses=REFUSED)
async def close(code: str, service: ServiceOf, owner_token: TokenOf = "") -> None:
    """Close a room, and forget what was said in it: for the teacher."""
    room, _ = await service.rooms.owned(code, owner_token)
    await service.rooms.close(room.code)


@router.get("/api/v1/rooms/{code}/events", response_class=Response, responses={200: ROOM_EVENTS, **REFUSED})
async def events(request: Request, code: str, service: ServiceOf, owner_token: TokenOf = "") -> StreamingResponse:
    """How the room stands, whole and again when that changes, as Server-Sent Events: `room`, and `closed` at the end.
    With the teacher's token, how the answers spread too; without, it lets a learner in."""
    rooms = service.rooms
    room = await rooms.find(code)
    told: AsyncIterator[bytes]
    if owner_token:
        await rooms.owned(code, owner_token)
        told = tell(rooms, room)
    else:
        session = session_of(request)
        await rooms.join(room, session)
        told = tell_learner(rooms, room, session)
    headers = {"Cache-Control": NEVER, "X-Accel-Buffering": "no"}
    return StreamingResponse(told, media_type="text/event-stream", headers=headers)


@router.get("/r/{code}", include_in_schema=False)
async def page(request: Request, code: str, service: ServiceOf, language: LanguageOf) -> Response:
    """The page in a room."""
    try:
        await service.rooms.find(code)
    except Problem as problem:
        return HTMLResponse(refused(problem, language), problem.status, {"Cache-Control": NEVER})
    return with_session(request, await html(request, service, "index.html"))


async def tell_learner(rooms: Rooms, room: Room, session: str) -> AsyncIterator[bytes]:
    """The same for a learner, who is in the room as long as this lasts."""
    with rooms.listening(room, session):
        async with contextlib.aclosing(tell(rooms, room, session)) as told:
            async for word in told:
                yield word


async def tell(rooms: Rooms, room: Room, session: str | None = None) -> AsyncGenerator[bytes, None]:
    """How a room stands, to its teacher or a learner, each time that changes, and a comment now and then to keep the
    line open."""
    last: bytes | None = None
    while not rooms.is_ending:
        change = room.changed if session is None else room.moved
        if (state := room.told(session)) is None:
            yield sent(0, "closed", {})
            return
        word = sent(0, "room", msgspec.to_builtins(state))
        yield b": still here\n\n" if word == last else word
        last = word
        await asyncio.sleep(TELL_S)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(change.wait(), HEARTBEAT_S)
        with contextlib.suppress(Problem):  # what cannot be written now is written the next time
            await (rooms.stay(room) if session is None else rooms.join(room, session))


def session_of(request: Request) -> str:
    """Which learner asks. Raises Problem for one without the page's cookie or a name of its own."""
    if (session := client_of(request).session) is None:
        raise Problem("nameless")
    return session
