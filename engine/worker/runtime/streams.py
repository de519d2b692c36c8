"""What the program prints and is warned of, passed on unchanged and told to the recorder with the line."""

import contextlib
import io
import os
import warnings
from types import FrameType
from typing import Any, Literal

from engine.events import Printed, Warned
from engine.worker.capture.recorder import Recorder
from engine.worker.pytorch.internals import SHOW_WARNING, get_frame
from engine.worker.pytorch.patching import Patches
from engine.worker.pytorch.tracebacks import is_detour, is_ours


class RawStdout:
    """Catches what is written to the process's own stdout past Python's stream, by `os.write` or C code."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.real = os.dup(1)
        self.read_end, write_end = os.pipe()
        os.set_blocking(self.read_end, False)
        os.dup2(write_end, 1)
        os.close(write_end)

    def drain(self) -> None:
        """Tells what has arrived, and passes it on."""
        while True:
            try:
                data = os.read(self.read_end, 65536)
            except BlockingIOError:
                return
            if not data:
                return
            os.write(self.real, data)
            text = keep(self.recorder, data.decode("utf-8", "replace"))
            if text is not None:
                self.recorder.outbox.put(Printed("stdout", text[0], 0, text[1]))


def keep(recorder: Recorder, text: str) -> tuple[str, bool] | None:
    """As much of a text as the limit leaves, and whether that is less than all; None for nothing."""
    left = recorder.limits.output_bytes - recorder.counts.output_bytes
    if not text.isascii():
        text = text.encode("utf-8", "backslashreplace").decode("utf-8")  # a lone surrogate cannot be sent
    size = len(text) if text.isascii() else len(text.encode())
    recorder.counts.add_output(size)
    if left <= 0 or recorder.closed:
        return None
    return (text, False) if size <= left else (text.encode()[:left].decode("utf-8", "ignore"), True)


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

    def __init__(
        self, recorder: Recorder, name: Literal["stdout", "stderr"], real: int, below: RawStdout | None = None
    ) -> None:
        self.recorder = recorder
        self.real = real
        self.kind = name
        self.below = below
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
        """Nothing waits here."""

    def reconfigure(self, **options: object) -> None:
        """Real streams have it; nothing here depends on its options."""

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if self.below is not None:
            self.below.drain()
        if text:
            encoded = text.encode("utf-8", self.errors)
            with contextlib.suppress(OSError):  # nobody reads the process's own streams
                os.write(self.real, encoded)
            kept = keep(self.recorder, text)
            if kept is not None:
                self.recorder.outbox.say(Printed(self.kind, kept[0], self.recorder.sites.of(get_frame(1)), kept[1]))
        return len(text)


def watch_warnings(recorder: Recorder, patches: Patches) -> None:
    """Records each warning that is shown; `warnings` still prints it as it always does."""
    shown = SHOW_WARNING.get()

    def show(message: warnings.WarningMessage) -> None:
        if _is_ours(message.filename):
            _again(message)
            return
        text = str(message.message)
        recorder.outbox.say(Warned(message.category.__name__, text, recorder.sites.of(_warned(message, get_frame(1)))))
        shown(message)

    patches.replace(SHOW_WARNING, show)


def _is_ours(filename: str) -> bool:
    return is_ours(filename) or is_detour(filename)


def _warned(message: warnings.WarningMessage, innermost: FrameType) -> FrameType:
    """The frame whose line the warning names: with `stacklevel` not the innermost one."""
    frame: FrameType | None = innermost
    while frame is not None:
        if frame.f_lineno == message.lineno and frame.f_code.co_filename == message.filename:
            return frame
        frame = frame.f_back
    return innermost


def _again(message: warnings.WarningMessage) -> None:
    """Warns once more from the frame that would have been blamed without recording."""
    frame = _blamed(get_frame(2))
    if frame is None:
        return
    names = frame.f_globals
    registry = names.setdefault("__warningregistry__", {})
    warnings.warn_explicit(
        message.message, message.category, frame.f_code.co_filename, frame.f_lineno,
        module=names.get("__name__") or "<unknown>", registry=registry, source=message.source,
    )  # fmt: skip


def _blamed(frame: FrameType | None) -> FrameType | None:
    while frame is not None and not _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    detour = False
    while frame is not None and _is_ours(frame.f_code.co_filename):
        detour = is_detour(frame.f_code.co_filename)
        frame = frame.f_back
    return frame.f_back if detour and frame is not None else frame
