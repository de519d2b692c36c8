"""Lines of the program."""


def lines_that_exist(lines: tuple[int, ...], code: str) -> tuple[int, ...]:
    """Those of the program, in order and once."""
    count = len(code.splitlines())
    return tuple(sorted({line for line in lines if 0 < line <= count}))
