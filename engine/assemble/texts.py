"""Texts that a worker said, none longer than a trace holds: names, classes and reprs are the program's choice."""

import re

import msgspec

from engine import events as ev

MOST_CHARACTERS = 4_000
MOST_OF_A_FAILURE = 64 * 1024
"""Characters of each text of a failure: the message of an exception is what somebody looks for."""
_OUTPUT, _FAILURE = b'["out"', b'["fail"'
"""How lines begin whose texts have bounds of their own: output has that of `output_bytes`."""
_LONG_TEXT = re.compile(rb'"(?:[^"\\]|\\.){%d}' % MOST_CHARACTERS)


class Texts:
    """Cuts the middle out of what is longer, and counts it: a traceback says at its end what happened."""

    def __init__(self) -> None:
        self.cut = 0

    def bounded(self, lines: list[bytes]) -> list[bytes]:
        """The lines, those with a longer text written anew."""
        if len(max(lines, key=len, default=b"")) <= MOST_CHARACTERS:
            return lines
        return [self._bounded(line) if len(line) > MOST_CHARACTERS else line for line in lines]

    def _bounded(self, line: bytes) -> bytes:
        if line.startswith(_OUTPUT) or _LONG_TEXT.search(line) is None:
            return line
        most = MOST_OF_A_FAILURE if line.startswith(_FAILURE) else MOST_CHARACTERS
        try:
            return msgspec.json.encode(self._shortened(msgspec.json.decode(line), most))
        except ev.NoEvent:  # whoever reads it as an event will say so
            return line

    def _shortened(self, said: object, most: int) -> object:
        match said:
            case str() if len(said) > most:
                self.cut += 1
                return f"{said[: most // 2]}…{said[1 - most // 2 :]}"
            case list():
                return [self._shortened(part, most) for part in said]
            case dict():
                return {self._shortened(key, most): self._shortened(part, most) for key, part in said.items()}
        return said
