"""Programs that expect a launcher such as `torchrun`, which runs the whole program once for each rank."""

import os
import re
from collections.abc import Callable
from typing import Any

from engine.events import Found
from engine.worker.capture.recorder import Recorder
from engine.worker.distributed.replacements import MOST_RANKS, START_PROCESSES

_ASKS = re.compile(
    r"""\b(?:environ\.get\(|getenv\(|environ\[)\s*["'](?:LOCAL_RANK|RANK|WORLD_SIZE)["']"""
    r"""|\binit_process_group\((?!(?:[^()]|\([^()]*\))*\brank\s*=)"""
)
_STARTS_RANKS = re.compile(r"""\bspawn\(|\bstart_processes\(|\bProcess\(|environ\[["'](?:RANK|WORLD_SIZE)["']\]\s*=""")
_COMMANDS = re.compile(r"^#.*\b(?:torchrun|torch\.distributed\.(?:launch|run))\b.*--nproc[-_]per[-_]node[= ]\s*(\d+)")
_MEETING = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}


def launched_ranks(source: str, recorder: Recorder) -> int:
    """How many ranks a launcher is to run the program as: none of its own where it asks for none or starts its own.

    The command that starts it says so, as people write it in a comment above the first statement."""
    asks = _ASKS.search(source)
    if (asks is None and "init_process_group(" not in source) or _STARTS_RANKS.search(source):
        return 0
    for line, text in enumerate(_head(source), 1):
        command = _COMMANDS.match(text)
        if command is not None and int(command[1]) > 0:
            ranks = min(int(command[1]), MOST_RANKS)
            if ranks > 1:
                facts = {"asked": command[1], "ranks": str(ranks)}
                site = recorder.sites.fixed((line, line, 0, len(text)))
                recorder.outbox.say(Found("launched_ranks", "note", site, facts))
            return ranks
    if asks is None:
        return 0
    line = source.count("\n", 0, asks.start()) + 1
    column = asks.start() - source.rfind("\n", 0, asks.start()) - 1
    site = recorder.sites.fixed((line, line, column, column + len(asks[0])))
    recorder.outbox.say(Found("launched_alone", "note", site, {}))
    return 1


def _head(source: str) -> list[str]:
    """The comments above the first statement, with the empty lines between them."""
    lines = source.splitlines()
    end = next((at for at, line in enumerate(lines) if line.strip() and not line.startswith("#")), len(lines))
    return lines[:end]


def launch(ranks: int, names: dict[str, Any], run: Callable[[dict[str, Any]], None]) -> None:
    """Runs the program with globals and an environment of each rank's own; those of rank 0 are `names`."""
    if ranks == 1:
        os.environ.update(_environment(0, 1))
        run(names)
        return
    globals_of = [names, *(names.copy() for _ in range(1, ranks))]

    def run_rank(rank: int) -> None:
        os.environ.update(_environment(rank, ranks))
        run(globals_of[rank])

    start: Callable[..., object] = START_PROCESSES.get()
    start(run_rank, nprocs=ranks)


def _environment(rank: int, ranks: int) -> dict[str, str]:
    """What `torchrun` sets."""
    own = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": ranks, "LOCAL_WORLD_SIZE": ranks}
    return {name: str(value) for name, value in own.items()} | _MEETING
