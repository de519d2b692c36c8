"""What one run costs each part of the service, and a burst on this machine beside its simulation: `tools/scaling.py` is
fed with the first and checked by the second.

Processor time is what counts here, read from the kernel for each process: it is the same on a busy machine."""

import os
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from tests.bench.bench_http import MEAN, run, serving
from tests.bench.bench_recording import HEAD, MODELS
from tools.scaling import BURST, EMBEDDED, Burst, Way, simulated_burst

SERIES = 60
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Prints the figures and the comparison."""
    bodies: dict[str, Mapping[str, object]] = {"a": MEAN}
    for name in ("b  3-layer MLP", "c  LeNet"):
        build, step, _ = MODELS[name]
        bodies[name[0]] = {"code": HEAD + build + step}
    with serving() as http:
        server = server_of(http)
        print(f"{'':12}{'server ms':>12}{'worker ms':>12}{'alone ms':>12}{'KB kept':>10}")
        for name, body in bodies.items():
            runs(http, body, range(5))
            row(name, server, http, body, range(100, 100 + SERIES))
            row(f"{name}, again", server, http, body, range(100, 100 + SERIES))
        burst([http], BURST.runs, EMBEDDED)


def row(name: str, server: int, http: httpx.Client, body: Mapping[str, object], seeds: range) -> None:
    """One line: processor milliseconds a run takes of the server and of the workers, one run after the other."""
    before = spent(server)
    times, sizes = runs(http, body, seeds)
    after = spent(server)
    own, workers = ((after[part] - before[part]) * 1000 / len(seeds) for part in ("server", "workers"))
    kept = statistics.mean(sizes) / 1000
    print(f"{name:12}{own:12.2f}{workers:12.2f}{statistics.median(times):12.2f}{kept:10.1f}", flush=True)


def runs(http: httpx.Client, body: Mapping[str, object], seeds: range) -> tuple[list[float], list[int]]:
    """Milliseconds and bytes on the wire of each run."""
    times, sizes = [], []
    for seed in seeds:
        began = time.perf_counter()
        answer = http.post("/api/v1/runs", json={**body, "seed": seed})
        times.append((time.perf_counter() - began) * 1000)
        answer.raise_for_status()
        sizes.append(int(answer.headers["content-length"]))
    return times, sizes


def burst(clients: Sequence[httpx.Client], count: int, way: Way) -> None:
    """Runs that nobody asked for before, all at once, measured and simulated with the cores that others left."""

    def one(seed: int) -> float:
        began = time.perf_counter()
        run(clients[seed % len(clients)], MEAN, seed)
        return time.perf_counter() - began

    others, client, began = machine_s() - ours_s(), time.process_time(), time.perf_counter()
    with ThreadPoolExecutor(count) as learners:
        answered = sorted(learners.map(one, range(50_000, 50_000 + count)))
    took = time.perf_counter() - began
    elsewhere = max(0.0, machine_s() - ours_s() - others) / took
    cores = (os.cpu_count() or 1) - elsewhere
    measured = Burst(
        runs=count, cores=round(cores, 2), all_s=took, p50_s=answered[count // 2], p95_s=answered[int(count * 0.95)]
    )
    print(f"client {(time.process_time() - client) * 1000 / count:.1f} ms a request")
    print(f"measured   {measured}\nsimulated  {simulated_burst(count, measured.cores, way)}")


def server_of(http: httpx.Client) -> int:
    """The process behind a client of `serving`: this process's only child that serves."""
    return next(pid for pid, parent, _ in processes() if parent == os.getpid())


def spent(server: int) -> dict[str, float]:
    """Processor seconds of the server, and of all that it started, the ended ones among them."""
    own, ended = next(times for pid, _, times in processes() if pid == server)
    return {"server": own, "workers": ended + below_s(server)}


def ours_s() -> float:
    """Processor seconds of this process and of all that it started, the ended ones among them."""
    return time.process_time() + sum(os.times()[2:4]) + below_s(os.getpid())


def below_s(root: int) -> float:
    """Processor seconds of all processes below one."""
    children, times = defaultdict(list), {}
    for pid, parent, seconds in processes():
        children[parent].append(pid)
        times[pid] = sum(seconds)
    pending = list(children[root])
    for pid in pending:
        pending += children[pid]
    return sum(times[pid] for pid in pending)


def processes() -> Iterator[tuple[int, int, tuple[float, float]]]:
    """Id, parent, and processor seconds of each process: its own, and those of its children that have ended."""
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            fields = (folder / "stat").read_text().rpartition(") ")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        own, ended = (sum(map(int, fields[at : at + 2])) / TICKS for at in (11, 13))
        yield int(folder.name), int(fields[1]), (own, ended)


def machine_s() -> float:
    """Processor seconds of everything on this machine."""
    user, nice, system, _idle, _waiting, interrupts, soft = map(int, Path("/proc/stat").read_text().split()[1:8])
    return (user + nice + system + interrupts + soft) / TICKS


if __name__ == "__main__":
    main()
