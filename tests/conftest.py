"""Fixtures that many tests share."""

import functools
import os
from collections.abc import Callable
from typing import Protocol

import msgspec
import pytest

from engine import DEFAULT_LIMITS, Program, RunRequest, Trace
from engine.local import LocalEngine, _shared
from engine.sandbox import pool


def pytest_configure() -> None:
    """Beside other processes with tests none has the machine to itself: no fork makes itself readier than it must be."""
    pool.AT_LEISURE //= int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))


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
    "tests/engine/findings/test_words.py": "findings",
    "tests/engine/fixes/test_offered.py": "findings",
    "tests/oracle/test_evidence.py": "findings",
    "tests/cluster/test_cluster.py": "cluster",
    "tests/cluster/test_loss.py": "cluster",
    "tests/e2e/test_examples.py": "browser",
    "tests/e2e/test_stories.py": "browser",
}
"""Files whose tests look at the same traces, at one cluster, or at one server with a browser, so that one process runs
them; any other file goes by itself."""
LONGEST = (
    "browser",
    "findings",
    "cluster",
    "tests/server/test_faults.py",
    "tests/oracle/test_oracle.py",
    "tests/hostile/test_hostile.py",
    "tests/oracle/test_page.py",
    "tests/hostile/test_soak.py",
    "tests/server/test_schema.py",
    "tests/server/test_queue.py",
    "tests/engine/worker/compact/test_sampling.py",
    "tests/engine/sandbox/test_pool.py",
)
"""What takes long begins first: begun last it would keep one process at work when the others are through."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where the tests run in several processes (`--dist loadgroup`), a file's tests stay together."""
    groups = {}
    for item in items:
        file = item.nodeid.partition("::")[0]
        groups[item] = LOOK_AT_THE_SAME.get(file, file)
        item.add_marker(pytest.mark.xdist_group(groups[item]))
    if config.getoption("dist", "no") != "no":
        place = {group: at for at, group in enumerate(LONGEST)}
        items.sort(key=lambda item: place.get(groups[item], len(LONGEST)))
