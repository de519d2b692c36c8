"""How many nodes how many learners need: a simulation of the service at its busiest, fed with measured figures.

`python -m tools.scaling` writes the tables of docs/scaling.md anew; `python -m tests.bench.bench_scaling` measures the
figures, and a burst on this machine beside the simulated one. Time is in seconds unless a name says otherwise."""

import math
import random
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import simpy

from engine.limits import DEFAULT_LIMITS
from server.settings import Settings

DOCUMENT = Path(__file__).parents[1] / "docs" / "scaling.md"
BEGIN, END = "<!-- the tables: written by tools/scaling.py -->\n", "<!-- the end of the tables -->\n"

Step = Generator[simpy.Event, object, None]


@dataclass(frozen=True)
class Kind:
    """Processor milliseconds one run takes, measured embedded with a few at once; of one that never ends, its limit."""

    says: str
    share: float
    """Of the runs of a day; assumed."""
    server_ms: float
    """In the process that serves: HTTP, queue, assembling, keeping."""
    worker_ms: float
    """In the worker and the warm process that forks it."""
    kept_kb: float


KINDS = (
    Kind("(a) `((x + 2)**2 * 3).mean()`", 0.69, 6.8, 18.3, 1.9),
    Kind("(b) backward of a 3-layer MLP", 0.25, 10.7, 29.8, 17.6),
    Kind("(c) backward of LeNet", 0.05, 10.7, 68.3, 25.6),
    Kind("a loop that never ends", 0.01, 50.0, DEFAULT_LIMITS.wall_s * 1000, 100.0),
)
REQUEST_MS = 1.3
"""What an answer that is known takes of the process that serves it; measured."""
ASK_MS = 3.6
"""What a run that is new takes of the web node it was asked of, beside that; measured."""
LEADER_MS = 5.9
"""What it takes of the web node that leads: queue, handing over, checking and passing on; measured."""
BROKER_MS = 3.3
"""What it takes of NATS, over both its cores; measured."""
SEND_MS = 9.0
"""What a worker node takes to have it and to send its result, beside what it takes embedded; measured."""
KEEP_MS, FIND_MS = 3.1, 0.95
"""What PostgreSQL takes to keep a trace and to find one, by the clock, over one connection, without waiting for a disk;
measured."""


@dataclass(frozen=True)
class Load:
    """Learners of a day, and when they press Run."""

    learners: int
    runs_each: int = 40
    hits: float = 0.5
    """Share of the runs that are in the store already: the same program was run before."""
    busiest: float = 0.15
    """Share of a day's runs that its busiest hour has."""
    class_size: int = 300
    class_s: float = 10.0
    """Seconds within which a class presses Run for the first time."""
    together: float = 0.1
    """Of the classes of the busiest hour, the share that begins in the same seconds."""

    @property
    def runs(self) -> int:
        return self.learners * self.runs_each

    @property
    def per_s(self) -> float:
        """Runs asked for each second of the busiest hour."""
        return self.runs * self.busiest / 3600

    @property
    def classes(self) -> int:
        """Classes that begin in the same seconds."""
        return max(1, round(self.learners / self.class_size * self.busiest * self.together))


@dataclass(frozen=True)
class Cell:
    """One cluster: a queue, and what is around it."""

    webs: int
    workers: int
    slots: int = 4
    """Runs a worker node performs at once: one for each of its cores."""
    connections: int = 4
    """Of all web nodes to the store."""


@dataclass(frozen=True)
class Prices:
    """Dollars; a parameter, not an offer."""

    core_hour: float = 0.04
    gib_hour: float = 0.005
    kept_gb_month: float = 0.10
    sent_gb: float = 0.05


WEB, WORKER, BROKER, DATABASE = (1, 0.5), (4, 8), (2, 2), (4, 16)
"""Cores and GiB of each kind of node."""
WAITING_S = 1.0
"""A learner waits at most this long for a worker, in 95 of 100 runs."""
SPARE = 1
"""Worker nodes of a cluster that may go without anybody waiting longer."""
FULL = 0.7
"""How busy nodes may be over the busiest minute."""
WINDOW_S = 40.0
BURST_AT_S = 10.0


@dataclass
class Seen:
    """What came out of a simulation."""

    waited: list[float] = field(default_factory=list)
    """Seconds from Run to the program's beginning."""
    refused: int = 0
    used: dict[str, float] = field(default_factory=dict)
    """Share of its time each part was busy."""

    def waited_s(self, share: float) -> float:
        return quantile(self.waited, share)


