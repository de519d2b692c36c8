"""Runs: take a program in, give its trace out, tell what happens meanwhile."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Annotated

import msgspec
from fastapi import APIRouter, Header
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from engine.devices import AUTO, first_of_its_kind
from engine.keys import run_id
from engine.program.expression import BadInput, program_of
from engine.request import RunRequest
from engine.trace import Program
from server.answers import FOREVER, JSON, NEVER, ONE_DAY, SHOWN, accepts_shown, trace_answer
from server.examples import ACCEPTED, PLACE, PROBLEM, RUNS, TRACE, TRACE_OR_SHOWN, Documented, stream
from server.problems import Problem
from server.queue import Client
from server.routes.graphs import ChoiceOf
from server.routes.pages import SESSION
from server.runner import Finished, RunEvent
from server.runs import Live
from server.service import Service, ServiceOf
from server.snapshots import is_snapshot, no_such
from server.store import Stored, StoreDown
from server.traces import OtherFormat
from server.views import Choice
from server.wire import Accepted, QueuePlace, RunBody, limits_within

router = APIRouter(prefix="/api/v1/runs", tags=["runs"])

HEARTBEAT_S = 15.0
WAITING_S = 1.0
"""Seconds between two words on where a waiting run stands."""
ROOT = "/api/v1/runs/"


EVENTS = stream('event: output\ndata: {"run": "…", "stream": "stdout", "text": "1.0\\n"}\n\n')
REFUSED: dict[int | str, Documented] = dict.fromkeys((400, 413, 422, 429, 503), PROBLEM)


@router.post("", responses={200: TRACE_OR_SHOWN, 202: {"model": Accepted, **ACCEPTED}, **REFUSED})
async def run(
    request: Request,
    body: Annotated[RunBody, RUNS],
    choice: ChoiceOf,
    service: ServiceOf,
    prefer: Annotated[str, Header(description="`respond-async` answers 202 at once.")] = "",
    cache_control: Annotated[str, Header(description="`no-cache` runs it again although it is stored.")] = "",
) -> Response:
    """Run a program and answer its trace. A program that fails is a 200 whose trace says so.

    With `Accept: application/vnd.gradgraph.shown+json, application/json` its graph comes in the same answer, by the
    choice in the query, unless the trace is large or there is no such graph: then the trace comes alone."""
    asked = request_of(body, service)
    run = run_id(asked, service.versions)
    detached = "respond-async" in prefer.lower()
    stored = None
    if "no-cache" not in cache_control.lower():
        with contextlib.suppress(StoreDown, OtherFormat):  # then it is run
            stored = await service.traces.get(run)
    if stored is not None and stored.kept:
        service.metrics.store["hit"] += 1
        return accepted(run) if detached else await shown(request, run, service, stored, choice, "gradgraph; hit")
    service.metrics.store["miss"] += 1
    live = await service.runs.enter(run, asked, client_of(request), detached=detached)
    if detached:
        return accepted(run)
    stored = await unless_gone(request, live)
    if stored is None:
        return Response(status_code=499)
    return await shown(request, run, service, stored, choice, "gradgraph; fwd=miss")


@router.get("/mine", response_model=QueuePlace, responses={200: PLACE, 204: {"description": "None waits or runs."}})
async def mine(request: Request, response: Response, service: ServiceOf) -> QueuePlace | Response:
    """Where the newest run of this browser stands in the queue; nothing when none waits or is being performed."""
    live = await service.runs.newest_of(client_of(request).session)
    if live is None:
        return Response(status_code=204, headers={"Cache-Control": NEVER})
    response.headers["Cache-Control"] = NEVER
    return QueuePlace(
        run=live.id,
        state=live.state,
        ahead=live.ahead,
        expected_s=live.expected_s,
        **msgspec.structs.asdict(live.progress),
    )


@router.get("/{run}", responses={200: TRACE, 304: {"description": "You have it already."}, 404: PROBLEM, 409: PROBLEM})
async def trace(request: Request, run: str, service: ServiceOf) -> Response:
    """The trace of a finished run."""
    stored = await finished_trace(service, run)
    kept = ONE_DAY if is_snapshot(run) else FOREVER
    return await trace_answer(request, stored, kept if stored.kept else NEVER)


@router.delete(
    "/{run}",
    responses={
        200: TRACE,
        204: {"description": "It had not begun, or others wait for it too."},
        403: PROBLEM,
        404: PROBLEM,
    },
)
async def cancel(request: Request, run: str, service: ServiceOf) -> Response:
    """End a run, and answer what was recorded so far. One that others asked for too goes on for them."""
    live = await service.runs.find(run)
    if live is None:
        raise no_such(run)
    if not await live.stop(client_of(request)):
        return Response(status_code=204, headers={"Cache-Control": NEVER})
    return await finished(request, run, await live.wait(), "gradgraph; fwd=request")


@router.get("/{run}/events", response_class=Response, responses={200: EVENTS, 404: PROBLEM})
async def events(run: str, service: ServiceOf, last_event_id: Annotated[int, Header(ge=0)] = 0) -> StreamingResponse:
    """What happens to a run, as Server-Sent Events: `waiting`, `started`, `progress`, `output`, then `finished`."""
    live = await service.runs.find(run)
    if live is None and await service.traces.get_anywhere(run) is None:
        raise no_such(run)
    told = tell(live, last_event_id) if live else over(run)
    headers = {"Cache-Control": NEVER, "X-Accel-Buffering": "no"}
    return StreamingResponse(told, media_type="text/event-stream", headers=headers)


async def finished_trace(service: Service, run: str) -> Stored:
    """The trace of a finished run, or of a snapshot. Raises Problem."""
    stored = await service.traces.get(run)
    if stored is not None and stored.kept:
        return stored
    if live := await service.runs.find(run):
        raise Problem("run-not-finished", retry_after_s=1, run=run, state=live.state, events=f"{ROOT}{run}/events")
    if stored is None and (stored := await service.traces.get_anywhere(run)) is None:
        raise no_such(run)
    return stored


def request_of(body: RunBody, service: Service) -> RunRequest:
    """What the engine is asked to run. Raises Problem."""
    settings = service.settings
    limits = limits_within(body.limits, settings.limits)
    if isinstance(limits, tuple):
        name, value, bound = limits
        raise Problem("limit-raised", name=name, value=value, limit=bound)
    check_device(body.device, service.runner.devices)
    try:
        checks = (body.check,) if isinstance(body.check, str) else tuple(sorted(set(body.check)))
        program = program_in(body, settings.code_bytes)
        return RunRequest(program=program, limits=limits, checks=checks)
    except UnicodeEncodeError:
        reason = "half of a surrogate pair is no character"
        raise Problem("bad-request", field="body", reason=reason) from None
    except BadInput as wrong:
        raise Problem("bad-input", reason=str(wrong)) from None


def program_in(body: RunBody, max_bytes: int) -> Program:
    """The program a body asks for. Raises Problem, BadInput, and UnicodeEncodeError for what is no Unicode."""
    what, given = ("code", body.code) if body.code is not None else ("expression", body.expression or "")
    if (size := len(given.encode())) > max_bytes:
        raise Problem("too-large", what=what, size=size, limit=max_bytes)
    if what == "code":
        # a byte order mark is no part of the program; Python drops it from files too
        return Program(code=given.removeprefix("\ufeff"), seed=body.seed, device=body.device)
    inputs = {name: msgspec.Raw(msgspec.json.encode(value)) for name, value in body.inputs.items()}
    return program_of(given, inputs, seed=body.seed, device=body.device)


def check_device(device: str, devices: tuple[str, ...]) -> None:
    """Refuse a device this machine does not have."""
    if device != AUTO and first_of_its_kind(device) not in devices:
        raise Problem("no-such-device", device=device, devices=", ".join(devices))


def client_of(request: Request) -> Client:
    """Who asks. A frame on another site has no cookie: it names itself."""
    session = request.headers.get("gradgraph-session") or request.cookies.get(SESSION)
    return Client(request.client.host if request.client else "local", session)


async def unless_gone(request: Request, live: Live) -> Stored | None:
    """The finished run; None when the client went away first, which cancels it unless others wait for it too."""
    answer = asyncio.ensure_future(live.wait())
    gone = asyncio.ensure_future(until_gone(request))
    try:
        await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
        return await answer if answer.done() else None
    finally:
        gone.cancel()
        answer.cancel()


async def until_gone(request: Request) -> None:
    """Returns when the client has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def accepted(run: str) -> Response:
    """202: where the trace will be."""
    body = Accepted(id=run, location=ROOT + run, events=f"{ROOT}{run}/events")
    headers = {"Location": ROOT + run, "Preference-Applied": "respond-async", "Cache-Control": NEVER}
    return Response(body.model_dump_json(), 202, headers, JSON)


