"""Sends the recorder's events: encodes off the hot path, in the order they were said."""

import sys
import sysconfig
import threading
from collections.abc import Callable
from types import CodeType
from typing import Any

import msgspec
from msgspec.structs import astuple, replace

from engine.bounds import MOST_CHARACTERS
from engine.events import (
    Ended,
    Failed,
    Found,
    LinesNotRun,
    Omitted,
    PassEnded,
    Printed,
    Said,
    Site,
    Warned,
    tag_of,
)
from engine.program.spans import Lines
from engine.worker.capture.pictures import Pooled
from engine.worker.capture.recorder import Recorder
from engine.worker.pytorch.internals import Position, position_at, positions_of

_RESERVE_BYTES = 1 << 20
_LAST_WORDS = (Site, Printed, Warned, Failed, Ended, Omitted, PassEnded, LinesNotRun)
"""What is still said once the trace is full."""


def _library_paths() -> list[bytes]:
    """The folders that libraries are imported from, as an encoded line has them, the longest first."""
    folders = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders |= {path for path in sys.path if path.endswith(("site-packages", "dist-packages"))}
    return sorted((msgspec.json.encode(f"{path}/")[1:-1] for path in folders), key=len, reverse=True)


_LIBRARIES = _library_paths()


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
        self.sites_sent = self.sent_bytes = 0
        self._positions: dict[int, list[Position]] = {}
        """By id of the code, which `sites` holds."""
        self.full = False
        self._cuts_told = 0

    def flush(self) -> None:
        """Sends everything said so far. Several events go out as one piece of newline-separated lines."""
        with self.lock:
            batch = self.recorder.outbox.take()
            sites = self._sites()
            if sites or batch:
                self._send(sites + _joined(batch))

    def _send(self, rows: list[Said]) -> None:
        for start in range(0, len(rows), 2000):
            chunk = rows[start : start + 2000]
            if self.full:
                chunk = _last_words(chunk)
            piece = self._encoded(chunk)
            self.sent_bytes += len(piece)
            if not self.full and self.sent_bytes > self.recorder.limits.trace_bytes - _RESERVE_BYTES:
                self.full = True
                piece = self._encoded([Omitted("steps", "trace_bytes", 0, 0), *_last_words(chunk)])
            if piece:
                self.emit(piece)

    def _encoded(self, rows: list[Said]) -> bytes:
        """The lines of some events, and a word of the texts that were cut."""
        texts = self.recorder.texts
        lines = texts.bounded(_encode(rows).split(b"\n"))
        if texts.cut > self._cuts_told:
            self._cuts_told = texts.cut
            lines.append(_encoder.encode(Omitted("texts", "texts", MOST_CHARACTERS, texts.cut)))
        return b"\n".join(lines)

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


def _joined(rows: list[Said]) -> list[Said]:
    """The same with the pieces of one line as one: a program may write them letter by letter."""
    if sum([type(row) is Printed for row in rows]) < 2:
        return rows
    joined: list[Said] = []
    pieces: list[Printed] = []
    for row in rows:
        piece = row if isinstance(row, Printed) else None
        if pieces and (piece is None or not _goes_on(pieces[-1], piece)):
            joined.append(_one(pieces))
            pieces = []
        if piece is None:
            joined.append(row)
        else:
            pieces.append(piece)
    if pieces:
        joined.append(_one(pieces))
    return joined


def _goes_on(last: Printed, piece: Printed) -> bool:
    return (last.stream, last.site) == (piece.stream, piece.site) and not last.text.endswith("\n")


def _one(pieces: list[Printed]) -> Printed:
    last = pieces[-1]
    return last if len(pieces) == 1 else replace(last, text="".join([piece.text for piece in pieces]))


def _encode(rows: list[Said]) -> bytes:
    try:
        piece = _encoder.encode_lines(rows).rstrip(b"\n")
    except Exception:  # one row that cannot be said must not silence the others
        piece = b"\n".join([_line(row) for row in rows])
    for path in _LIBRARIES:  # where the operator keeps them is nobody's business
        piece = piece.replace(path, b"")
    return piece


def _line(row: Said) -> bytes:
    try:
        return _encoder.encode((tag_of(row), *_sayable(astuple(row))))
    except Exception as error:
        note = {"what": tag_of(row), "reason": f"{type(error).__name__}: {error}"[:300]}
        return _encoder.encode(Found("not_recorded", "note", 0, note))


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
