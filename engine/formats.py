"""What is stored in older formats made current: one step from each version to the next.

A new version of the trace replaces the literal in `engine/trace.py`; here stands the step that leads to it from the one
before.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from engine.trace import FORMAT, Trace

Document = dict[str, Any]
"""Something stored as JSON, of whatever version."""


class Step(NamedTuple):
    """The way from one version to the next."""

    to: str
    """The format it leads to."""
    convert: Callable[[Document], Document]
    """The document with everything but `format` as the next version has it; may change the one it is given."""


STEPS: dict[str, Step] = {}
"""Of traces, by the format that a step starts from."""


class UnreadableFormat(Exception):
    """Something stored that cannot be made current: of a newer format, of one that never was, or damaged."""


def migrate(stored: bytes) -> bytes:
    """The JSON of a trace in the current format, from JSON in any that has a way to it. Raises UnreadableFormat."""
    try:
        return msgspec.json.encode(msgspec.convert(advanced(stored, STEPS, FORMAT), Trace))
    except msgspec.MsgspecError as wrong:
        raise UnreadableFormat(f"{type(wrong).__name__}: {wrong}") from wrong


def advanced(stored: bytes, steps: Mapping[str, Step], current: str) -> Document:
    """What is stored as the current format has it, by the steps of its family of formats. Raises UnreadableFormat."""
    try:
        document = msgspec.json.decode(stored, type=Document)
        while (form := document["format"]) != current:
            step = steps[form]
            document = {**step.convert(document), "format": step.to}
        return document
    except (LookupError, TypeError, ValueError, AttributeError, msgspec.MsgspecError) as wrong:
        raise UnreadableFormat(f"{type(wrong).__name__}: {wrong}") from wrong
