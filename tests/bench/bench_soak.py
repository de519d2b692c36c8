"""Thousands of people and attackers: memory and descriptors of a server, round by round. Runs only when named."""

import tempfile
from pathlib import Path

from tests import soak

ROUNDS = 10
MIB = 1024 * 1024


def main() -> None:
    """Prints a line a round."""
    with tempfile.TemporaryDirectory() as data, soak.server(Path(data), memory_cache_bytes=4 * MIB) as at:
        for number in range(ROUNDS):
            outcomes = soak.load(at, 3)
            held = at.holding()
            wrong = {name: count for name, count in outcomes.items() if name.startswith("UNEXPECTED")}
            print(
                f"round {number + 1:2}: {sum(outcomes.values()):6} runs, {held.rss_bytes / MIB:7.1f} MiB, "
                f"{held.descriptors} descriptors, {held.processes} processes, {held.folders} files  {wrong or ''}",
                flush=True,
            )


if __name__ == "__main__":
    main()
