"""Ids of the trace from the numbers in events: the one place that knows how they are spelled."""

from collections.abc import Container, Iterable


class Numbered(dict[int, str]):
    """Ids of one kind by number, each text made once: a trace names a tensor many times."""

    def __init__(self, letter: str, numbers: Iterable[int] = ()) -> None:
        super().__init__({number: f"{letter}{number}" for number in numbers})  # all at once takes half as long
        self._letter = letter

    def __missing__(self, number: int) -> str:
        text = self[number] = f"{self._letter}{number}"
        return text

    def optional(self, number: int) -> str | None:
        """The id, None for 0."""
        return self[number] if number else None

    def among(self, number: int, known: Container[int]) -> str | None:
        """The id, None for what nobody said anything of."""
        return self[number] if number in known else None


class Ids:
    """The ids of one run."""

    def __init__(self, tensors: Iterable[int] = (), ops: Iterable[int] = (), nodes: Iterable[int] = ()) -> None:
        self.tensor = Numbered("t", tensors)
        self.op = Numbered("o", ops)
        self.node = Numbered("n", nodes)
        self.pass_ = Numbered("p")
        self.update = Numbered("u")
        self.module = Numbered("m")
        self.call = Numbered("c")
        self.hook = Numbered("h")
        self.storage = Numbered("s")
        self.python_call = Numbered("f")
        self._highest_tensor = max(self.tensor, default=0)

    def implied_tensor(self) -> int:
        """The number of a tensor that no event tells of, after those of all that are told of."""
        self._highest_tensor += 1
        return self._highest_tensor


def number_of(name: str) -> int:
    """The number in an id."""
    return int(name[1:])
