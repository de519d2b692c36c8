"""What one run costs each part of the service, and a burst on this machine beside its simulation: `tools/scaling.py` is
fed with the first and checked by the second.

Processor time is what counts here, read from the kernel for each process: it is the same on a busy machine."""

import itertools
import os
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from tests.bench.bench_http import MEAN, run, serving
from tests.bench.bench_recording import HEAD, MODELS
from tools.scaling import BURST, Burst, Way, embedded_way, simulated_burst

SERIES = 60
CALLERS = 3
"""So that there always is something to do: of a machine that waits between runs each one takes half as much again."""
_SEEDS = itertools.count(50)
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Prints the figures and the comparison."""
    bodies: dict[str, Mapping[str, object]] = {"a": MEAN}
    for name in ("b  3-layer MLP", "c  LeNet"):
        build, step, _ = MODELS[name]
        bodies[name[0]] = {"code": HEAD + build + step}
    with serving() as http:
        server = server_of(http)
        print(f"{'':12}{'server ms':>12}{'worker ms':>12}{'clock ms':>12}{'KB kept':>10}")
        for name, body in bodies.items():
            runs(http, body, range(5))
            row(name, server, http, body, range(100, 100 + SERIES))
            row(f"{name}, again", server, http, body, range(100, 100 + SERIES))

        def costs(series: int) -> list[float]:
            client, before = time.process_time(), spent(server)
            runs(http, MEAN, new_seeds(series))
            taken = [time.process_time() - client, *(spent(server)[part] - before[part] for part in before)]
            return [each * 1000 / series for each in taken]

        burst([http], BURST.runs, costs, embedded_way)


def new_seeds(count: int) -> range:
    """Seeds that no run had before."""
    begin = next(_SEEDS) * 1000
    return range(begin, begin + count)


def row(name: str, server: int, http: httpx.Client, body: Mapping[str, object], seeds: range) -> None:
    """One line: processor milliseconds a run takes of the server and of the workers."""
    before = spent(server)
    times, sizes = zip(*runs(http, body, seeds), strict=True)
    after = spent(server)
    own, workers = ((after[part] - before[part]) * 1000 / len(seeds) for part in ("server", "workers"))
    kept = statistics.mean(sizes) / 1000
    print(f"{name:12}{own:12.2f}{workers:12.2f}{statistics.median(times):12.2f}{kept:10.1f}", flush=True)


def runs(http: httpx.Client, body: Mapping[str, object], seeds: range) -> list[tuple[float, int]]:
    """Milliseconds and bytes on the wire of each run, a few at once."""

    def one(seed: int) -> tuple[float, int]:
        began = time.perf_counter()
        answer = http.post("/api/v1/runs", json={**body, "seed": seed})
        answer.raise_for_status()
        return (time.perf_counter() - began) * 1000, int(answer.headers["content-length"])

    with ThreadPoolExecutor(CALLERS) as callers:
        return list(callers.map(one, seeds))


def burst(
    clients: Sequence[httpx.Client], count: int, costs: Callable[[int], Sequence[float]], way: Callable[..., Way]
) -> None:
    """Runs that nobody asked for before, all at once, measured and simulated: with the cores that others left, and with
    what a run took of each part just before and just after."""

    def one(seed: int) -> float:
        began = time.perf_counter()
        run(clients[seed % len(clients)], MEAN, seed)
        return time.perf_counter() - began

    before = costs(count // 2)
    others, began = machine_s() - ours_s(), time.perf_counter()
    with ThreadPoolExecutor(count) as learners:
        answered = sorted(learners.map(one, new_seeds(count)))
    took = time.perf_counter() - began
    elsewhere = max(0.0, machine_s() - ours_s() - others) / took
    after = costs(count // 2)
    taken = [round((one + other) / 2, 1) for one, other in zip(before, after, strict=True)]
    measured = Burst(
        count, round((os.cpu_count() or 1) - elsewhere, 2), way(*taken), all_s=took, p50_s=answered[count // 2],
        p95_s=answered[int(count * 0.95)],
    )  # fmt: skip
    simulated = simulated_burst(count, measured.cores, measured.way)
    print(
        f"a burst of {count}, a load of {os.getloadavg()[0]:.1f}, {measured.cores} cores left; ms of each part: {taken}"
    )
    for says, each in (("measured", measured), ("simulated", simulated)):
        print(f"{says:12}all {each.all_s:.2f} s   p50 {each.p50_s:.2f} s   p95 {each.p95_s:.2f} s", flush=True)


def server_of(http: httpx.Client) -> int:
    """The process behind a client of `serving`: this process's only child that serves."""
    return next(pid for pid, parent, _ in processes() if parent == os.getpid())


def spent(server: int) -> dict[str, float]:
    """Processor seconds of the server, and of all that it started, the ended ones among them."""
    own, ended = next(times for pid, _, times in processes() if pid == server)
    return {"server": own, "workers": ended + below_s(server)}


def taken_s(pid: int) -> float:
    """Processor seconds of a process and of all that it started, the ended ones among them."""
    return sum(next(times for each, _, times in processes() if each == pid)) + below_s(pid)


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
