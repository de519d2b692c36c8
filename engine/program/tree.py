"""The syntax tree of a program that already ran: parsed once, within bounds, never compiled or evaluated here."""

import ast
import threading
import warnings
from functools import lru_cache

MOST_CHARACTERS = 100_000
"""Longer programs get no names from their code; the server refuses them anyway."""

_filters = threading.Lock()
"""`catch_warnings` puts back what it found: two threads in it at once would leave the whole process without warnings."""


@lru_cache(maxsize=16)
def parse(code: str) -> ast.Module | None:
    """The tree; None for what Python cannot parse. Callers never change it.

    Asked for only after the same parser has taken the same text inside the sandbox, so a text that would bring the
    parser down ends there.
    """
    if len(code) > MOST_CHARACTERS:
        return None
    try:
        with _filters, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the program's own SyntaxWarnings were shown when it ran
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
