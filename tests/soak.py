"""A real server process under mixed load, and what it holds: memory, descriptors, processes, files."""

import itertools
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import httpx

PATIENCE_S = 90.0
"""How long a condition may take to come true on a machine that is much slower than this one."""
ONCE_EACH = httpx.Limits(max_connections=None, max_keepalive_connections=0)

PROGRAMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "lesson": (
        "import torch\nx = torch.ones(2, requires_grad=True)\n(x * {n}).sum().backward()\nprint(x.grad)\n",
        ("ok",),
    ),
    "loop": (
        "import torch\nx = torch.tensor(1.0, requires_grad=True)\ny = x\nfor _ in range(300):\n    y = y * 1.001\ny.backward()\nprint({n})\n",
        ("ok",),
    ),
    "raises": ("import torch\ntorch.ones({n}, 2) @ torch.ones(3)\n", ("failed",)),
    "exits": ("import os\nprint({n})\nos._exit(3)\n", ("failed",)),
    "crashes": ("import ctypes\nprint({n})\nctypes.string_at(1)\n", ("crashed",)),
    "hoards": ("held = []\nwhile {n}:\n    held.append(bytearray(1 << 24))\n", ("failed", "limited")),
    "floods": ("while {n}:\n    print('x' * 1000)\n", ("limited",)),
    "never ends": ("while {n}:\n    pass\n", ("limited",)),
}
"""What people and attackers send, and how it may end."""

HANGS_UP = "hangs up"
MIX = ("lesson",) * 10 + (
    "loop",
    "raises",
    "raises",
    "exits",
    "crashes",
    "hoards",
    "floods",
    "never ends",
    *[HANGS_UP] * 2,
)
MEMORY_BYTES = 256 * 1024**2
SHORT_S = 1.0
"""For the programs that only a limit ends; the others have the time that a server gives, however busy the machine."""


@dataclass(frozen=True)
class Holding:
    """What a server holds."""

    rss_bytes: int
    descriptors: int
    processes: int
    folders: int


@dataclass(frozen=True)
class Server:
    """A server process and where it listens."""

    pid: int
    address: str
    temporary: Path
    http: httpx.Client
    """Each request has a connection of its own, so that the server holds none for it afterwards."""

    def holding(self) -> Holding:
        """What it holds now."""
        family = [self.pid, *descendants(self.pid)]
        return Holding(
            rss_bytes=resident(self.pid),
            descriptors=descriptors(self.pid),
            processes=len(family),
            folders=sum(1 for _ in self.temporary.rglob("*")),
        )

    def at_rest(self) -> Holding:
        """What it holds once it starts and ends no more processes for a second."""
        holding = self.holding()

        def settled() -> bool:
            nonlocal holding
            time.sleep(1)
            before, holding = holding, self.holding()
            return before.processes == holding.processes

        wait_for(settled)
        return holding


@contextmanager
def server(data: Path, **settings: object) -> Iterator[Server]:
    """A server process of its own, with its own folder for what is temporary."""
    given = {f"GRADGRAPH_{name.upper()}": str(value) for name, value in settings.items()}
    with tempfile.TemporaryDirectory() as temporary, tempfile.TemporaryFile() as said:
        environment = {**os.environ, "GRADGRAPH_DATA_DIR": str(data), "TMPDIR": temporary, **given}
        process = subprocess.Popen(
            [sys.executable, "-m", "server", "--port", "0"],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=said,
        )
        try:
            address = _address(process, said.fileno())
            with httpx.Client(base_url=address, timeout=PATIENCE_S, limits=ONCE_EACH, verify=False) as http:
                wait_for(lambda: answers(http))
                yield Server(process.pid, address, Path(temporary), http)
        finally:
            process.terminate()
            process.wait(30)


def _address(process: "subprocess.Popen[bytes]", log: int) -> str:
    """Where a server says that it is."""

    def told() -> re.Match[str] | None:
        text = os.pread(log, 65_536, 0).decode()
        assert process.poll() is None, text
        return re.search(r"Gradgraph is at (\S+)", text)

    wait_for(lambda: told() is not None)
    found = told()
    assert found is not None
    return found[1]


def answers(http: httpx.Client) -> bool:
    """Whether the server is ready."""
    with suppress(httpx.TransportError):
        return bool(http.get("/api/v1/health", timeout=5).json()["status"] == "ok")
    return False


def wait_for(holds: Callable[[], bool], within_s: float = PATIENCE_S, said: Callable[[], object] = str) -> None:
    """Returns when it holds; fails when it does not in time, with what is said of it."""
    end = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < end, f"it did not happen in time {said()}"
        time.sleep(0.1)


def load(at: Server, rounds: int, clients: int = 6) -> Counter[str]:
    """Lets each client send the whole mix so many times, in an order of its own; what came of it, and what was not as
    expected."""
    outcomes: Counter[str] = Counter()
    numbers = itertools.count(2)
    threads = [Thread(target=_send, args=(at, rounds, numbers, seed, outcomes)) for seed in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def _send(at: Server, rounds: int, numbers: Iterator[int], seed: int, outcomes: Counter[str]) -> None:
    choose = random.Random(seed)
    with httpx.Client(base_url=at.address, timeout=PATIENCE_S, verify=False) as http:
        for name in (name for _ in range(rounds) for name in choose.sample(MIX, len(MIX))):
            code, ends = PROGRAMS["lesson" if name == HANGS_UP else name]
            limits: dict[str, float] = {"memory_bytes": MEMORY_BYTES}
            if "limited" in ends:
                limits["wall_s"] = SHORT_S
            body: dict[str, Any] = {"code": code.format(n=next(numbers)), "limits": limits}
            if name == HANGS_UP:
                with suppress(httpx.TimeoutException):
                    http.post("/api/v1/runs", json=body, timeout=0.02)
                outcomes[name] += 1
                continue
            answer = http.post("/api/v1/runs", json=body)
            status = answer.json()["status"] if answer.status_code == 200 else str(answer.status_code)
            outcomes[name if status in ends else f"UNEXPECTED {name}: {status}"] += 1


def children(pid: int) -> list[int]:
    """Processes right below one."""
    found: list[int] = []
    with suppress(OSError):  # it is no more
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                found += [int(child) for child in (task / "children").read_text().split()]
    return found


def is_alive(pid: int) -> bool:
    """Whether a process still runs; one that only waits to be looked at does not."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def descendants(pid: int) -> list[int]:
    """All processes below one."""
    found: list[int] = []
    todo = [pid]
    while todo:
        below = children(todo.pop())
        found += below
        todo += below
    return found


def family(pid: int) -> list[str]:
    """One process and all below it: what the kernel says of each, and its command."""
    found = []
    for one in (pid, *descendants(pid)):
        with suppress(OSError):
            command = Path(f"/proc/{one}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            found.append(" ".join(Path(f"/proc/{one}/stat").read_text().split()[:5]) + f" {command}")
    return found


def descriptors(pid: int) -> int:
    """Open descriptors of one process; 0 where its user may not see them, for the server hides its memory."""
    with suppress(PermissionError):
        return len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return 0


def resident(pid: int) -> int:
    """Resident memory of one process."""
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0
