"""Fixtures that many tests share."""

from typing import Protocol

import msgspec
import pytest

from engine import DEFAULT_LIMITS, Program, RunRequest, Trace
from engine.local import LocalEngine, _shared


class TraceOf(Protocol):
    """Runs a program through the real sandbox; keywords replace default limits."""

    def __call__(self, code: str, **limits: float) -> Trace: ...


@pytest.fixture(scope="session")
def engine() -> LocalEngine:
    """One engine, and so one warm process, for all tests: the one behind `engine.run`."""
    return _shared.get()


@pytest.fixture(scope="session")
def trace(engine: LocalEngine) -> TraceOf:
    """The trace of a program."""

    def run(code: str, **limits: float) -> Trace:
        return engine.run(
            RunRequest(program=Program(code=code), limits=msgspec.structs.replace(DEFAULT_LIMITS, **limits))
        )

    return run
