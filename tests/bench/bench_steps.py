"""A step, panning and the opening of a stored run, at 1,000 and 10,000 nodes: a real server, a real Chromium.

The clock runs to the painted frame, so that it tells no less than the time to the next one; what the page's thread takes
of the processor is told beside it. Where other work shares the processors, that says more."""

import json
from collections import defaultdict
from pathlib import Path

from tests.bench.bench_edit import row, told
from tests.bench.bench_http import serving
from tests.e2e.browser import browser

PROGRAMS = Path(__file__).parent.parent / "e2e" / "programs"
BUDGETS = {
    "scalar_mlp": {"step": "p50 16 ms", "pan": "p95 16 ms"},
    "ten_thousand_ops": {"step": "p50 33 ms", "pan": "p95 16 ms", "opening": "1,500 ms"},
}


def main() -> None:
    """Prints the figures."""
    if (chromium := browser()) is None:
        print("no chromium on this machine: not measured")
        return
    with serving() as http:
        for name, budgets in BUDGETS.items():
            code = (PROGRAMS / f"{name}.py").read_text(encoding="utf-8")
            trace = http.post("/api/v1/runs", json={"code": code}).json()
            times: dict[str, list[float]] = defaultdict(list)
            for line in told("steps.mjs", str(http.base_url), chromium, RUN=trace["id"]):
                said = json.loads(line)
                times[said["what"]].append(said["ms"])
            print(f"{name}: {len(trace['nodes'])} nodes, {len(trace['timeline'])} steps")
            for what, all_ms in times.items():
                row(f"  {what}", all_ms, budgets.get(what, ""))


if __name__ == "__main__":
    main()
