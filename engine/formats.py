"""Traces of older formats made current: one step from each version to the next.

A new version replaces the literal in `engine/trace.py`; here stands the step that leads to it from the one before.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from engine.trace import FORMAT, Trace

Document = dict[str, Any]
"""A trace as JSON, of whatever version."""


class Step(NamedTuple):
    """The way from one version to the next."""

    to: str
    """The format it leads to."""
    convert: Callable[[Document], Document]
    """The document with everything but `format` as the next version has it; may change the one it is given."""


STEPS: dict[str, Step] = {}
"""By the format that a step starts from."""


class UnreadableFormat(Exception):
    """A stored trace that cannot be made current: of a newer format, of one that never was, or damaged."""


def migrate(stored: bytes) -> bytes:
    """The JSON of a trace in the current format, from JSON in any that has a way to it. Raises UnreadableFormat."""
    try:
        document = msgspec.json.decode(stored, type=Document)
        while (form := document["format"]) != FORMAT:
            step = STEPS[form]
            document = {**step.convert(document), "format": step.to}
        return msgspec.json.encode(msgspec.convert(document, Trace))
    except (LookupError, TypeError, ValueError, AttributeError, msgspec.MsgspecError) as wrong:
        raise UnreadableFormat(f"{type(wrong).__name__}: {wrong}") from wrong
