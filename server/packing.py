"""The trace of a finished run as it is kept and sent."""

import base64
import binascii
import gzip
import logging
import math
from collections.abc import Sequence

import msgspec

from engine import events
from engine.gc_pause import uncollected
from engine.outcome import Outcome
from engine.pipeline import trace_of
from engine.request import RunRequest
from engine.supervisor_failures import stacks
from engine.trace import Trace
from server import npy
from server.runner import Finished
from server.store import Stored, etag

log = logging.getLogger("gradgraph.runs")

LARGE_BYTES = 256 * 1024
"""Traces above this size are compressed less hard."""
_TRIED_BYTES = 16 * 1024
_PAYS = 0.8
_KILLED = 9
"""A process killed from outside before its first word: most likely it never had its program."""
STORED_STATUS = ("ok", "failed")
"""A run that a limit stopped, that crashed or was lost may end otherwise the next time."""


def finish(run: str, request: RunRequest, lines: Sequence[bytes], outcome: Outcome, waited_ms: float) -> Finished:
    """The trace of a run as it is kept and sent."""
    with uncollected():
        return packed(trace_of(run, request, lines, outcome, waited_ms), lines, outcome)


def packed(trace: Trace, lines: Sequence[bytes], outcome: Outcome) -> Finished:
    """A trace as it is kept and sent."""
    if trace.failure and trace.failure.limit == "wall_s" and not trace.failure.span:
        log.warning("run %s ran out of time outside the program: %s", trace.id, "; ".join(stacks(outcome.stderr_tail)))
    text = msgspec.json.encode(trace)
    body = gzip.compress(text, 6 if len(text) < LARGE_BYTES else 3, mtime=0)
    return Finished(
        status=trace.status,
        lost=outcome.stopped_by is None and (_is_lost(trace) or (outcome.signal == _KILLED and not lines)),
        stored=Stored(body=body, etag=etag(body), tensors=_files(trace, lines), kept=trace.status in STORED_STATUS),
        codes=tuple(finding.code for finding in trace.findings),
    )


def _is_lost(trace: Trace) -> bool:
    return trace.failure is not None and trace.failure.kind == "lost"


def _files(trace: Trace, lines: Sequence[bytes]) -> dict[str, bytes]:
    """The larger tensors whose elements were kept, as compressed .npy files; a blob that fits no tensor is dropped."""
    shapes = {tensor.id: tensor.shape for tensor in trace.tensors if tensor.stored}
    files = {}
    for blob in map(_blob, reversed(lines)):  # they are the last words
        if blob is None or not shapes:
            break
        if shapes.pop(f"t{blob.tensor}", None) == blob.shape and (file := _file(blob)):
            files[f"t{blob.tensor}"] = _zipped(file)
    return files


def _zipped(file: bytes) -> bytes:
    """Compressed where that pays: random numbers, such as fresh weights, would take long and hardly shrink."""
    start = file[:_TRIED_BYTES]
    pays = len(gzip.compress(start, 1, mtime=0)) < _PAYS * len(start)
    return gzip.compress(file, 3 if pays else 0, mtime=0)


def _blob(line: bytes) -> events.BlobSaid | None:
    try:
        event = events.decode(line)
    except events.NoEvent:
        return None
    return event if isinstance(event, events.BlobSaid) else None


def _file(blob: events.BlobSaid) -> bytes | None:
    elements = npy.element_format(blob.dtype)
    try:
        data = base64.b64decode(blob.data)
    except binascii.Error:
        return None
    if elements is None or len(data) != math.prod(blob.shape) * elements.size_bytes:
        return None
    return npy.write(data, blob.shape, elements)
