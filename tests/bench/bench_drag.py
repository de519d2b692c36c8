"""A number dragged for ten seconds: from each movement to the painted picture of it.

The clock begins when the browser learns of the movement and ends when the page has painted: up to a frame of 16 ms before
the page is told, and another until it may paint, are in it. For a value that a movement went over it begins with that
movement. Values that a newer one overtook have no picture and are not in the figures; how many pictures there were a second
is. The machine is meant to have two quiet processors; elsewhere compare it with the requests of the same run."""

import json
from typing import TypedDict

from tests.bench.bench_edit import row, told
from tests.bench.bench_http import serving
from tests.e2e.browser import browser

SECONDS = 10


class Said(TypedDict, total=False):
    """A picture, or an answer of the server, in milliseconds."""

    picture_ms: float
    asked_ms: float


def main() -> None:
    """Prints the figures."""
    if (chromium := browser()) is None:
        print("no chromium on this machine: not measured")
        return
    with serving() as http:
        lines = told("drag.mjs", str(http.base_url), chromium, SECONDS=str(SECONDS))
    said: list[Said] = [json.loads(line) for line in lines]
    pictures = [line["picture_ms"] for line in said if "picture_ms" in line]
    row("drag a number -> picture on screen", pictures, "p50 33 ms, p95 50 ms")
    row("  a request, overtaken ones among them", [line["asked_ms"] for line in said if "asked_ms" in line])
    print(f"  pictures a second: {len(pictures) / SECONDS:.0f}")


if __name__ == "__main__":
    main()
