"""Bytes on the wire, gzip: what each page loads before it can draw, and the traces of the larger models."""

import gzip
import re
from pathlib import Path

import msgspec

import engine
from tests.bench.bench_recording import HEAD, MODELS

ASSETS = Path(__file__).parents[2] / "server" / "assets"
_STATIC_IMPORT = re.compile(r"""(?:\bimport|\bfrom)\s*["']\./([\w.-]+\.js)["']""")


def loaded_by(page: str) -> set[str]:
    """Scripts a page loads at once: those it names, and what they import statically."""
    found: set[str] = set()
    waiting = set(re.findall(r"/assets/([\w.-]+\.js)", (ASSETS / page).read_text()))
    while waiting:
        name = waiting.pop()
        found.add(name)
        text = (ASSETS / "assets" / name).read_text()
        waiting |= set(_STATIC_IMPORT.findall(text)) - found
    return found


def zipped(path: Path) -> int:
    """Bytes of a file after gzip."""
    return len(gzip.compress(path.read_bytes(), 9))


def bundles() -> None:
    """Prints the pages' scripts."""
    for page in ("index.html", "embed.html"):
        names = loaded_by(page)
        print(
            f"{page:14} {sum(zipped(ASSETS / 'assets' / name) for name in names) / 1000:7.1f} KB in {len(names)} scripts"
        )
    rest = sorted((ASSETS / "assets").glob("*.js"))
    for part in ("editor", "Graph", "Inspector", "layout", "en", "zh"):
        size = sum(zipped(file) for file in rest if file.name.startswith(f"{part}-"))
        print(f"{part + ' chunk':14} {size / 1000:7.1f} KB")
    print(f"{'static SVG':14} {zipped(ASSETS / 'static-svg.js') / 1000:7.1f} KB")


def traces() -> None:
    """Prints the traces."""
    for name, (build, step, _) in MODELS.items():
        if name[0] not in "def":
            continue
        trace = engine.run(HEAD + build + step)
        text = msgspec.json.encode(trace)
        size = len(gzip.compress(text, 6))
        print(
            f"trace {name:22} {size / 1000:7.0f} KB of {len(text) / 1e6:5.2f} MB  {trace.status}, {len(trace.nodes)} nodes"
        )


if __name__ == "__main__":
    bundles()
    traces()
