"""A room of 300: all learners listen, all answer within ten seconds, the teacher sees it. A real server process."""

import asyncio
import json
import os
import random
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

import httpx

from tests.bench.bench_http import serving

LEARNERS = 300
WITHIN_S = 10.0
CODE = "import torch\nx = torch.tensor(2.0, requires_grad=True)\n(x * x).backward()\n(3 * x).backward()  # ? x.grad\n"
GIVEN = ("7", "3", "4", "7.0", "6", "None")
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Prints the figures."""
    random.seed(0)
    with serving() as http:
        run = http.post("/api/v1/runs", json={"code": CODE}).json()["id"]
        room = http.post("/api/v1/rooms", json={"run": run}).json()
        asyncio.run(lesson(str(http.base_url), room["code"], room["token"]))


async def lesson(base: str, code: str, token: str) -> None:
    """One question, from the first learner who comes in to the answer on the last page."""
    path, teacher = f"/api/v1/rooms/{code}", {"Owner-Token": token}
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=LEARNERS)
    async with httpx.AsyncClient(base_url=base, timeout=60, limits=limits) as http:
        spread: list[tuple[float, int]] = []
        shown: list[float] = []
        asked: list[float] = []
        began, used = time.perf_counter(), cpu_s()
        listening = [asyncio.create_task(teach(http, path, teacher, spread))]
        class_ = [learn(http, path, f"learner {number}", asked, shown) for number in range(LEARNERS)]
        listening += map(asyncio.create_task, class_)
        while len(asked) < LEARNERS:
            await asyncio.sleep(0.05)
        print(f"{LEARNERS} learners are in after {time.perf_counter() - began:.1f} s, {cpu_s() - used:.2f} s of CPU")
        asked.clear()

        at = time.perf_counter()
        await http.put(f"{path}/question", json={"question": 0}, headers=teacher)
        while len(asked) < LEARNERS:
            await asyncio.sleep(0.01)
        row("a question reaches a learner", [when - at for when in asked])

        used, at = cpu_s(), time.perf_counter()
        took, done = await answers(http, path)
        while not spread or spread[-1][1] < LEARNERS:
            await asyncio.sleep(0.01)
        busy = (cpu_s() - used) / (time.perf_counter() - at)
        row("an answer is taken", took)
        row("and is in the teacher's spread", delays(done, spread))
        print(f"{'the server process while they answer':38} {busy:6.1%} of one core")

        at = time.perf_counter()
        await http.put(f"{path}/question", json={"question": 0, "is_revealed": True}, headers=teacher)
        while len(shown) < LEARNERS:
            await asyncio.sleep(0.01)
        row("the answer is shown to a learner", [when - at for when in shown])
        for task in listening:
            task.cancel()
        await asyncio.gather(*listening, return_exceptions=True)


async def teach(http: httpx.AsyncClient, path: str, teacher: dict[str, str], spread: list[tuple[float, int]]) -> None:
    """Notes when how many answers were told of."""
    async with http.stream("GET", f"{path}/events", headers=teacher) as answer:
        async for line in answer.aiter_lines():
            if line.startswith("data: "):
                counts = json.loads(line.removeprefix("data: "))["answers"]
                spread.append((time.perf_counter(), sum(count for _, count in counts)))


async def learn(http: httpx.AsyncClient, path: str, name: str, asked: list[float], shown: list[float]) -> None:
    """Notes when something was heard before the answer was shown, and when it was."""
    async with http.stream("GET", f"{path}/events", headers={"Gradgraph-Session": name}) as answer:
        async for line in answer.aiter_lines():
            if line.startswith("data: "):
                state = json.loads(line.removeprefix("data: "))
                (shown if state["is_revealed"] else asked).append(time.perf_counter())


async def answers(http: httpx.AsyncClient, path: str) -> tuple[list[float], list[float]]:
    """How long each answer took, and when it was taken."""

    async def one(number: int) -> tuple[float, float]:
        await asyncio.sleep(random.uniform(0, WITHIN_S))
        began = time.perf_counter()
        body = {"question": 0, "answer": random.choice(GIVEN)}
        answer = await http.put(f"{path}/answer", json=body, headers={"Gradgraph-Session": f"learner {number}"})
        assert answer.status_code == 204, answer.text
        return time.perf_counter() - began, time.perf_counter()

    taken = await asyncio.gather(*map(one, range(LEARNERS)))
    return [took for took, _ in taken], sorted(done for _, done in taken)


def delays(done: Sequence[float], spread: Sequence[tuple[float, int]]) -> list[float]:
    """Seconds from each answer to the first word that counts it."""
    return [max(0.0, next(when for when, count in spread if count >= number) - at) for number, at in enumerate(done, 1)]


def row(name: str, seconds: Sequence[float]) -> None:
    """The middle, the nineteenth of twenty, and the last."""
    p50, p95 = statistics.median(seconds), statistics.quantiles(seconds, n=20)[18]
    print(f"{name:38} p50 {p50 * 1000:6.1f} ms   p95 {p95 * 1000:6.1f} ms   last {max(seconds) * 1000:6.1f} ms")


def cpu_s() -> float:
    """Processor time of the server process, which is this one's only child."""
    [server] = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    fields = Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK_S


if __name__ == "__main__":
    main()
