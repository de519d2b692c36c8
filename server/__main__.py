"""Serve: `python -m server [--host H] [--port N]`; every other option is an environment variable.

`python -m server --openapi` prints the OpenAPI document."""

import argparse
import asyncio
import contextlib
import dataclasses
import json
import logging
import socket
import sys
from collections.abc import Sequence

import uvicorn

from server.app import create_app
from server.process import hide_memory
from server.service import Service
from server.settings import BadSetting, Settings

PATIENCE_S = 3.0
"""What a run may still take once the server is told to stop."""
ANSWERING_S = 5
"""What a busy machine may then take to answer them with what they recorded: who is cut off is told so."""

IDLE_S = 75
"""How long a connection is kept on which nothing is asked: longer than proxies keep theirs (most 60 s), because what is
sent in the moment that it is closed is lost, and nobody sends a POST again."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the options and serve until told to stop; 1 for a bad setting, 3 when it could not listen."""
    try:
        settings = Settings.from_environment()
    except BadSetting as wrong:
        print(f"gradgraph: {wrong}", file=sys.stderr)
        return 1
    parser = argparse.ArgumentParser(prog="python -m server", description="Serve Gradgraph.")
    parser.add_argument("--host", default=settings.host, help="address to listen on")
    parser.add_argument("--port", type=int, default=settings.port, help="port to listen on")
    parser.add_argument("--openapi", action="store_true", help="print the OpenAPI document and serve nothing")
    options = parser.parse_args(arguments)
    settings = dataclasses.replace(settings, host=options.host, port=options.port)
    if options.openapi:
        print(json.dumps(create_app(settings).openapi(), indent=1, ensure_ascii=False))
        return 0
    hide_memory()
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    config = uvicorn.Config(
        create_app(settings, ready_first=not settings.is_local and not settings.runner),
        host=settings.host,
        port=settings.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=IDLE_S,
        timeout_graceful_shutdown=int(PATIENCE_S) + ANSWERING_S,
    )
    server = _Server(config)
    with contextlib.suppress(KeyboardInterrupt):
        server.run()
    return 0 if server.started else 3


class _Server(uvicorn.Server):
    """Says where it listens once it does, and lets nobody wait in vain when it is told to stop."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            port = self.servers[0].sockets[0].getsockname()[1]
            host = f"[{self.config.host}]" if ":" in self.config.host else self.config.host
            print(f"Gradgraph is at http://{host}:{port} (Ctrl+C stops it)", file=sys.stderr, flush=True)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        service: Service = self.config.app.state.service  # type: ignore[union-attr]
        service.rooms.wind_down()
        ending = asyncio.create_task(service.runs.wind_down(PATIENCE_S))
        await super().shutdown(sockets)
        ending.cancel()


if __name__ == "__main__":
    sys.exit(main())
