"""Prints the files and lines of each room and what changed since main's merge base, for everyone to see."""

import subprocess
from collections import Counter
from pathlib import Path

CODE = {".py", ".ts", ".svelte", ".mjs", ".css"}
DEEP = ("engine/worker", "frontend/src/app", "tests/engine")
"""Rooms whose folders are counted one by one."""


def tracked() -> list[str]:
    """Files git knows, without generated ones."""
    listing = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")
    return [name for name in listing if Path(name).suffix in CODE and not name.endswith("api/types.ts")]


def room_of(name: str) -> str:
    """The folder a file is counted in: the second from the top, in large rooms one further down."""
    folder = Path(name).parent
    depth = 3 if name.startswith("frontend/") else 2
    deep = next((len(Path(room).parts) + 1 for room in DEEP if folder.is_relative_to(room)), depth)
    return "/".join(folder.parts[:deep]) or "."


def main() -> None:
    """Prints the table, with the sums of what lies below engine, frontend and so on."""
    lines: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for name in tracked():
        if Path(name).exists():
            count = Path(name).read_text(encoding="utf8").count("\n")
            for room in {room_of(name), f"{name.split('/')[0]} in all"} if "/" in name else {room_of(name)}:
                files[room] += 1
                lines[room] += count
    for room in sorted(files):
        print(f"{room:28} {files[room]:4} files {lines[room]:6} lines")
    shortstat = ["git", "diff", "--shortstat", "origin/main...HEAD"]
    changed = subprocess.run(shortstat, capture_output=True, text=True, check=False).stdout.strip()
    if changed:
        print(f"since main: {changed}")


if __name__ == "__main__":
    main()
