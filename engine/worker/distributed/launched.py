"""Programs that expect a launcher such as `torchrun`: here each of them is the only rank."""

import os
import re

from engine.events import Found
from engine.worker.capture.recorder import Recorder

_ASKS = re.compile(r"""\benviron(?:\.get\(|\[)\s*["'](?:LOCAL_RANK|RANK|WORLD_SIZE)["']|\binit_process_group\(""")
_STARTS_RANKS = re.compile(
    r"""\bspawn\(|\bstart_processes\(|\bProcess\(|\brank\s*=|environ\[["'](?:RANK|WORLD_SIZE)["']\]\s*="""
)
_ALONE = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1"}
_MEETING = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}


def be_launched(source: str, recorder: Recorder) -> None:
    """Sets what a launcher of one rank would have set, where a program asks for it and starts no ranks of its own."""
    asks = _ASKS.search(source)
    if asks is None or _STARTS_RANKS.search(source):
        return
    os.environ.update(_ALONE | _MEETING)
    line = source.count("\n", 0, asks.start()) + 1
    column = asks.start() - source.rfind("\n", 0, asks.start()) - 1
    site = recorder.sites.fixed((line, line, column, column + len(asks[0])))
    recorder.outbox.say(Found("launched_alone", "note", site, {}))
