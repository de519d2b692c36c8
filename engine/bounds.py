"""How much of what a program says a trace holds: how long a text is, how many things a list has.

Held twice by the same rule. A worker keeps to it, so that a name of 20 MB does not fill the trace's bytes by being
said again and again, and says what it left out. Who reads its lines keeps to it as well: a worker runs the program's
code and may say anything.
"""

import re

import msgspec

from engine import events as ev

MOST_MODULES = 2_000
"""Parents come first, so those told are one tree."""
MOST_VARIABLES = 2_000
MOST_WARNINGS = 1_000
MOST_CHARACTERS = 4_000
"""Of a text: names, classes and reprs are the program's choice."""
MOST_OF_A_FAILURE = 64 * 1024
"""Characters of each text of a failure: the message of an exception is what somebody looks for."""
_MARK = 24
"""Characters that are kept for the mark where a text was cut."""
_FAILURE = b'["fail"'
_OWN_BOUNDS = (b'["out"', ev.BLOB)
"""How lines begin whose texts have bounds of their own."""
_LONG_TEXT = re.compile(rb'"(?:[^"\\]|\\.){%d}' % MOST_CHARACTERS)


def shortened(text: str, most: int) -> str:
    """The text without its middle where it is longer: a traceback says at its end what happened."""
    if len(text) <= most:
        return text
    half = (most - _MARK) // 2
    return f"{text[:half]}[… {len(text) - 2 * half:,} …]{text[-half:]}"


class Texts:
    """Shortens the texts of encoded lines, and counts those it cut."""

    def __init__(self) -> None:
        self.cut = 0

    def bounded(self, lines: list[bytes]) -> list[bytes]:
        """The lines, those with a longer text written anew."""
        if len(max(lines, key=len, default=b"")) <= MOST_CHARACTERS:
            return lines
        return [self._bounded(line) if len(line) > MOST_CHARACTERS else line for line in lines]

    def of_failure(self, text: str) -> str:
        """A text of a failure before it is encoded: a message of 50 MB must not be copied on its way."""
        return self.of(text, MOST_OF_A_FAILURE)

    def of(self, text: str, most: int = MOST_CHARACTERS) -> str:
        """A text that may be of any length, before it is encoded."""
        self.cut += len(text) > most
        return shortened(text, most)

    def _bounded(self, line: bytes) -> bytes:
        if line.startswith(_OWN_BOUNDS) or _LONG_TEXT.search(line) is None:
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
                return shortened(said, most)
            case list():
                return [self._shortened(part, most) for part in said]
            case dict():
                return {self._shortened(key, most): self._shortened(part, most) for key, part in said.items()}
        return said
