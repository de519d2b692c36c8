"""Programs that fail: those of each error stand in the file named like that of `engine/findings/failing/` which explains it."""

from importlib import import_module
from pkgutil import iter_modules

from tests.engine.findings.failing import by_message
from tests.engine.findings.failures import Row

_FILES = [import_module(f"{__name__}.{each.name}") for each in iter_modules(__path__)]
TRIGGERS: dict[str, list[Row]] = {code: rows for file in _FILES for code, rows in file.TRIGGERS.items()}
NEAR_MISSES: dict[str, str] = {
    code: program for file in _FILES if file is not by_message for code, program in file.NEAR_MISSES.items()
}
"""A program for each code that it must not be told."""
