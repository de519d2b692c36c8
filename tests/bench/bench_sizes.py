"""Bytes on the wire, gzip: what each page loads before it can draw, and the traces of the larger models; and the
processor time from the last event of a run to the bytes that are sent."""

import gzip
import re
import time
from pathlib import Path

import msgspec

import engine
from engine.gc_pause import uncollected
from engine.outcome import Outcome
from engine.pipeline import trace_of
from engine.request import RunRequest
from engine.trace import Program, Timings
from server.frontend_files import FrontendFiles
from server.packing import packed
from tests.engine.worker.forked import said

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
    """Bytes of a file as the server sends it."""
    page = FrontendFiles(ASSETS).get(str(path.relative_to(ASSETS)))
    assert page is not None
    return len(page.zipped)


def styles_of(page: str) -> set[str]:
    """Style sheets a page names."""
    return set(re.findall(r"/assets/([\w.-]+\.css)", (ASSETS / page).read_text()))


def bundles() -> None:
    """Prints what the pages load. An embed shows, plays and selects with its scripts and styles and the words of one
    language; the layout comes with the first group that is opened, the sentences of findings with a run that has some.
    The playground shows a run with `run`."""
    for page in ("index.html", "embed.html"):
        scripts, styles = (
            [zipped(ASSETS / "assets" / name) for name in names] for names in (loaded_by(page), styles_of(page))
        )
        print(
            f"{page:14} {sum(scripts) / 1000:7.1f} KB in {len(scripts)} scripts, {sum(styles) / 1000:.1f} KB of styles"
        )
    rest = sorted((ASSETS / "assets").glob("*.js"))
    for part in ("run", "editor", "layout"):
        size = max(zipped(file) for file in rest if file.name.startswith(f"{part}-"))  # each page has its own, the same
        print(f"{part + ' chunk':14} {size / 1000:7.1f} KB")
    for language in ("en", "zh"):
        *_, few, titles, words, findings = sorted(zipped(file) for file in rest if file.name.startswith(f"{language}-"))
        print(
            f"{'words ' + language:14} {words / 1000:7.1f} KB, of findings {findings / 1000:.1f} KB; "
            f"of embeds {few / 1000:.1f} and {titles / 1000:.1f} KB"
        )
    print(f"{'static SVG':14} {zipped(ASSETS / 'static-svg.js') / 1000:7.1f} KB")


def traces() -> None:
    """Prints the traces."""
    from tests.bench.bench_recording import HEAD, MODELS  # not for who counts bytes: it imports PyTorch

    for name, (build, step, _) in MODELS.items():
        if name[0] not in "def":
            continue
        trace = engine.run(HEAD + build + step)
        text = msgspec.json.encode(trace)
        size = len(gzip.compress(text, 6))
        print(
            f"trace {name:22} {size / 1000:7.0f} KB of {len(text) / 1e6:5.2f} MB  {trace.status}, {len(trace.nodes)} nodes"
        )


def finishing() -> None:
    """Prints what is left to do when a run has ended: processor time, the least of seven."""
    from tests.bench.bench_recording import HEAD, MODELS

    ended = Outcome(
        exit_code=0, signal=None, stopped_by=None, stderr_tail="", timings=Timings(total_ms=1.0),
        isolation=None, blobs=0,
    )  # fmt: skip
    for name, (build, step, _) in MODELS.items():
        if name[0] not in "def":
            continue
        code = HEAD + build + step
        lines = said(code)
        times = []
        for _ in range(7):
            with uncollected():
                began = time.process_time()
                trace = trace_of("run", RunRequest(program=Program(code=code)), lines, ended)
                assembled = time.process_time()
                msgspec.json.encode(trace)
                encoded = time.process_time()
                packed(trace, lines, ended)
                times.append((assembled - began, encoded - assembled, time.process_time() - encoded))
                del trace  # else the next one is charged with taking it down
        assemble, encode, pack = (min(column) * 1000 for column in zip(*times, strict=True))
        print(
            f"trace {name:22} {assemble:7.0f} ms assemble, {encode:5.0f} ms encode, {pack:5.0f} ms encode and compress"
        )


if __name__ == "__main__":
    bundles()
    traces()
    finishing()
