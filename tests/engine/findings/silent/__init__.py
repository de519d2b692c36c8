"""The silent mistakes: the programs of each stand in the file named like that of `engine/findings/` which finds it."""

from importlib import import_module
from pkgutil import iter_modules

from tests.engine.findings.mistakes import Mistake

_FILES = [import_module(f"{__name__}.{each.name}") for each in iter_modules(__path__)]
MISTAKES: tuple[Mistake, ...] = tuple(mistake for file in _FILES for mistake in file.MISTAKES)
NEAR_MISSES: tuple[tuple[str, str], ...] = (
    *((mistake.code, program) for mistake in MISTAKES for program in mistake.cured()),
    *(right for file in _FILES for right in file.RIGHT),
)
"""Right programs, each with the code that it must not be told."""
