"""Prints the lines of each room and what changed since main's merge base, for everyone to see."""

import subprocess
from collections import Counter
from pathlib import Path

ROOMS = ("engine", "engine/worker", "engine/sandbox", "server", "frontend/src", "gallery", "tests", "docs")
CODE = {".py", ".ts", ".svelte", ".mjs", ".css"}


def tracked() -> list[str]:
    """Files git knows, without generated ones."""
    listing = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")
    return [name for name in listing if Path(name).suffix in CODE and not name.endswith("api/types.ts")]


def room_of(name: str) -> str | None:
    """The innermost room a file lies in."""
    return max((room for room in ROOMS if name.startswith(room + "/")), key=len, default=None)


def main() -> None:
    """Prints the table."""
    lines: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for name in tracked():
        room = room_of(name)
        if room and Path(name).exists():
            files[room] += 1
            lines[room] += Path(name).read_text(encoding="utf8").count("\n")
    for room in ROOMS:
        print(f"{room:16} {files[room]:4} files {lines[room]:6} lines")
    shortstat = ["git", "diff", "--shortstat", "origin/main...HEAD"]
    changed = subprocess.run(shortstat, capture_output=True, text=True, check=False).stdout.strip()
    if changed:
        print(f"since main: {changed}")


if __name__ == "__main__":
    main()
