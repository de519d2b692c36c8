"""What isolation costs: forks with and without the layers side by side, then latency and throughput of the pool."""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from engine import Program, RunRequest
from engine.sandbox.pool import Pool
from engine.sandbox.processes import ENVIRONMENT

CODE = """import torch
x = torch.ones(2, 2, requires_grad=True)
((x + 2) ** 2 * 3).mean().backward()
print(x.grad)
"""
REQUEST = RunRequest(program=Program(code=CODE))
FORKS = 60
CALLS = 60
PAUSE_S = 0.05
SERIES = 200


def main() -> None:
    """Prints the figures."""
    forks = measured_forks()
    kinds = ("bare", "recorded", "isolated", "practised")
    bare, recorded, isolated, practised = (statistics.median(forks[kind]) for kind in kinds)
    row("fork and end, processor time", bare, "ms")
    row("  and record ((x+2)**2*3).mean()", recorded, "ms", f"{recorded / bare:.2f}x the bare fork")
    row("  and close all layers first", isolated, "ms", f"{isolated / recorded:.2f}x without them")
    row("  and prefault before that", practised, "ms", f"{practised / isolated:.2f}x without, only while there is time")
    row("isolation, processor time a run", isolated - recorded, "ms", "budget 10 ms")
    asyncio.run(pools())


async def pools() -> None:
    """The pool with spare children and without."""
    for spares in (2, 0):
        pool = Pool(2, spares=spares)
        await pool.start()
        await asyncio.sleep(0.5)
        calls = sorted([await timed(pool) for _ in range(CALLS)])
        waits = statistics.median(start for _, start in calls)
        print(f"-- {spares} spare children, profile {pool.isolation.profile}")
        row("latency p50", calls[len(calls) // 2][0], "ms", "budget 20 ms, the server included")
        row("latency p95", calls[len(calls) * 95 // 100][0], "ms")
        row("  of which waiting for a sandboxed process, p50", waits, "ms", "budget 10 ms")
        began = time.perf_counter()
        await asyncio.gather(*(pool.run(REQUEST) for _ in range(SERIES)))
        rate = SERIES / (time.perf_counter() - began)
        row("throughput, two at once", rate, "/s", f"{rate / 80:.2f}x the budget of 80")
        await pool.close()


async def timed(pool: Pool) -> tuple[float, float]:
    """Milliseconds of one run, and of its start; a pause before it, as between clicks."""
    await asyncio.sleep(PAUSE_S)
    began = time.perf_counter()
    _, outcome = await pool.run(REQUEST)
    assert outcome.exit_code == 0
    return (time.perf_counter() - began) * 1000, outcome.timings.start_ms


def measured_forks() -> dict[str, list[float]]:
    """Processor milliseconds of forks, from a warm process of their own."""
    done = subprocess.run(
        [sys.executable, __file__, "forks"], env=ENVIRONMENT, stdout=subprocess.PIPE, check=True, timeout=120
    )
    figures: dict[str, list[float]] = json.loads(done.stdout)
    return figures


def fork_all() -> None:
    """Forks of each kind in turn, so that a busy moment of the machine meets all kinds."""
    import gc

    from engine.sandbox.layers import Layers, hold_to
    from engine.worker.runtime import execute
    from engine.worker.runtime.warm import warm

    warm()
    job = execute.make_ready()
    layers = Layers(tempfile.mkdtemp(), 1, namespaces=True)
    gc.collect()
    gc.freeze()

    def isolated() -> None:
        layers.close(0, "cpu")
        hold_to(REQUEST.limits, None)
        execute.run(REQUEST, lambda line: None, job)

    def practised() -> None:
        execute.prefault(job)
        isolated()

    kinds: dict[str, Callable[[], object]] = {
        "bare": lambda: None,
        "recorded": lambda: execute.run(REQUEST, lambda line: None, job),
        "isolated": isolated,
        "practised": practised,
    }
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(FORKS):
        for kind, act in kinds.items():
            times[kind].append(fork(act))
    print(json.dumps(times))


def fork(act: Callable[[], object]) -> float:
    """Processor milliseconds of parent and child for one fork that does `act`."""
    before = time.process_time()
    pid = os.fork()
    if pid == 0:
        sink = os.open("/dev/null", os.O_WRONLY)
        os.dup2(sink, 1)
        act()
        os._exit(0)
    _, status, usage = os.wait4(pid, 0)
    assert status == 0
    return (time.process_time() - before + usage.ru_utime + usage.ru_stime) * 1000


def row(what: str, value: float, unit: str, remark: str = "") -> None:
    """One line of the report."""
    print(f"{what:52} {value:7.1f} {unit:3} {remark}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["forks"]:
        fork_all()
    else:
        main()
