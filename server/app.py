"""The server: its parts put together, its life from start to end."""

import asyncio
import contextlib
import gc
import logging
import secrets
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response

from engine.keys import versions
from engine.limits import MIB
from server import openapi
from server.answers import COMPRESSED_FROM_BYTES, GZIP_LEVEL, IN_A_THREAD_FROM_BYTES
from server.conditional import ConditionalGet
from server.drawing import Drawing
from server.fixes import FixTrials
from server.frontend_files import FrontendFiles
from server.http_policy import HttpPolicy
from server.lessons import lessons, request_of
from server.metrics import Metrics
from server.problems import MEDIA_TYPE, Problem, language_of
from server.queue import Client, Queue
from server.rooms import Board, OwnBoard, Rooms
from server.routes import (
    comparisons,
    docs,
    engine_steps,
    fixes,
    gallery,
    graphs,
    health,
    oembed,
    pages,
    rooms,
    rules,
    runs,
    snapshots,
    tensors,
)
from server.runner import Runner
from server.runs import LocalRuns, Runs
from server.service import Service
from server.settings import Settings
from server.snapshots import Snapshots
from server.store import StoreDown
from server.store.database import database
from server.store.sql_store import SqlStore
from server.traces import OtherFormat, Traces
from server.views import Views

IDLE_S = 0.2
STORE_RETRY_S = 5

log = logging.getLogger("gradgraph")


def create_app(settings: Settings, *, ready_first: bool = True) -> FastAPI:
    """The application; its parts come to life when it starts.

    Without `ready_first` it answers while PyTorch is still being imported: the page is there at once, and runs wait.
    """

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        service = build(settings, metrics)
        app.state.service = service
        starting = asyncio.create_task(service.runs.start())
        background = [starting, asyncio.create_task(service.rooms.sweep())]
        try:
            if ready_first:
                await starting
            else:
                starting.add_done_callback(end_if_it_failed)
            if settings.warm_gallery:
                background.append(asyncio.create_task(warm_gallery(service, starting)))
            gc.collect()
            gc.freeze()  # else a full collection walks all of FastAPI's objects: 30 ms in which nobody is answered
            yield
        finally:
            for task in background:
                task.cancel()
            await asyncio.gather(*background, return_exceptions=True)
            await service.fixes.close()
            await service.runs.close()
            await service.views.close()
            await service.drawing.close()
            await service.traces.close()

    metrics = Metrics()
    app = FastAPI(
        title="Gradgraph",
        version="1",
        lifespan=life,
        docs_url=None,  # FastAPI's own pages load their scripts from another host
        redoc_url=None,
        redirect_slashes=False,
    )
    for routes in (
        runs, graphs, engine_steps, comparisons, fixes, tensors, snapshots, rooms, oembed, gallery, rules, health, docs,
        pages,
    ):  # fmt: skip
        app.include_router(routes.router)
    app.add_middleware(ConditionalGet)
    app.add_middleware(
        GZipMiddleware,
        minimum_size=COMPRESSED_FROM_BYTES,
        compresslevel=GZIP_LEVEL,
        thread_minimum_size=IN_A_THREAD_FROM_BYTES,
    )
    app.add_middleware(HttpPolicy, metrics=metrics, body_bytes=settings.body_bytes, refuse=refuse)
    app.add_exception_handler(Problem, refuse)
    app.add_exception_handler(StoreDown, refuse)
    app.add_exception_handler(RequestValidationError, refuse)
    app.add_exception_handler(HTTPException, refuse)
    app.add_exception_handler(Exception, refuse)
    app.openapi = lambda: openapi.document(app)  # type: ignore[method-assign]
    return app


