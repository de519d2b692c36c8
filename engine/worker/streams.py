"""What the program prints and is warned of, passed on unchanged and told to the ledger with the line."""

import io
import sys
import warnings
from types import FrameType
from typing import Any, Literal, TextIO

from engine.worker.record import Ledger


class _Bytes(io.RawIOBase):
    """The binary side of a stream: what programs write past the text layer."""

    def __init__(self, stream: "Stream") -> None:
        self.stream = stream

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.stream.write(bytes(data).decode("utf-8", "replace"))
        return len(data)


class Stream(io.TextIOBase):
    """Stands for `sys.stdout` or `sys.stderr`."""

    def __init__(self, ledger: Ledger, name: Literal["stdout", "stderr"], real: TextIO | None) -> None:
        self.ledger = ledger
        self.real = real
        self.kind = name
        self.kept = 0
        self.mode = "w"
        self._buffer = _Bytes(self)

    @property
    def name(self) -> str:
        return f"<{self.kind}>"

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"

    @property
    def errors(self) -> str:  # type: ignore[override]
        return "strict" if self.kind == "stdout" else "backslashreplace"

    @property
    def buffer(self) -> Any:
        return self._buffer

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        return 1 if self.kind == "stdout" else 2

    def flush(self) -> None:
        if self.real is not None:
            self.real.flush()

    def reconfigure(self, **options: object) -> None:
        """Real streams have it; nothing here depends on its options."""

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if self.real is not None:
            self.real.write(text)
        if text:
            self._tell(text, sys._getframe(1))
        return len(text)

    def _tell(self, text: str, frame: FrameType) -> None:
        left = self.ledger.limits.output_bytes - self.ledger.output_bytes
        size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
        self.ledger.output_bytes += size
        if left <= 0:
            return
        whole = size <= left
        if not whole:
            text = text.encode("utf-8", "replace")[:left].decode("utf-8", "ignore")
        if not text.isascii():
            text = text.encode("utf-8", "backslashreplace").decode("utf-8")  # a lone surrogate cannot be sent
        self.ledger.say("out", self.kind, text, self.ledger.site(frame), not whole)


def watch_warnings(ledger: Ledger) -> None:
    """Records each warning that is shown; `warnings` still prints it as it always does."""
    shown = warnings._showwarnmsg_impl  # type: ignore[attr-defined]

    def show(message: warnings.WarningMessage) -> None:
        if _is_ours(message.filename):
            _again(message)
            return
        text = str(message.message)
        ledger.say("w", message.category.__name__, text, ledger.site(sys._getframe(1)))
        shown(message)

    warnings._showwarnmsg_impl = show  # type: ignore[attr-defined]


def _is_ours(filename: str) -> bool:
    return filename.startswith(_HERE) or filename.endswith(_OVERRIDES)


def _again(message: warnings.WarningMessage) -> None:
    """Warns once more from the frame that would have been blamed without recording."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and not _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    while frame is not None and _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return
    names = frame.f_globals
    registry = names.setdefault("__warningregistry__", {})
    warnings.warn_explicit(
        message.message, message.category, frame.f_code.co_filename, frame.f_lineno,
        module=names.get("__name__") or "<unknown>", registry=registry, source=message.source,
    )  # fmt: skip


_HERE = __file__.removesuffix("streams.py")
_OVERRIDES = "torch/overrides.py"
