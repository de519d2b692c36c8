"""A cluster on this machine beside the embedded server: what it adds to a run, how it grows with workers, a class that
loses a worker, and what each kind of node takes of memory.

`./run bench cluster`; `python -m tests.bench.bench_cluster --small` only shows that it works."""

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx

from tests.bench.bench_http import MEAN, row, run, serving, timed
from tests.bench.bench_scaling import CALLERS, burst, new_seeds, taken_s
from tools.cluster import Cluster, Node, cluster
from tools.scaling import BURST, SLOTS, cluster_way

SETTINGS = {"GRADGRAPH_WARM_GALLERY": "0", "GRADGRAPH_SLOW_WORKERS": "0", "GRADGRAPH_WALL_S": "60"}
TIMEOUT_S = 120.0
ALL_STAY = httpx.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=None)
"""A client of many threads else closes idle connections that another thread asks with: "Bad file descriptor"."""
WAITS = "import time\ntime.sleep({s})\nprint({n})\n"
LEARNER = "import torch\nx = torch.tensor(3.0, requires_grad=True)\n(x * x * {n}).backward()\nprint(x.grad.item())\n"
LONG_S = 2.0
LONG = f"import time\nprint('begun', flush=True)\ntime.sleep({LONG_S})\n"


@dataclass(frozen=True)
class Size:
    """How much of it is measured."""

    calls: int = 60
    series: int = 120
    workers: tuple[int, ...] = (1, 2, 4)
    waiting_slots: tuple[int, ...] = (50, 200)
    waiting_s: float = 20.0
    """So long that the beginnings and ends of all runs leave the processors time."""
    burst: int = BURST.runs
    learners: int = 300
    class_s: float = 10.0


SMALL = Size(calls=5, series=8, workers=(1, 2), waiting_slots=(2, 4), waiting_s=1, burst=8, learners=20, class_s=1)