def build(settings: Settings, metrics: Metrics) -> Service:
    """The parts of one server, not started."""
    tables = database(settings.store, settings.data_dir)
    store = SqlStore(tables, settings.store_bytes, settings.snapshots_mb * MIB)
    snapshots = Snapshots(store, settings)
    traces = Traces(store, settings.memory_cache_bytes, snapshots)
    drawing = Drawing()
    runner, queue, runs, board = performing(settings, traces, metrics)
    views = Views(traces.get_anywhere, drawing, settings.graph_boxes)
    return Service(
        settings=settings,
        versions=versions(),
        metrics=metrics,
        runner=runner,
        traces=traces,
        snapshots=snapshots,
        queue=queue,
        runs=runs,
        views=views,
        fixes=FixTrials(runs, traces, views, settings, versions()),
        rooms=Rooms(board, settings),
        drawing=drawing,
        frontend=FrontendFiles(),
        lessons=lessons(settings.limits, versions()),
    )


def performing(settings: Settings, traces: Traces, metrics: Metrics) -> tuple[Runner, Queue, Runs, Board]:
    """What performs runs and knows of rooms: this machine, or the cluster that the settings name."""
    if settings.runner:
        from server.cluster.node import WebNode

        node = WebNode(settings, traces, metrics, versions())
        return node.runner, node.queue, node, node.board
    from server.local_runner import LocalRunner

    runner = LocalRunner(settings.workers, settings.slow_workers, settings.memory_bytes, settings.cuda_share)
    queue = Queue(runner, traces, metrics, settings)
    return runner, queue, LocalRuns(queue, runner, settings), OwnBoard()


def end_if_it_failed(starting: asyncio.Task[None]) -> None:
    """A server that can run nothing is not to go on."""
    if not starting.cancelled() and (why := starting.exception()):
        log.critical("the runner cannot start", exc_info=why)
        signal.raise_signal(signal.SIGTERM)


async def warm_gallery(service: Service, starting: Awaitable[None]) -> None:
    """Run the gallery programs whose traces are missing, while nobody else needs the workers; embeds play them."""
    await starting
    for lesson in service.lessons.values():
        while service.runs.load.running or service.runs.load.waiting:
            await asyncio.sleep(IDLE_S)
        with contextlib.suppress(StoreDown):
            with contextlib.suppress(OtherFormat):
                if await service.traces.get(lesson.run) is not None:
                    continue
            request = request_of(lesson.code, service.settings.limits)
            live = await service.runs.enter(lesson.run, request, Client("gallery", None), pinned=True)
            await asyncio.gather(live.wait(), return_exceptions=True)


async def refuse(request: Request, why: Exception) -> Response:
    """Any exception as a problem document in the reader's language."""
    problem = problem_of(request, why)
    if problem.key == "bug":
        log.error("incident %s at %s", problem.values["incident"], request.url.path, exc_info=why)
    headers = {"Cache-Control": "no-store", "Vary": "Accept-Language"}
    if problem.retry_after_s is not None:
        headers["Retry-After"] = str(problem.retry_after_s)
    language = language_of(request.headers.get("accept-language", ""))
    headers["Content-Language"] = language
    return Response(problem.body(language, request.url.path), problem.status, headers, MEDIA_TYPE)


def problem_of(request: Request, why: Exception) -> Problem:
    """The row of the table for an exception."""
    if isinstance(why, Problem):
        return why
    if isinstance(why, RequestValidationError):
        return ill_formed(why)
    if isinstance(why, StoreDown):
        return Problem("store-down", retry_after_s=STORE_RETRY_S)
    by_status: dict[int, Callable[[], Problem]] = {
        400: lambda: Problem("bad-json", reason=str(getattr(why, "detail", ""))),
        404: lambda: Problem("no-such-page", path=request.url.path),
        405: lambda: Problem("method-not-allowed", path=request.url.path, method=request.method),
        413: lambda: Problem("body-too-large", limit=request.app.state.service.settings.body_bytes),
    }
    known = by_status.get(why.status_code) if isinstance(why, HTTPException) else None
    return known() if known else Problem("bug", incident=secrets.token_hex(4))


def ill_formed(why: RequestValidationError) -> Problem:
    """The first thing that is wrong with a request."""
    first = why.errors()[0]
    if first["type"] == "json_invalid":
        return Problem("bad-json", reason=f"{first['ctx']['error']} at character {first['loc'][-1]}")
    field = ".".join(map(str, first["loc"]))
    return Problem("bad-request", field=field, reason=str(first["msg"]).removeprefix("Value error, "))
