"""Be a worker node of a cluster: `python -m server.worker`; every option is an environment variable.

It takes runs from the broker that `GRADGRAPH_RUNNER` names and listens to nobody else. Told to stop, it takes no more,
finishes what it has, and gives back what takes longer."""

import argparse
import asyncio
import logging
import signal
import sys
from collections.abc import Sequence

from engine.keys import versions
from server.isolation import WeakIsolation, check_isolation
from server.local_runner import LocalRunner
from server.process import hide_memory
from server.settings import PREFIX, BadSetting, Settings

PATIENCE_S = 12.0
"""What runs may still take once the worker is told to stop: a little more than the most one may have."""

log = logging.getLogger("gradgraph.worker")


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the options and work until told to stop; 1 for a bad setting or a sandbox that does not hold."""
    argparse.ArgumentParser(prog="python -m server.worker", description="Be a worker node of a cluster.").parse_args(
        arguments
    )
    try:
        settings = Settings.from_environment()
        if not settings.runner:
            raise BadSetting(f"{PREFIX}RUNNER is empty: a worker needs the broker it takes its runs from")
    except BadSetting as wrong:
        print(f"gradgraph: {wrong}", file=sys.stderr)
        return 1
    hide_memory()
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    try:
        asyncio.run(work(settings))
    except WeakIsolation as weak:
        print(f"gradgraph: {weak}", file=sys.stderr)
        return 1
    return 0


async def work(settings: Settings) -> None:
    """Perform runs until this process is told to stop."""
    from server.cluster.connection import Connection
    from server.cluster.worker import WorkerNode

    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    runner = LocalRunner(settings.workers, settings.slow_workers, settings.memory_bytes, settings.cuda_share)
    try:
        await runner.start()
        check_isolation(runner.isolation, settings)
        connection = Connection(settings.runner, settings.runner_ca)
        await connection.open()
        log.info("%s takes runs", connection.user)
        await WorkerNode(connection, runner, versions().engine).serve(stopped, PATIENCE_S)
        await connection.close()
    finally:
        await runner.close()


if __name__ == "__main__":
    sys.exit(main())
