"""Which of the many programs of a code the quick run takes."""

from collections.abc import Iterable
from typing import Any

import pytest

EACH = 10
"""Of so many codes it takes one."""


def first_quick(rows: Iterable[tuple[str, Any]]) -> list[Any]:
    """Parameters `(code, program)`; all but the first program of every tenth code are slow tests."""
    met: set[str] = set()
    parameters = []
    for at, (code, program) in enumerate(rows):
        is_quick = code not in met and len(met) % EACH == 0
        met.add(code)
        marks = () if is_quick else (pytest.mark.slow,)
        parameters.append(pytest.param(code, program, id=f"{code}-{at}", marks=marks))
    return parameters
