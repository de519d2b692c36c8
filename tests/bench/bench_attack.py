"""A light user while others attack, a class pressing Run at once, and what an idle service holds."""

import itertools
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread

import httpx

from tests import soak

HOSTILE = Path(__file__).parents[1] / "hostile" / "programs"
MEAN = {"expression": "((x + 2)**2 * 3).mean()", "inputs": {"x": [[1, 1], [1, 1]]}}
QUIET_CALLS, ATTACK_S, PAUSE_S = 150, 30.0, 0.05
LEARNERS, CLASS_S = 300, 10.0
MIB = 1024 * 1024


def main() -> None:
    """Prints the figures."""
    numbers = itertools.count(1)
    with tempfile.TemporaryDirectory() as data, soak.server(Path(data), warm_gallery=0) as at:
        time.sleep(2)
        family = [at.pid, *soak.descendants(at.pid)]
        print(
            f"idle service, memory of its own        {sum(map(own_bytes, family)) / MIB:7.1f} MiB, {len(family)} processes"
        )
        with httpx.Client(base_url=at.address, timeout=60) as http:
            quiet = light(http, numbers, lambda n: n < QUIET_CALLS)
            say("light user, quiet", quiet)
            for attackers in (2, 8):
                times = attacked(at, http, numbers, attackers)
                say(f"light user, {attackers} attackers", times)
                print(f"{'  p95 beside quiet p95':38} {p(times, 95) / p(quiet, 95):7.1f}x     budget 5x")
        learners(at, numbers)


def light(http: httpx.Client, numbers: Iterator[int], goes_on: Callable[[int], bool]) -> list[float]:
    """Milliseconds of runs that are not stored, one after the other with a breath between."""
    times: list[float] = []
    for count in itertools.count():
        if not goes_on(count):
            return times[5:]
        began = time.perf_counter()
        answer = http.post("/api/v1/runs", json={**MEAN, "seed": next(numbers)})
        times.append((time.perf_counter() - began) * 1000)
        assert answer.status_code == 200, answer.text
        assert answer.json()["status"] == "ok"
        time.sleep(PAUSE_S)
    return times


def attacked(at: soak.Server, http: httpx.Client, numbers: Iterator[int], attackers: int) -> list[float]:
    """The same while attackers send all hostile programs, with the default limits."""
    over = Event()
    programs = [file.read_text() for file in sorted(HOSTILE.glob("*.py"))]

    def attack(seed: int) -> None:
        choose = random.Random(seed)
        with httpx.Client(base_url=at.address, timeout=60) as mine:
            while not over.is_set():
                mine.post("/api/v1/runs", json={"code": f"{choose.choice(programs)}\n# {choose.random()}\n"})

    threads = [Thread(target=attack, args=(seed,)) for seed in range(attackers)]
    for thread in threads:
        thread.start()
    time.sleep(2)
    until = time.monotonic() + ATTACK_S
    times = light(http, numbers, lambda _: time.monotonic() < until)
    over.set()
    for thread in threads:
        thread.join()
    return times


def learners(at: soak.Server, numbers: Iterator[int]) -> None:
    """Learners with a browser each press Run within ten seconds."""
    outcomes: Counter[str] = Counter()
    times: list[float] = []

    http = httpx.Client(base_url=at.address, timeout=60, limits=httpx.Limits(max_connections=None))

    def press(number: int) -> None:
        time.sleep(random.Random(number).uniform(0, CLASS_S))
        factor = next(numbers)
        code = f"import torch\nx = torch.tensor(3.0, requires_grad=True)\n(x * x * {factor}).backward()\nprint(x.grad.item())\n"
        began = time.perf_counter()
        answer = http.post(
            "/api/v1/runs", json={"code": code}, headers={"Cookie": f"gradgraph_session=learner{number}"}
        )
        times.append((time.perf_counter() - began) * 1000)
        printed = answer.json()["output"][0]["text"] if answer.status_code == 200 else str(answer.status_code)
        outcomes["right" if printed == f"{6.0 * factor}\n" else f"WRONG {printed}"] += 1

    with ThreadPoolExecutor(LEARNERS) as pool:
        list(pool.map(press, range(LEARNERS)))
    say(f"{LEARNERS} learners within {CLASS_S:.0f} s", times)
    print(f"{'  answers':38} {dict(outcomes)}")


def own_bytes(pid: int) -> int:
    """A process's fair share of memory: what it shares with others is divided."""
    found = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def p(times: list[float], percent: int) -> float:
    """A percentile."""
    return sorted(times)[min(len(times) - 1, len(times) * percent // 100)]


def say(what: str, times: list[float]) -> None:
    """One line of figures."""
    print(f"{what:38} p50 {p(times, 50):7.1f} ms   p95 {p(times, 95):7.1f} ms   {len(times)} runs", flush=True)


if __name__ == "__main__":
    main()