def main(size: Size) -> None:
    """Prints the figures."""
    overhead(size)
    for workers in size.workers:
        with running(web=2, workers=workers, slots=1) as (made, clients):
            row_of_rate(f"(a), runs/s, {workers} workers of 1 slot", rate(clients, 2 * workers, size.series))
            if workers == SLOTS:
                burst(clients, size.burst, partial(costs, made, clients), cluster_way)
    for slots in size.waiting_slots:
        with running(web=2, workers=2, slots=slots // 2) as (_, clients):
            most = slots / size.waiting_s
            told = f"sleeping {size.waiting_s:g} s, runs/s, {slots} slots of at most {most:g}"
            row_of_rate(told, waiting(clients, slots, size.waiting_s))
    with running(web=2, workers=3, slots=2) as (made, clients):
        a_class(made, clients, size)
        from_death_to_answer(made, clients[0])
        memory(made)
        for http in clients:
            picture(http)
        print("and when each web node has drawn a picture:")
        memory(made)


@contextmanager
def running(web: int, workers: int, slots: int) -> Iterator[tuple[Cluster, list[httpx.Client]]]:
    """A cluster that is ready, and a client of each web node."""
    with cluster(web, workers, slots, {**SETTINGS, "GRADGRAPH_PER_ADDRESS": "1000"}) as made:
        made.await_workers()
        clients = [httpx.Client(base_url=each, timeout=TIMEOUT_S, limits=ALL_STAY) for each in made.addresses]
        try:
            for http in clients:
                until(partial(is_ready, http, workers * slots))
                run(http, MEAN, seed=1_000_000 + clients.index(http))
            yield made, clients
        finally:
            for http in clients:
                http.close()


def is_ready(http: httpx.Client, slots: int) -> bool:
    """Whether a node knows its leader and all slots."""
    health = http.get("/api/v1/health").json()
    return health["cluster"]["leader"] is not None and health["workers"] == slots


def until(holds: Callable[[], bool]) -> None:
    """Returns when it holds."""
    end = time.monotonic() + TIMEOUT_S
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def overhead(size: Size) -> None:
    """The same run embedded, and asked of the node that leads and of one that does not."""
    with serving() as http:
        row("(a) embedded, not cached", "20 ms", timed(lambda n: run(http, MEAN, seed=n), size.calls))
    with running(web=2, workers=1, slots=2) as (_, clients):
        for number, http in enumerate(clients):
            times = timed(partial(asked, http, 10_000 * number), size.calls)
            row(f"(a) cluster, not cached, web node {number + 1} of 2", "", times)


def asked(http: httpx.Client, after: int, number: int) -> None:
    """One run, with a seed that others do not use."""
    run(http, MEAN, seed=after + number)


def row_of_rate(what: str, per_s: float) -> None:
    """One line."""
    print(f"{what:48} {per_s:7.1f}", flush=True)


def rate(clients: list[httpx.Client], callers: int, series: int) -> float:
    """Runs a second that nobody asked for before."""
    began = time.perf_counter()
    with ThreadPoolExecutor(callers) as pool:
        list(pool.map(lambda n: run(clients[n % len(clients)], MEAN, seed=20_000 + n), range(series)))
    return series / (time.perf_counter() - began)


def costs(made: Cluster, clients: list[httpx.Client], series: int) -> list[float]:
    """Milliseconds that a run takes of the client, its web node, the leader beside that, broker, workers and store."""

    def taken() -> list[float]:
        ours = (*made.web, made.broker, *made.workers)
        nodes = [taken_s(node.process.pid) for node in ours]
        return [time.process_time(), *nodes[:3], sum(nodes[3:]), taken_s(made.postgres.pid)]

    def one(seed: int) -> None:
        run(clients[seed % len(clients)], MEAN, seed)

    before = taken()
    with ThreadPoolExecutor(CALLERS) as callers:
        list(callers.map(one, new_seeds(series)))
    client, *webs, broker, workers, store = (
        (after - began) * 1000 / series for after, began in zip(taken(), before, strict=True)
    )
    follower, leader = sorted(webs)
    return [client, len(webs) * follower, leader - follower, broker, workers, store]


def waiting(clients: list[httpx.Client], slots: int, wait_s: float) -> float:
    """Runs a second that only wait: as many as there are slots for, were the rest for nothing."""

    def one(n: int) -> str:
        answer = clients[n % len(clients)].post("/api/v1/runs", json={"code": WAITS.format(s=wait_s, n=n)})
        says: str = answer.json()["status" if answer.status_code == 200 else "type"]
        return says.rpartition(":")[2]

    began = time.perf_counter()
    with ThreadPoolExecutor(slots) as pool:
        came = Counter(pool.map(one, range(2 * slots)))
    if came["ok"] < came.total():
        print(f"  {dict(came)}", flush=True)
    return came["ok"] / (time.perf_counter() - began)


def a_class(made: Cluster, clients: list[httpx.Client], size: Size) -> None:
    """Everybody presses Run within some seconds; in the middle a worker is killed."""
    came: Counter[str] = Counter()
    times: list[float] = []
    began = time.perf_counter()

    def learner(n: int) -> None:
        time.sleep(n * size.class_s / size.learners)
        pressed = time.perf_counter()
        answer = clients[n % len(clients)].post("/api/v1/runs", json={"code": LEARNER.format(n=n)})
        times.append((time.perf_counter() - pressed) * 1000)
        is_trace = answer.status_code == 200
        is_right = is_trace and answer.json()["output"][0]["text"] == f"{6.0 * n}\n"
        came["right" if is_right else "wrong" if is_trace else f"told {answer.status_code}"] += 1

    killer = threading.Timer(size.class_s / 2, made.workers[0].kill)
    killer.start()
    with ThreadPoolExecutor(size.learners) as pool:
        list(pool.map(learner, range(size.learners)))
    killer.join()
    took = time.perf_counter() - began
    row(f"{size.learners} learners in {size.class_s:g} s, a worker killed", "", times)
    print(f"  {dict(came)}, all within {took:.1f} s", flush=True)
    made.workers[0].start_again()
    until(lambda: is_ready(clients[0], 6))


def from_death_to_answer(made: Cluster, http: httpx.Client) -> None:
    """Seconds from a worker's death to the next worker's beginning with its run, and to the answer."""
    accepted = http.post("/api/v1/runs", json={"code": LONG}, headers={"Prefer": "respond-async"})
    word = f"run {accepted.json()['id']} begins".encode()

    def who() -> list[Node]:
        return [node for node in made.workers if word in node.log.read_bytes()]

    until(lambda: bool(who()))
    (first,) = who()
    first.kill()
    died = time.perf_counter()
    until(lambda: bool([node for node in who() if node is not first]))
    print(f"{'from death to the next beginning':48} {time.perf_counter() - died:7.2f} s", flush=True)
    http.post("/api/v1/runs", json={"code": LONG}).raise_for_status()
    what = f"from death to the answer of a run of {LONG_S:g} s"
    print(f"{what:48} {time.perf_counter() - died:7.2f} s", flush=True)
    first.start_again()
    until(lambda: is_ready(http, 6))


def picture(http: httpx.Client) -> None:
    """The first one makes the node load V8."""
    http.get(f"/api/v1/runs/{run(http, MEAN, seed=1)['id']}/graph.svg").raise_for_status()


def memory(made: Cluster) -> None:
    """What each kind of node takes, its children among it; what several share is counted once, in parts."""
    kinds = (
        ("broker", made.broker),
        ("web node, the first", made.web[0]),
        ("web node, the second", made.web[1]),
        ("worker node, 2 slots", made.workers[1]),
    )
    for what, node in kinds:
        pids = family(node.process.pid)
        shared, resident = (sum(kibibytes(pid, kind) for pid in pids) * 1024 / 1e6 for kind in ("Pss", "Rss"))
        told = f"{shared:7.0f} MB, {resident:.0f} MB resident, in {len(pids)} processes"
        print(f"{f'memory of a {what}':48} {told}", flush=True)


def family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    found = [pid]
    for each in found:
        for listed in Path(f"/proc/{each}/task").glob("*/children"):
            found += map(int, listed.read_text().split())
    return found


def kibibytes(pid: int, kind: str) -> int:
    """Its resident memory (`Rss`); of what it shares only its part (`Pss`)."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has ended
        return 0
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{kind}:"))


if __name__ == "__main__":
    main(SMALL if "--small" in sys.argv else Size())