def quantile(values: Iterable[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[int(len(ordered) * share)] if ordered else 0.0


SLICE_MS = 2.0
"""Of a shared machine's time, what one gets before it is another's turn."""


class Part:
    """Something of which a run takes some time, first come, first served."""

    def __init__(self, world: simpy.Environment, size: int, speed: float = 1.0) -> None:
        self.place = simpy.Resource(world, size)
        self.busy_s = 0.0
        self._world = world
        self._speed = speed

    def take(self, work_ms: float) -> Step:
        with self.place.request() as turn:
            yield turn
            seconds = work_ms / 1000 / self._speed
            self.busy_s += seconds
            yield self._world.timeout(seconds)

    def share(self, work_ms: float) -> Step:
        """As a system shares a processor: everybody gets a little in turn."""
        while work_ms > 0:
            yield from self.take(min(work_ms, SLICE_MS))
            work_ms -= SLICE_MS

    def used(self, until_s: float) -> float:
        return self.busy_s / until_s / self.place.capacity


class Simulated:
    """One cell for as long as the busiest seconds last."""

    def __init__(self, cell: Cell, seed: int = 0) -> None:
        self.seen = Seen()
        self._world = simpy.Environment()
        self._random = random.Random(seed)
        self._beside = simpy.Resource(self._world, cell.workers * Settings.slow_workers)
        self._parts = {
            "web nodes": Part(self._world, cell.webs),
            "leader": Part(self._world, 1),
            "broker": Part(self._world, BROKER[0]),
            "workers": Part(self._world, cell.workers * cell.slots),
            "store": Part(self._world, cell.connections),
        }

    def run(self, per_s: float, classes: float, load: Load) -> Seen:
        """The steady stream of the hour, and classes that all begin in the same seconds."""
        self._world.process(self._stream(per_s, load.hits))
        for _ in range(round(classes * load.class_size)):
            self._world.process(self._ask(BURST_AT_S + self._random.uniform(0, load.class_s), load.hits))
        self._world.run(WINDOW_S)
        self.seen.used = {name: part.used(WINDOW_S) for name, part in self._parts.items()}
        return self.seen

    def _stream(self, per_s: float, hits: float) -> Step:
        while True:
            yield self._world.timeout(self._random.expovariate(per_s))
            self._world.process(self._ask(0.0, hits))

    def _ask(self, after_s: float, hits: float) -> Step:
        yield self._world.timeout(after_s)
        asked, parts = self._world.now, self._parts
        yield from parts["web nodes"].take(REQUEST_MS)
        yield from parts["store"].take(FIND_MS)
        if self._random.random() >= hits:
            yield from self._perform(asked)

    def _perform(self, asked: float) -> Step:
        parts = self._parts
        workers = parts["workers"]
        if len(workers.place.queue) >= Settings.queue:
            self.seen.refused += 1
            return
        (kind,) = self._random.choices(KINDS, [kind.share for kind in KINDS])
        yield from parts["web nodes"].take(ASK_MS)
        yield from parts["leader"].take(LEADER_MS)
        yield from parts["broker"].take(BROKER_MS)
        turn = workers.place.request()
        yield turn
        self.seen.waited.append(self._world.now - asked)
        seconds = (kind.worker_ms + kind.server_ms - REQUEST_MS + SEND_MS) / 1000
        quick_s = min(seconds, Settings.quick_s)
        workers.busy_s += min(seconds, WINDOW_S - self._world.now)
        yield self._world.timeout(quick_s)
        with self._beside.request() as room:  # one that takes long goes on beside those that came after it
            if seconds > quick_s:
                yield room
            workers.place.release(turn)
            yield self._world.timeout(seconds - quick_s)
        yield from parts["store"].take(KEEP_MS)


@dataclass(frozen=True)
class Plan:
    """What a load needs."""

    load: Load
    cells: int
    cell: Cell
    seen: Seen
    """One of the cells at the busiest moment."""

    def per_million(self, prices: Prices) -> float:
        """Dollars for a million runs, where worker nodes come and go with the load and all else stays."""
        load = self.load
        new = load.runs * (1 - load.hits)
        always = self.cells * (self.cell.webs * price(WEB, prices) + price(BROKER, prices) + price(DATABASE, prices))
        workers_h = max(new * worker_s() / 3600 / self.cell.slots / FULL, 24.0 * self.cells * SPARE)
        kept_gb, sent_gb = (runs * mean("kept_kb") / 1e6 for runs in (new, load.runs))
        moved = kept_gb * prices.kept_gb_month / 30 + sent_gb * prices.sent_gb
        return (24 * always + workers_h * price(WORKER, prices) + moved) / load.runs * 1e6


def price(node: tuple[float, float], prices: Prices) -> float:
    """Dollars an hour of a node."""
    cores, gib = node
    return cores * prices.core_hour + gib * prices.gib_hour


def mean(name: str) -> float:
    """Of all runs."""
    return sum(kind.share * float(getattr(kind, name)) for kind in KINDS)


def worker_s() -> float:
    """Processor seconds an average run takes of a worker node, which also assembles."""
    return (mean("worker_ms") + mean("server_ms") - REQUEST_MS + SEND_MS) / 1000


def plan(load: Load) -> Plan:
    """The fewest nodes with which 95 of 100 runs wait less than `WAITING_S` at the busiest moment, and a spare one."""
    burst_per_s = load.classes * load.class_size / load.class_s
    new_per_s = (load.per_s + burst_per_s) * (1 - load.hits)
    cells = math.ceil(new_per_s * LEADER_MS / 1000 / FULL)
    web_s = (REQUEST_MS + ASK_MS * (1 - load.hits)) / 1000
    webs = max(2, math.ceil((load.per_s + burst_per_s) / cells * web_s / FULL))
    cell = Cell(webs, math.ceil(load.per_s / cells * (1 - load.hits) * worker_s() / Cell.slots / FULL))
    while True:
        seen = Simulated(cell).run(load.per_s / cells, load.classes / cells, load)
        if seen.waited_s(0.95) <= WAITING_S and not seen.refused:
            return Plan(load, cells, replace(cell, workers=cell.workers + SPARE), seen)
        cell = replace(cell, workers=cell.workers + max(1, cell.workers // 8))


LOADS = (Load(300), Load(30_000), Load(3_000_000))


@dataclass(frozen=True)
class Way:
    """What a run of (a) passes on one machine, one after the other."""

    sizes: Mapping[str, int]
    """How many runs a part does something for at once."""
    stages: tuple[tuple[str, float], ...]
    """The parts, with the milliseconds the run takes of them."""


SLOTS = 2
"""Runs that are performed at once in a burst."""


def embedded_way(client_ms: float, server_ms: float, worker_ms: float) -> Way:
    """By what a run takes of the three processes."""
    around = (("client", client_ms / 2),)
    stages = ("server", REQUEST_MS), ("slots", worker_ms), ("server", server_ms - REQUEST_MS)
    return Way({"client": 1, "server": 1, "slots": SLOTS}, (*around, *stages, *around))


def cluster_way(
    client_ms: float, web_ms: float, leader_ms: float, broker_ms: float, worker_ms: float, store_ms: float
) -> Way:
    """By what a run takes of the client, its web node, the leader beside that, the broker, a worker node, the store: of
    those that have the request and then the answer a half each time."""
    around = ("client", client_ms / 2), ("web nodes", web_ms / 2), ("leader", leader_ms / 2), ("broker", broker_ms / 2)
    sizes = {"client": 1, "web nodes": 2, "leader": 1, "broker": BROKER[0], "slots": SLOTS, "store": Cell.connections}
    return Way(sizes, (*around, ("slots", worker_ms), ("store", store_ms), *reversed(around)))


@dataclass(frozen=True)
class Burst:
    """Runs asked for at the same moment of one machine, all its parts on it."""

    runs: int
    cores: float
    """Of the machine's cores, what others left."""
    way: Way
    """What its runs pass; measured just before and just after it."""
    all_s: float
    p50_s: float
    p95_s: float


BURST = Burst(120, 1.1, embedded_way(3.3, 7.5, 21.3), all_s=3.25, p50_s=1.81, p95_s=2.86)
"""Of the embedded server, as measured."""
CLUSTER_BURST = Burst(120, 1.21, cluster_way(3.1, 4.8, 3.7, 2.8, 38.3, 0.8), all_s=4.94, p50_s=2.43, p95_s=4.39)
"""The same over two web nodes and two workers of one slot."""


def simulated_burst(runs: int, cores: float, way: Way) -> Burst:
    """The same runs simulated: all parts share the cores."""
    whole = math.ceil(cores)
    world = simpy.Environment()
    machine = Part(world, whole, cores / whole)
    parts = {name: simpy.Resource(world, size) for name, size in way.sizes.items()}
    answered: list[float] = []

    def one() -> Step:
        for name, work_ms in way.stages:
            with parts[name].request() as turn:
                yield turn
                yield from machine.share(work_ms)
        answered.append(world.now)

    for _ in range(runs):
        world.process(one())
    world.run()
    return Burst(runs, cores, way, max(answered), quantile(answered, 0.5), quantile(answered, 0.95))


def embedded(load: Load) -> Seen:
    """The load on one machine of four cores, with the queue in the server."""
    return Simulated(Cell(webs=1, workers=1)).run(load.per_s, load.classes, load)


def written(prices: Prices) -> str:
    """The tables of the document."""
    return "\n".join(
        (
            _table("Learners a day | Clusters | Web nodes | Worker nodes | Waiting p50, p95 | Busiest parts"
                   " | A million runs", map(partial(_planned, prices), map(plan, LOADS))),
            _table("Learners a day, one machine | Waiting p50, p95 | Refused | Busiest parts", map(_alone, LOADS[:2])),
            _table("A burst | All answered | p50 | p95", _checked()),
            _table("Figure | Value | From", _figures(prices)),
        )
    )  # fmt: skip


def _table(head: str, rows: Iterable[str]) -> str:
    line = "|---" * (head.count("|") + 1)
    return f"| {head} |\n{line}|\n" + "".join(f"| {row} |\n" for row in rows)


def _planned(prices: Prices, plan: Plan) -> str:
    cell, seen = plan.cell, plan.seen
    return (
        f"{plan.load.learners:,} | {plan.cells} | {plan.cells * cell.webs} | {plan.cells * cell.workers} "
        f"| {_waits(seen)} | {_busiest(seen)} | ${plan.per_million(prices):,.2f}"
    )


def _alone(load: Load) -> str:
    seen = embedded(load)
    asked = len(seen.waited) + seen.refused
    return f"{load.learners:,} | {_waits(seen)} | {seen.refused / asked:.0%} | {_busiest(seen)}"


def _waits(seen: Seen) -> str:
    return f"{seen.waited_s(0.5):.2f} s, {seen.waited_s(0.95):.2f} s"


def _busiest(seen: Seen) -> str:
    ranked = sorted(seen.used.items(), key=lambda each: -each[1])
    return ", ".join(f"{name} {used:.0%}" for name, used in ranked[:3])


def _checked() -> Iterator[str]:
    for of, measured in (("of the embedded server", BURST), ("of a cluster", CLUSTER_BURST)):
        simulated = simulated_burst(measured.runs, measured.cores, measured.way)
        for says, burst in (("measured", measured), ("simulated", simulated)):
            times = f"{burst.all_s:.2f} s | {burst.p50_s:.2f} s | {burst.p95_s:.2f} s"
            yield f"{burst.runs} at once {of}, {says} | {times}"


def _figures(prices: Prices) -> Iterator[str]:
    for kind in KINDS:
        yield (
            f"{kind.says}: server, worker, kept | {kind.server_ms:g} ms, {kind.worker_ms:g} ms, {kind.kept_kb:g} KB "
            f"| {'its limit' if kind is KINDS[-1] else 'measured'}"
        )
        yield f"{kind.says}: share of the runs | {kind.share:.0%} | assumed"
    yield f"an answer that is known, of the web node | {REQUEST_MS:g} ms | measured"
    yield f"a new one besides, of its web node, of the leader | {ASK_MS:g} ms, {LEADER_MS:g} ms | measured"
    yield f"of the broker; of a worker node, beside the embedded | {BROKER_MS:g} ms, {SEND_MS:g} ms | measured"
    yield f"a trace kept, a trace looked for, of a connection | {KEEP_MS:g} ms, {FIND_MS:g} ms | measured"
    load = Load(0)
    yield f"runs of a learner a day | {load.runs_each} | assumed"
    yield f"runs that are in the store already | {load.hits:.0%} | assumed"
    yield f"share of the day in its busiest hour | {load.busiest:.0%} | assumed"
    yield f"a class: learners, who first press Run within | {load.class_size}, {load.class_s:g} s | assumed"
    together = f"{load.together:.0%}, at least 1"
    yield f"of the busiest hour's classes, begin in the same {load.class_s:g} s | {together} | assumed"
    nodes = ", ".join(f"{cores} × {gib:g} GiB" for cores, gib in (WEB, WORKER, BROKER, DATABASE))
    yield f"nodes: web, worker, broker, store; cores × memory | {nodes} | assumed"
    yield f"a core, a GiB of memory, each hour | ${prices.core_hour:g}, ${prices.gib_hour:g} | a parameter"
    yield f"a GB kept for a month, a GB sent | ${prices.kept_gb_month:.2f}, ${prices.sent_gb:.2f} | a parameter"


def document() -> str:
    """The whole document, its tables of today."""
    before, rest = DOCUMENT.read_text("utf-8").split(BEGIN)
    return before + BEGIN + written(Prices()) + END + rest.partition(END)[2]


if __name__ == "__main__":
    DOCUMENT.write_text(document(), "utf-8")
