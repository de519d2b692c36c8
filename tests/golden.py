"""Canonical traces of the gallery: `python -m tests.golden [NAME ...]` writes `gallery/NAME.json` anew.

A canonical trace holds no time (of those that a program prints, “… ms”), address, path or version; floats have four significant digits. Structure is compared
exactly, numbers with a tolerance that holds on any CPU.
"""

import json
import math
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeAlias, cast

import msgspec

import engine
from engine.trace import Trace
from server.lesson_text import Glossary, paragraphs
from server.lessons import words_of
from server.wire import Piece

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

GALLERY = Path(__file__).parent.parent / "gallery"
WORDS = GALLERY.parent / "frontend" / "words"
DROPPED = frozenset(
    {
        "environment",
        "file",
        "limits",
        "sequence_nr",
        "thumbnail",
        "time_us",
        "timings",
        "traceback",
    }
)
"""Fields that differ between machines, or that say in another way what is kept."""
RTOL = 1e-3
ATOL = 1e-5
TEXT_ATOL = 2e-4
"""Printed numbers have four decimals."""
TIME = re.compile(r"\d+(?:\.\d+)?(?= ms\b)")
"""Measured by a program and printed by it."""
NUMBER = re.compile(r"-?\d+\.\d*(?:e[-+]?\d+)?|-?\d+")


def main(names: list[str]) -> None:
    """Write the canonical traces of the programs named, or of all, and say what was checked of those named."""
    if absent := set(names) - {path.stem for path in programs()}:
        raise SystemExit(f"there is no {', '.join(f'gallery/{name}.py' for name in sorted(absent))}")
    for path in programs():
        if not names or path.stem in names:
            trace = write(path)
            if names:
                checked = f"{len(trace.questions)} questions and {len(trace.sliders)} ranges are in order"
                print(f"{path.stem}: {checked}; written {golden_path(path).relative_to(GALLERY.parent)}")


def write(path: Path) -> Trace:
    """Write the canonical trace of one program and check what its author wrote. Raises SystemExit with a sentence."""
    trace = engine.run(path.read_text(encoding="utf-8"))
    _check_words(path, trace)
    golden_path(path).write_text(render(canonical(trace)), encoding="utf-8")
    if empty := empty_phrases(path):
        raise SystemExit(f"{path.stem}.toml: the run has nothing that “{empty[0]}” names")
    return trace


def _check_words(path: Path, trace: Trace) -> None:
    """Ends where a question or a range of the program is one that its run can do nothing with, or has no words."""
    failure = trace.failure
    failed = f" The program failed: {failure.type}: {failure.message}" if failure is not None else ""
    for question in trace.questions:
        if question.problem:
            at = {"what": question.text, "line": question.span.line, "n": question.visit}
            told = _sentence("questions", f"question.problem.{question.problem}", at)
            raise SystemExit(f"{path.name}: {told}{failed}")
    for slider in trace.sliders:
        if slider.problem:
            at = {"what": slider.name, "line": slider.span.line}
            raise SystemExit(f"{path.name}: {_sentence('sliders', f'slider.problem.{slider.problem}', at)}")
    try:
        words = words_of(path.with_suffix(".toml"))
    except (OSError, ValueError) as error:
        raise SystemExit(str(error)) from None
    if len(written := words.get("questions", ())) != len(trace.questions):
        raise SystemExit(f"{path.stem}.toml has {len(written)} [[questions]], the program {len(trace.questions)}")


def _sentence(part: str, key: str, values: dict[str, object]) -> str:
    """What the page says to the author."""
    words: dict[str, str] = json.loads((WORDS / part / "en.json").read_text(encoding="utf-8"))
    return words[key].format_map(values)


glossary = cache(Glossary)
"""The terms of a language: reading them takes longer than finding them in a text."""


def pieces(text: str, language: str) -> Iterator[Piece]:
    """What a lesson says, in one row."""
    for paragraph in paragraphs(text, glossary(language)):
        yield from paragraph


