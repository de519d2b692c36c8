"""How the service is doing, for people and for Prometheus."""

import platform

import msgspec
from fastapi import APIRouter
from starlette.responses import Response

from engine.devices import CUDA, kind_of
from server.answers import NEVER
from server.examples import HEALTH, download
from server.service import ServiceOf
from server.wire import Health, IsolationHealth

router = APIRouter(tags=["service"])


@router.get("/api/v1/health", responses={200: HEALTH})
async def health(response: Response, service: ServiceOf) -> Health:
    """Isolation, workers, queue, devices and versions."""
    runner, load = service.runner, service.runs.load
    size = await service.traces.size()
    isolation = runner.isolation
    response.headers["Cache-Control"] = NEVER
    return Health(
        status="ok" if runner.capacity else "down",
        gradgraph=service.versions.engine,
        torch=service.versions.torch,
        python=platform.python_version(),
        devices=runner.devices,
        cuda=any(kind_of(device) is CUDA for device in runner.devices),
        isolation=IsolationHealth(profile=isolation.profile, layers=isolation.layers) if isolation else None,
        workers=runner.capacity,
        running=load.running,
        waiting=load.waiting,
        queue=load.length,
        stored_traces=size.entries,
        stored_bytes=size.size_bytes,
        store=service.traces.trouble or "ok",
        limits=msgspec.to_builtins(service.settings.limits),
        pictures=service.drawing.ready,
    )


@router.get("/metrics", responses={200: download("text/plain", "gradgraph_waiting 0")}, response_class=Response)
async def metrics(service: ServiceOf) -> Response:
    """Counts and times in the text format of Prometheus."""
    size = await service.traces.size()
    body = service.metrics.text(
        {
            "gradgraph_workers": ("Runs performed at the same time.", service.runner.capacity),
            "gradgraph_running": ("Runs being performed.", service.runs.load.running),
            "gradgraph_waiting": ("Runs in the queue.", service.runs.load.waiting),
            "gradgraph_stored_traces": ("Traces in the store.", size.entries),
            "gradgraph_stored_bytes": ("Bytes the stored traces take.", size.size_bytes),
        }
    )
    return Response(body, media_type="text/plain; version=0.0.4; charset=utf-8", headers={"Cache-Control": NEVER})
