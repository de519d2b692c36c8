"""Sends the recorder's events: encodes off the hot path, in the order they were said."""

import threading
from collections.abc import Callable
from types import CodeType
from typing import Any

import msgspec
from msgspec.structs import astuple

from engine.events import Ended, Failed, Found, LinesNotRun, Omitted, PassEnded, Printed, Said, Site, Warned, tag_of
from engine.program.spans import Lines
from engine.worker.capture.pictures import Pooled
from engine.worker.capture.recorder import Recorder
from engine.worker.compact.sampling import OPS_BYTES
from engine.worker.pytorch.internals import Position, position_at, positions_of

_RESERVE_BYTES = 1 << 20
_LAST_WORDS = (Site, Printed, Warned, Failed, Ended, Omitted, PassEnded, LinesNotRun)
"""What is still said once the trace is full."""


def _said(value: object) -> object:
    if isinstance(value, Pooled):
        return value.said()
    raise TypeError(f"{type(value).__name__} cannot be said")


_encoder = msgspec.json.Encoder(enc_hook=_said)


class Sender:
    """Drains a recorder; safe to call from any thread."""

    def __init__(self, recorder: Recorder, emit: Callable[[bytes], None], source: str) -> None:
        self.recorder = recorder
        self.emit = emit
        self.lines = Lines(source)
        self.lock = threading.Lock()
        self.sites_sent = 0
        self._positions: dict[int, list[Position]] = {}
        """By id of the code, which `sites` holds."""
        self.full = False

    def flush(self) -> None:
        """Sends everything said so far. Several events go out as one piece of newline-separated lines."""
        with self.lock:
            batch = self.recorder.outbox.take()
            sites = self._sites()
            if sites or batch:
                self._send(sites + batch)

    def _send(self, rows: list[Said]) -> None:
        for start in range(0, len(rows), 2000):
            chunk = rows[start : start + 2000]
            if self.full:
                chunk = _last_words(chunk)
            piece = _encode(chunk)
            counts = self.recorder.counts
            counts.add_sent(len(piece))
            if counts.sent_bytes >= OPS_BYTES:
                counts.attend(asks=True)
            if not self.full and counts.sent_bytes > self.recorder.limits.trace_bytes - _RESERVE_BYTES:
                self.full = True
                piece = _encode([Omitted("steps", "trace_bytes", 0, 0), *_last_words(chunk)])
            if piece:
                self.emit(piece)

    def _sites(self) -> list[Said]:
        codes = self.recorder.sites.places
        rows: list[Said] = []
        while self.sites_sent < len(codes):
            place = codes[self.sites_sent]
            self.sites_sent += 1
            rows.append(Site(self.sites_sent, *(place if len(place) == 4 else self.position(*place))))
        return rows

    def position(self, code: CodeType, instruction: int) -> tuple[int, int, int, int]:
        """Line, end line, column and end column in code points."""
        positions = self._positions.get(id(code))
        if positions is None:  # walked once: a walk for each place would cost the square of a long program
            positions = self._positions[id(code)] = positions_of(code)
        line, end_line, column, end_column = position_at(positions, instruction) or (None, None, None, None)
        line = line or code.co_firstlineno
        end_line = end_line or line
        return line, end_line, self.lines.column(line, column or 0), self.lines.column(end_line, end_column or 0)


def _last_words(events: list[Said]) -> list[Said]:
    return [event for event in events if isinstance(event, _LAST_WORDS)]


def _encode(rows: list[Said]) -> bytes:
    try:
        return _encoder.encode_lines(rows).rstrip(b"\n")
    except Exception:  # one row that cannot be said must not silence the others
        lines = []
        for row in rows:
            try:
                lines.append(_encoder.encode((tag_of(row), *_sayable(astuple(row)))))
            except Exception as error:
                note = {"what": tag_of(row), "reason": f"{type(error).__name__}: {error}"[:300]}
                lines.append(_encoder.encode(Found("not_recorded", "note", 0, note)))
        return b"\n".join(lines)


def _sayable(value: Any) -> Any:
    """The same with lone surrogates escaped, as Python writes them to stderr: UTF-8 has no bytes for them."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, tuple | list):
        return [_sayable(item) for item in value]
    if isinstance(value, dict):
        return {_sayable(key): _sayable(item) for key, item in value.items()}
    if isinstance(value, msgspec.Struct):
        return _sayable(astuple(value))
    return value
