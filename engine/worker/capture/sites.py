"""Places in the user's source: which instruction of which code object led to what is recorded."""

from collections.abc import Iterable
from types import CodeType, FrameType

from engine.worker.pytorch.internals import MODULE_CALL_CODES, is_returned

_MOST_CALLS = 8

Position = tuple[int, int, int, int]
"""Line, end line, column and end column in code points."""


class Sites:
    """Numbers places when they are first met."""

    def __init__(self, files: Iterable[str]) -> None:
        self.files = frozenset(files)
        """Names of the files whose code is the user's."""
        self.numbers: dict[tuple[int, int], int] = {}
        self.places: list[tuple[CodeType, int] | Position] = []
        """Code and instruction, or what stands in the source, of each place in order."""
        self.returned: set[int] = set()
        """Places whose value their function returns."""
        self.through = {*map(id, MODULE_CALL_CODES)}
        """Code that hands on what a function of the user's returned, by its id."""

    def is_users(self, code: CodeType) -> bool:
        """Whether the user wrote this code."""
        return code.co_filename in self.files

    def of(self, frame: FrameType | None) -> int:
        """Number of the place in the user's source that led to `frame`, 0 when none did."""
        while frame is not None:
            code = frame.f_code
            if code.co_filename in self.files:
                return self.numbers.get((id(code), frame.f_lasti)) or self.place(code, frame.f_lasti)
            frame = frame.f_back
        return 0

    def calls_given(self, frame: FrameType | None, site: int) -> tuple[int, ...]:
        """Places of the user's calls that give what was made at the place which led to `frame`, innermost first."""
        calls: list[int] = []
        while site in self.returned and len(calls) < _MOST_CALLS:
            while frame is not None and frame.f_code.co_filename not in self.files:
                frame = frame.f_back
            frame = frame.f_back if frame is not None else None
            while frame is not None and id(frame.f_code) in self.through:
                frame = frame.f_back
            if frame is None or not self.is_users(frame.f_code):
                break
            site = self.place(frame.f_code, frame.f_lasti)
            calls.append(site)
        return tuple(calls)

    def stack(self, frame: FrameType | None) -> list[tuple[CodeType, int]]:
        """The user's frames that led to `frame` with the instruction each is at, outermost first."""
        places = []
        while frame is not None:
            if frame.f_code.co_filename in self.files:
                places.append((frame.f_code, frame.f_lasti))
            frame = frame.f_back
        places.reverse()
        return places

    def place(self, code: CodeType, instruction: int) -> int:
        """Number of one instruction of the user's code."""
        key = (id(code), instruction)
        number = self.numbers.get(key)
        if number is None:
            self.places.append((code, instruction))  # holds the code, so its id stays its own
            number = self.numbers[key] = len(self.places)
            if is_returned(code, instruction):
                self.returned.add(number)
        return number

    def fixed(self, position: Position) -> int:
        """Number of a place that no code object has, such as a syntax error's."""
        self.places.append(position)
        return len(self.places)
