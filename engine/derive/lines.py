"""Lines of the program."""

from engine.program.source import source_of


def lines_that_exist(lines: tuple[int, ...], code: str) -> tuple[int, ...]:
    """Those of the program, in order and once."""
    count = source_of(code).count
    return tuple(sorted({line for line in lines if 0 < line <= count}))
