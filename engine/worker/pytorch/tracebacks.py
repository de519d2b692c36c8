"""Makes tracebacks and stacks look as they do without recording, wherever the program prints them."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from engine.worker.pytorch.internals import EXTRACT_STACK
from engine.worker.pytorch.patching import Patches

_HERE = str(Path(__file__).resolve().parents[1])
_OVERRIDES = "torch/overrides.py"
_BASE = str(Path(__file__).resolve().parents[1] / "runtime" / "execute.py")

Entry = tuple[FrameType, Any]


def is_ours(filename: str) -> bool:
    """Whether a frame of this file exists only because of recording."""
    return filename.startswith(_HERE)


def is_detour(filename: str) -> bool:
    """Whether PyTorch takes its way through this file only because a mode is active."""
    return filename.endswith(_OVERRIDES)


def plain(entries: list[Entry]) -> list[Entry]:
    """The frames plain Python would have, outermost first.

    Ours go, with all that is outside the program; so does the detour through `torch/overrides.py`, and with it the
    first of the two frames of the function that is called again past the mode.
    """
    kept: list[Entry] = []
    detour = False
    for entry in entries:
        name = entry[0].f_code.co_filename
        if name == _BASE:
            kept.clear()
        elif is_detour(name):
            detour = True
        elif not is_ours(name):
            if detour and kept and kept[-1][0].f_code is entry[0].f_code:
                kept.pop()
            detour = False
            kept.append(entry)
    return kept


def clean_tracebacks(patches: Patches) -> None:
    """All of `traceback`, `logging` and `warnings` print frames that pass through this one place (Python 3.11)."""
    extract = EXTRACT_STACK.get().__func__

    def cleaned(cls: type, /, frames: Iterable[Entry], **options: Any) -> Any:
        return extract(cls, _cleaned(frames), **options)

    patches.replace(EXTRACT_STACK, classmethod(cleaned))


def _cleaned(frames: Iterable[Entry]) -> Iterator[Entry]:
    entries = list(frames)
    inner_first = len(entries) > 1 and entries[0][0].f_back is entries[1][0]
    if inner_first:
        entries.reverse()
    kept = plain(entries)
    if inner_first:
        kept.reverse()
    yield from kept
