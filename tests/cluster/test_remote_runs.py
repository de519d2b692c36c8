"""Live runs as a web node sees them, with a leader whose answers are written here."""

import asyncio
from pathlib import Path

import msgspec

from engine import Program, RunRequest
from engine.trace import Record
from server.cluster.connection import Connection
from server.cluster.messages import Enter, Reply, Standing, Stopped
from server.cluster.remote_runs import RemoteRuns
from server.queue import Client
from server.runner import Progressed
from server.traces import Traces
from tests.server.stores import store_in


class Leader(Connection):
    """Lets every run in, and stops every one."""

    def __init__(self) -> None:
        self.entered: list[str] = []

    async def ask(self, subject: str, message: Record, patience_s: float = 0.0) -> bytes:
        reply: Reply = Stopped(begun=True)
        if isinstance(message, Enter):
            self.entered.append(message.ask)
            reply = Standing(
                run=message.run,
                state="running",
                ahead=0,
                expected_s=0.0,
                progress=Progressed(elapsed_s=0.0, line=0, ops=0),
            )
        return msgspec.msgpack.encode(reply)

    async def say(self, subject: str, message: Record) -> None:
        pass


def test_who_asks_for_a_run_that_was_stopped_has_another(tmp_path: Path) -> None:
    async def check() -> None:
        leader = Leader()
        traces = Traces(store_in(tmp_path), 1 << 20)
        runs = RemoteRuns("node", leader, traces, 1 << 20)
        request, client = RunRequest(program=Program(code="print(1)")), Client("here", None)
        first = await runs.enter("run", request, client)
        assert await runs.enter("run", request, client) is first
        assert await first.stop(client)
        again = await runs.enter("run", request, client)
        assert again is not first
        assert await runs.find("run") is again
        assert leader.entered[0] == leader.entered[1] != leader.entered[2]
        await runs.close()
        await traces.close()

    asyncio.run(check())
