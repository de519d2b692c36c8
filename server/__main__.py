"""Serve: `python -m server [--host H] [--port N]`; every other option is an environment variable."""

import argparse
import contextlib
import ctypes
import dataclasses
import logging
import sys

import uvicorn

from server.app import create_app
from server.settings import BadSetting, Settings

PR_SET_DUMPABLE = 4


def main() -> None:
    """Read the options and serve until told to stop."""
    try:
        settings = Settings.from_environment()
    except BadSetting as wrong:
        sys.exit(f"gradgraph: {wrong}")
    parser = argparse.ArgumentParser(prog="python -m server", description="Serve Gradgraph.")
    parser.add_argument("--host", default=settings.host, help="address to listen on")
    parser.add_argument("--port", type=int, default=settings.port, help="port to listen on")
    options = parser.parse_args()
    settings = dataclasses.replace(settings, host=options.host, port=options.port)
    hide_memory()
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    uvicorn.run(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        log_level="info",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=5,
    )


def hide_memory() -> None:
    """Let no other process of this user read the server's memory or environment, and let no core be dumped."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


if __name__ == "__main__":
    main()
