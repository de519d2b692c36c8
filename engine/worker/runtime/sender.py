"""Sends the ledger's rows: encodes off the hot path, in the order they were said."""

import threading
from collections.abc import Callable
from types import CodeType
from typing import Any

import msgspec

from engine.program.spans import Lines
from engine.worker.capture.record import Ledger, Row
from engine.worker.capture.tensors import Pooled
from engine.worker.compact.sampling import OPS_BYTES

_RESERVE_BYTES = 1 << 20
_LAST_WORDS = frozenset(("site", "out", "w", "fail", "end", "cut", "pe", "lines"))
"""What is still said once the trace is full."""


def _said(value: object) -> object:
    if isinstance(value, Pooled):
        return value.said()
    raise TypeError(f"{type(value).__name__} cannot be said")


_encoder = msgspec.json.Encoder(enc_hook=_said)


class Sender:
    """Drains a ledger; safe to call from any thread."""

    def __init__(self, ledger: Ledger, emit: Callable[[bytes], None], source: str) -> None:
        self.ledger = ledger
        self.emit = emit
        self.lines = Lines(source)
        self.lock = threading.Lock()
        self.sites_sent = 0
        self.bytes_sent = 0
        self.full = False

    def flush(self) -> None:
        """Sends everything said so far. Several events go out as one piece of newline-separated lines."""
        with self.lock:
            rows = self.ledger.outbox
            count = len(rows)
            batch = rows[:count]
            del rows[:count]
            sites = self._sites()
            if sites or batch:
                self._send(sites + batch)

    def _send(self, rows: list[Row]) -> None:
        for start in range(0, len(rows), 2000):
            chunk = rows[start : start + 2000]
            if self.full:
                chunk = [row for row in chunk if row[0] in _LAST_WORDS]
            piece = _encode(chunk)
            self.bytes_sent += len(piece)
            self.ledger.said_bytes = self.bytes_sent
            if self.bytes_sent >= OPS_BYTES:
                self.ledger.attention = -1
            if not self.full and self.bytes_sent > self.ledger.limits.trace_bytes - _RESERVE_BYTES:
                self.full = True
                piece = _encode(
                    [("cut", "steps", "trace_bytes", 0, 0), *[row for row in chunk if row[0] in _LAST_WORDS]]
                )
            if piece:
                self.emit(piece)

    def _sites(self) -> list[Row]:
        codes = self.ledger.site_codes
        rows: list[Row] = []
        while self.sites_sent < len(codes):
            place = codes[self.sites_sent]
            self.sites_sent += 1
            rows.append(("site", self.sites_sent, *(place if len(place) == 4 else self.position(*place))))
        return rows

    def position(self, code: CodeType, instruction: int) -> tuple[int, int, int, int]:
        """Line, end line, column and end column in code points."""
        for index, place in enumerate(code.co_positions()):
            if index == instruction // 2:
                line, end_line, column, end_column = place
                line = line or code.co_firstlineno
                end_line = end_line or line
                return (
                    line,
                    end_line,
                    self.lines.column(line, column or 0),
                    self.lines.column(end_line, end_column or 0),
                )
        return code.co_firstlineno, code.co_firstlineno, 0, 0


def _encode(rows: list[Row]) -> bytes:
    try:
        return _encoder.encode_lines(rows).rstrip(b"\n")
    except Exception:  # one row that cannot be said must not silence the others
        lines = []
        for row in rows:
            try:
                lines.append(_encoder.encode(_sayable(row)))
            except Exception as error:
                note = {"what": str(row[0]), "reason": f"{type(error).__name__}: {error}"[:300]}
                lines.append(_encoder.encode(("find", "not_recorded", "note", 0, note)))
        return b"\n".join(lines)


def _sayable(value: Any) -> Any:
    """The same with lone surrogates escaped, as Python writes them to stderr: UTF-8 has no bytes for them."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, tuple | list):
        return [_sayable(one) for one in value]
    if isinstance(value, dict):
        return {_sayable(key): _sayable(one) for key, one in value.items()}
    return value
