"""Which of the many programs of a code the quick run takes."""

from collections.abc import Iterable
from typing import Any

import pytest


def first_quick(rows: Iterable[tuple[str, Any]]) -> list[Any]:
    """Parameters `(code, program)`; all but the first of each code are slow tests."""
    met: set[str] = set()
    parameters = []
    for at, (code, program) in enumerate(rows):
        marks = (pytest.mark.slow,) if code in met else ()
        parameters.append(pytest.param(code, program, id=f"{code}-{at}", marks=marks))
        met.add(code)
    return parameters
