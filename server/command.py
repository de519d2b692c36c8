"""`gradgraph run FILE.py --svg OUT`, `gradgraph serve` and `gradgraph worker`: the product without a browser."""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Mapping, Sequence
from pathlib import Path

from engine import __main__ as engine
from engine.trace import Trace
from server import __main__ as serving
from server import worker
from server.exports import FILES, PICTURES, Look
from server.problems import Language, Problem
from server.views import Choice, views_of

NOT_WRITTEN = 3
STANDARD_OUTPUT = "-"


def main(arguments: Sequence[str] | None = None) -> int:
    """The engine's status (0, with `--fail` 1, 2 for bad arguments); 3 when a file could not be made or written."""
    parser = argparse.ArgumentParser(prog="gradgraph", description="See what PyTorch's autograd really did.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="run | serve | worker")
    run = verbs.add_parser("run", help="run a program and write its trace, or its graph in other formats")
    _add_arguments(run)
    verbs.add_parser("serve", help="serve the page and the API", add_help=False)
    verbs.add_parser("worker", help="perform the runs of a cluster", add_help=False)
    given, others = parser.parse_known_args(arguments)
    if given.verb == "serve":
        return serving.main(others)
    if given.verb == "worker":
        return worker.main(others)
    if others:
        run.error(f"unrecognized arguments: {' '.join(others)}")
    return _run(run, given)


def quietly() -> None:
    """The installed command."""
    engine.until_nobody_reads(main)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    engine.add_arguments(parser)
    outputs = parser.add_argument_group("files", "each takes a path, or - for standard output; without any, JSON")
    outputs.add_argument("--json", metavar="OUT", help="The trace.")
    says = {name: made.says for name, made in PICTURES.items()} | {name: made.says for name, made in FILES.items()}
    for name, sentence in says.items():
        outputs.add_argument(f"--{_option(name)}", metavar="OUT", help=sentence)
    look = parser.add_argument_group("the picture")
    look.add_argument("--step", type=int, metavar="N", help="step of the timeline it shows; else the end")
    look.add_argument("--lang", choices=("en", "zh"), default="en", help="language of its words")
    look.add_argument("--theme", choices=("light", "dark"), default="light", help="its colours")
    says = "off: all of a program that asks its reader, not only what was there before its first question"
    look.add_argument("--questions", choices=("on", "off"), default="on", help=says)


def _option(name: str) -> str:
    """`--py` writes program.py, `--timing` timing.json, `--svg` the picture of that extension."""
    return {"program.py": "py", "timing.json": "timing"}.get(name, name)


def _run(parser: argparse.ArgumentParser, given: argparse.Namespace) -> int:
    wanted = {name: getattr(given, _option(name)) for name in (*PICTURES, *FILES)}
    wanted = {name: path for name, path in wanted.items() if path is not None}
    if [*wanted.values(), given.json].count(STANDARD_OUTPUT) > 1:
        parser.error("only one file can go to standard output; give the others a path")
    trace = engine.traced(parser, given)
    last = len(trace.timeline)
    if given.step is not None and not 0 <= given.step <= last:
        parser.error(f"--step {given.step} is not a step of this run; give a whole number from 0 to {last}")
    look = Look(lang=given.lang, theme=given.theme, step=given.step, questions=given.questions)
    is_all_written = asyncio.run(_write_all(trace, wanted, look, given))
    if (not wanted and given.json is None) or given.summary or given.try_fixes:
        engine.say(trace, given)
    return engine.status(trace, given) if is_all_written else NOT_WRITTEN


async def _write_all(trace: Trace, paths: Mapping[str, str], look: Look, given: argparse.Namespace) -> bool:
    """Makes the files as the server makes them; one that cannot be made or written is told, and takes no other with
    it."""

    async def trace_text() -> bytes:
        return engine.json_text(trace, pretty=given.pretty).encode() + b"\n"

    written = [await _written(given.json, trace_text())] if given.json is not None else []
    async with views_of(trace) as views:
        for name, path in paths.items():
            is_file = name in FILES
            made = views.file(trace.id, name) if is_file else views.picture(trace.id, name, Choice(), look)
            written.append(await _written(path, made, look.lang))
    return all(written)


async def _written(path: str, made: Awaitable[bytes], language: Language = "en") -> bool:
    """Whether a file could be made and written; else a sentence says why not."""
    try:
        _write(path, await made)
    except BrokenPipeError:
        raise
    except Problem as refused:
        print(f"gradgraph: {refused.sentence(language)}", file=sys.stderr)
    except OSError as wrong:
        print(f"gradgraph: cannot write {path!r}: {wrong.strerror}; give another path", file=sys.stderr)
    else:
        return True
    return False


def _write(path: str, body: bytes) -> None:
    if path == STANDARD_OUTPUT:
        sys.stdout.buffer.write(body)
        sys.stdout.buffer.flush()
    else:
        Path(path).write_bytes(body)
