"""What the program prints and is warned of, passed on unchanged and told to the recorder with the line."""

import io
import os
import time
import warnings
from types import FrameType
from typing import Any, Literal

from engine.bounds import MOST_WARNINGS
from engine.events import Omitted, Printed, Warned
from engine.worker.capture.recorder import Recorder
from engine.worker.pytorch.internals import SHOW_WARNING, get_frame
from engine.worker.pytorch.patching import Patches
from engine.worker.pytorch.tracebacks import is_detour, is_ours

_ASKED = 2_000
_LULL_S = 0.001
_PASSED_ON = 64 * 1024


class RawStdout:
    """Catches what is written to the process's own stdout past Python's stream, by `os.write` or C code."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.real = os.dup(1)
        self._asked = 0
        self._at = 0.0
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

    def drain_before_text(self) -> None:
        """The same before what Python's stream writes next; a program that writes and writes is not asked each time."""
        now = time.monotonic()
        if self._asked < _ASKED or now > self._at + _LULL_S:
            self._asked += 1
            self._at = now
            self.drain()


def keep(recorder: Recorder, text: str) -> tuple[str, bool] | None:
    """As much of a text as the limit leaves, and whether that is less than all; None for nothing."""
    counts = recorder.counts
    left = counts.limits.output_bytes - counts.output_bytes
    size = len(text) if text.isascii() else len(text.encode("utf-8", "backslashreplace"))
    counts.output_bytes += size
    if left <= 0 or recorder.closed:
        return None
    if size <= left:
        return text, False
    return text.encode("utf-8", "backslashreplace")[:left].decode("utf-8", "ignore"), True


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
        self._kept: list[str] = []
        """What is still to be passed on to the process's own stream."""
        self._size = 0

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
        if text:
            if not text.isascii():
                text.encode("utf-8", self.errors)  # raises as the real stream does
            self._kept.append(text)
            self._size += len(text)
            recorder = self.recorder
            if self.below is not None and recorder.counts.output_bytes < recorder.limits.output_bytes:
                self.below.drain_before_text()
            kept = None if recorder.thread.is_warning else keep(recorder, text)
            if kept is not None:
                site, thread = recorder.sites.of(get_frame(1)), recorder.thread.number
                recorder.outbox.say(Printed(self.kind, kept[0], site, kept[1], thread))
            if self._size > _PASSED_ON:
                self.pass_on()  # told by now: too much of it ends the process
        return len(text)

    def pass_on(self) -> None:
        """Writes to the process's own stream what was written here."""
        self._kept, texts, self._size = [], self._kept, 0
        if not texts:
            return
        try:
            os.write(self.real, "".join(texts).encode("utf-8", "backslashreplace"))
        except OSError:  # nobody reads the process's own streams
            return


def watch_warnings(recorder: Recorder, patches: Patches) -> None:
    """Records each warning that is shown; `warnings` still prints it as it always does, which is not told again."""
    shown = SHOW_WARNING.get()
    counts = recorder.counts

    def show(message: warnings.WarningMessage) -> None:
        if _is_ours(message.filename):
            _again(message)
            return
        is_told = counts.new_warning() <= MOST_WARNINGS
        if is_told:
            site = recorder.sites.of(_warned(message, get_frame(1)))
            text = recorder.texts.of(str(message.message))
            said = Warned(message.category.__name__, text, site, recorder.thread.number)
            recorder.outbox.say(said)
        elif counts.warnings == MOST_WARNINGS + 1:
            recorder.outbox.send(Omitted("warnings", "warnings", MOST_WARNINGS, 0))  # should the run be killed
        recorder.thread.is_warning = is_told
        try:
            shown(message)
        finally:
            recorder.thread.is_warning = False

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