async def shown(request: Request, run: str, service: Service, stored: Stored, choice: Choice, status: str) -> Response:
    """200: the trace, with its graph for who takes both in one."""
    if accepts_shown(request) and (both := await service.views.shown(stored, choice)):
        return Response(both, media_type=SHOWN, headers=headers_of(run, status) | {"Cache-Control": NEVER})
    return await finished(request, run, stored, status)


async def finished(request: Request, run: str, stored: Stored, status: str) -> Response:
    """200: the trace, and where it stays."""
    return await trace_answer(request, stored, NEVER, headers_of(run, status))


def headers_of(run: str, status: str) -> dict[str, str]:
    """Where the trace stays, and whether it was there."""
    return {"Content-Location": ROOT + run, "Cache-Status": status}


async def tell(live: Live, after: int) -> AsyncIterator[bytes]:
    """A live run's events in the format of Server-Sent Events, with a comment now and then to keep the line open."""
    run = live.id
    if live.state == "waiting":
        yield waiting(live)
    told = live.follow(after)
    pending = asyncio.ensure_future(anext(told, None))
    try:
        while not pending.done() or pending.result():
            patience = WAITING_S if live.state == "waiting" else HEARTBEAT_S
            if not (await asyncio.wait({pending}, timeout=patience))[0]:
                yield waiting(live) if live.state == "waiting" else b": still here\n\n"
            elif item := pending.result():
                yield sent_event(run, *item)
                pending = asyncio.ensure_future(anext(told, None))
    finally:
        pending.cancel()
    if problem := live.refusal:
        yield sent(0, "refused", {"run": run, "problem": problem.key if isinstance(problem, Problem) else "bug"})


def waiting(live: Live) -> bytes:
    """Where a run stands in the queue."""
    return sent(0, "waiting", {"run": live.id, "ahead": live.ahead, "expected_s": live.expected_s})


async def over(run: str) -> AsyncIterator[bytes]:
    """The events of a run that is long over."""
    yield sent(0, "finished", {"run": run, "location": ROOT + run})


def sent_event(run: str, number: int, event: RunEvent) -> bytes:
    """One numbered event."""
    if isinstance(event, Finished):
        return sent(number, "finished", {"run": run, "location": ROOT + run, "status": event.status})
    data = msgspec.to_builtins(event)
    return sent(number, data.pop("type"), {"run": run, **data})


def sent(number: int, kind: str, data: Mapping[str, object]) -> bytes:
    """One event as text; number 0 stands for none."""
    label = f"id: {number}\n" if number else ""
    return f"{label}event: {kind}\ndata: {msgspec.json.encode(data).decode()}\n\n".encode()
