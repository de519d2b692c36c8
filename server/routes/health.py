"""How the service is doing, for people and for Prometheus."""

import platform

import msgspec
from fastapi import APIRouter
from starlette.responses import Response

from server.answers import NEVER
from server.examples import HEALTH, download
from server.runs import ClusterLoad
from server.service import ServiceOf
from server.wire import ClusterHealth, Health, IsolationHealth, WorkerHealth

router = APIRouter(tags=["service"])


@router.get("/api/v1/health", responses={200: HEALTH})
async def health(response: Response, service: ServiceOf) -> Health:
    """Isolation, workers, queue, devices and versions."""
    runner, load = service.runner, service.runs.load
    size = await service.traces.size()
    isolation, cluster = runner.isolation, service.runs.cluster
    response.headers["Cache-Control"] = NEVER
    return Health(
        status="ok" if runner.capacity and (cluster is None or cluster.leader) else "down",
        gradgraph=service.versions.engine,
        torch=service.versions.torch,
        python=platform.python_version(),
        devices=runner.devices,
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
        oldest_s=round(load.oldest_s, 3),
        cluster=_nodes(cluster),
    )


def _nodes(cluster: ClusterLoad | None) -> ClusterHealth | None:
    """The nodes of a cluster, as they are told."""
    if cluster is None:
        return None
    workers = tuple(
        WorkerHealth(name=each.name, pool=each.pool, slots=each.slots, running=each.running) for each in cluster.workers
    )
    return ClusterHealth(leader=cluster.leader, redelivered=cluster.redelivered, workers=workers)


@router.get("/metrics", responses={200: download("text/plain", "gradgraph_waiting 0")}, response_class=Response)
async def metrics(service: ServiceOf) -> Response:
    """Counts and times in the text format of Prometheus."""
    size, snapshots = await service.traces.size(), await service.snapshots.size()
    load = service.runs.load
    gauges: dict[str, tuple[str, float]] = {
        "gradgraph_workers": ("Runs performed at the same time.", service.runner.capacity),
        "gradgraph_running": ("Runs being performed.", load.running),
        "gradgraph_waiting": ("Runs in the queue.", load.waiting),
        "gradgraph_oldest_seconds": ("How long the run has waited that came first.", load.oldest_s),
        "gradgraph_stored_traces": ("Traces in the store.", size.entries),
        "gradgraph_stored_bytes": ("Bytes the stored traces take.", size.size_bytes),
        "gradgraph_snapshots": ("Snapshots in the store.", snapshots.entries),
        "gradgraph_snapshot_bytes": ("Bytes the snapshots take.", snapshots.size_bytes),
    }
    if cluster := service.runs.cluster:
        gauges |= {
            "gradgraph_worker_nodes": ("Worker nodes that take runs.", len(cluster.workers)),
            "gradgraph_redelivered": ("Runs given to another worker since this leader leads.", cluster.redelivered),
            "gradgraph_leaders": ("Web nodes that lead; 0 while none is known.", cluster.leader is not None),
        }
        for pool in sorted({worker.pool for worker in cluster.workers}):
            slots = sum(worker.slots for worker in cluster.workers if worker.pool == pool)
            gauges[f"gradgraph_{pool}_slots"] = (f"Runs performed at the same time in the pool {pool}.", slots)
    body = service.metrics.text(gauges)
    return Response(body, media_type="text/plain; version=0.0.4; charset=utf-8", headers={"Cache-Control": NEVER})
