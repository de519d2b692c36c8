"""Fixtures that many tests share."""

import functools
from collections.abc import Callable
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


@pytest.fixture(scope="session")
def once(engine: LocalEngine) -> Callable[[str], Trace]:
    """The trace of a program that tests of several files look at: it runs once."""
    return functools.cache(lambda code: engine.run(RunRequest(program=Program(code=code))))


LOOK_AT_THE_SAME = {
    "tests/engine/findings/test_failing.py": "findings",
    "tests/engine/findings/test_silent.py": "findings",
    "tests/engine/fixes/test_offered.py": "findings",
    "tests/oracle/test_evidence.py": "findings",
    "tests/cluster/test_cluster.py": "cluster",
    "tests/cluster/test_loss.py": "cluster",
}
"""Files whose tests look at the same traces, or at the same cluster, so that one process runs them; any other file goes by itself."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where the tests run in several processes (`--dist loadgroup`), a file's tests stay together."""
    for item in items:
        file = item.nodeid.partition("::")[0]
        item.add_marker(pytest.mark.xdist_group(LOOK_AT_THE_SAME.get(file, file)))