def empty_phrases(program: Path) -> list[str]:
    """What phrases of a lesson speak of without it being there: neither a tensor or its gradient, nor a node, nor code."""
    code, trace = program.read_text(encoding="utf-8"), json.loads(golden_path(program).read_text(encoding="utf-8"))
    names = {node["type"] for node in trace["nodes"]}
    names |= {name for tensor in trace["tensors"] for name in tensor.get("names", ())}
    said = tomllib.loads(program.with_suffix(".toml").read_text(encoding="utf-8"))["text"]
    spoken = (piece.at for language, text in said.items() for piece in pieces(text, language) if piece.at)
    return [at for at in spoken if at.removesuffix(".grad") not in names and at not in names and at not in code]


def programs() -> list[Path]:
    """The gallery's programs."""
    return sorted(GALLERY.glob("*.py"))


def golden_path(program: Path) -> Path:
    return program.with_suffix(".json")


def canonical(trace: Trace) -> dict[str, Json]:
    """The trace without what differs from run to run and from machine to machine."""
    whole = cast(dict[str, Json], json.loads(msgspec.json.encode(trace)))
    del whole["id"]
    del cast(dict[str, Json], whole["program"])["code"]
    return cast(dict[str, Json], _reduced(whole))


def _reduced(value: Json) -> Json:
    if isinstance(value, dict):
        return {
            key: _reduced(item) for key, item in value.items() if key not in DROPPED and not _said_elsewhere(key, value)
        }
    if isinstance(value, list):
        return [_reduced(item) for item in value]
    if isinstance(value, str):
        return TIME.sub("…", value)
    if isinstance(value, float):
        return float(f"{value:.4g}")
    return value


def _said_elsewhere(key: str, owner: dict[str, Json]) -> bool:
    """Whether this is the line of a frame in library code, or the device that every run of the gallery has."""
    return (key == "line" and "file" in owner) or (key == "device" and owner[key] == "cpu")


def render(trace: dict[str, Json]) -> str:
    """JSON with one record a line, so that a change can be read."""
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {_lines(item)}" for key, item in trace.items()) + "\n}\n"


def _lines(value: Json) -> str:
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(f" {json.dumps(item, ensure_ascii=False)}" for item in value) + "\n]"
    return json.dumps(value, ensure_ascii=False)


def differences(expected: Json, got: Json, at: str = "") -> Iterator[str]:
    """Where two canonical traces disagree."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in sorted(expected.keys() | got.keys()):
            if key in expected and key in got:
                yield from differences(expected[key], got[key], f"{at}.{key}")
            else:
                yield f"{at}.{key}: {'missing' if key in expected else 'new'}"
    elif isinstance(expected, list) and isinstance(got, list):
        yield from _list_differences(expected, got, at)
    elif isinstance(expected, str) and isinstance(got, str):
        if not _same_text(expected, got):
            yield f"{at}: expected {expected!r}, got {got!r}"
    elif not _close(expected, got, 0.0):
        yield f"{at}: expected {expected!r}, got {got!r}"


def _list_differences(expected: list[Json], got: list[Json], at: str) -> Iterator[str]:
    if len(expected) != len(got):
        yield f"{at}: expected {len(expected)} items, got {len(got)}"
        return
    scale = max((abs(item) for item in expected if isinstance(item, int | float)), default=0.0)
    for number, (wanted, said) in enumerate(zip(expected, got, strict=True)):
        if not (isinstance(wanted, float) and _close(wanted, said, scale)):
            yield from differences(wanted, said, f"{at}[{number}]")


def _close(expected: Json, got: Json, scale: float) -> bool:
    """Equal, or floats as close as any two CPUs agree; a large neighbour in the same tensor allows more."""
    if isinstance(expected, float) and isinstance(got, int | float):
        return math.isclose(expected, got, rel_tol=RTOL, abs_tol=ATOL * max(1.0, scale))
    return expected == got


def _same_text(expected: str, got: str) -> bool:
    if expected == got:
        return True
    wanted, said = NUMBER.findall(expected), NUMBER.findall(got)
    return NUMBER.split(expected) == NUMBER.split(got) and all(
        math.isclose(float(a), float(b), rel_tol=RTOL, abs_tol=TEXT_ATOL) for a, b in zip(wanted, said, strict=True)
    )


if __name__ == "__main__":
    main(sys.argv[1:])
