"""Runs one program outside the sandbox: a `RunRequest` as JSON on stdin, events on descriptor 3 or to `--events
PATH`."""

import argparse
import os
import sys
from pathlib import Path

import msgspec

from engine.request import RunRequest
from engine.worker.runtime.execute import run


def main() -> None:
    """Reads the request and runs it."""
    parser = argparse.ArgumentParser(prog="python -m engine.worker", description=__doc__)
    parser.add_argument("--events", type=Path, help="file for the events; descriptor 3 when absent")
    options = parser.parse_args()
    request = msgspec.json.decode(sys.stdin.buffer.readline(), type=RunRequest)
    out = os.open(options.events, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644) if options.events else 3

    def emit(piece: bytes) -> None:
        view = memoryview(piece + b"\n")
        while view:
            view = view[os.write(out, view) :]

    run(request, emit)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
