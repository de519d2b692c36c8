"""Everything a route needs, put together once."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from engine.keys import Versions
from server.drawing import Drawing
from server.fixes import FixTrials
from server.frontend_files import FrontendFiles
from server.metrics import Metrics
from server.problems import Language, language_of
from server.queue import Queue
from server.rooms import Rooms
from server.runner import Runner
from server.runs import Runs
from server.settings import Settings
from server.snapshots import Snapshots
from server.traces import Traces
from server.views import Views
from server.wire import Lesson


@dataclass(frozen=True)
class Service:
    """The parts of one server."""

    settings: Settings
    versions: Versions
    metrics: Metrics
    runner: Runner
    traces: Traces
    snapshots: Snapshots
    queue: Queue
    """The queue of this process; in a cluster it is in use on one node."""
    runs: Runs
    views: Views
    fixes: FixTrials
    rooms: Rooms
    drawing: Drawing
    frontend: FrontendFiles
    lessons: dict[str, Lesson]


# FastAPI would send plain functions to a thread and back, half a millisecond each


async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


async def _language(request: Request) -> Language:
    return language_of(request.headers.get("accept-language", ""))


ServiceOf = Annotated[Service, Depends(_service)]
LanguageOf = Annotated[Language, Depends(_language)]
