"""Fixtures that many tests share."""

import logging
import os
import re
from collections.abc import Callable, Iterator
from typing import Protocol
from zlib import crc32

import msgspec
import pytest
from xdist.scheduler import LoadScopeScheduling

from engine import DEFAULT_LIMITS, Program, RunRequest, Trace
from engine.local import LocalEngine, _shared
from engine.sandbox import pool
from tests.once import run
from tests.zygotes import forked


def pytest_configure() -> None:
    """Beside other processes with tests none has the machine to itself: no fork makes itself readier than it must be."""
    if int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")) > 1:
        pool.AT_LEISURE = 0


class TraceOf(Protocol):
    """Runs a program through the real sandbox; keywords replace default limits."""

    def __call__(self, code: str, **limits: float) -> Trace: ...


@pytest.fixture(scope="session", autouse=True)
def warm() -> Iterator[None]:
    """Every warm process that a test's own process starts is a fork of one; servers in processes of their own start theirs."""
    with forked():
        yield


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
def once() -> Callable[[str], Trace]:
    """The trace of a program that tests of several files look at: it runs once."""
    return run


LOOK_AT_THE_SAME = {
    "tests/engine/findings/test_failing.py": "findings",
    "tests/engine/findings/test_silent.py": "findings",
    "tests/engine/findings/test_words.py": "findings",
    "tests/engine/fixes/test_offered.py": "findings",
    "tests/oracle/test_evidence.py": "findings",
    "tests/test_gallery.py": "lessons",
    "tests/engine/compare/test_compare.py": "lessons",
    "tests/engine/derive/test_questions.py": "lessons",
    "tests/engine/what_ifs/test_find.py": "lessons",
    "tests/cluster/test_cluster.py": "cluster",
    "tests/cluster/test_loss.py": "cluster",
    "tests/cluster/test_namespaces.py": "browser",
    "tests/e2e": "browser",
    "tests/server": "server",
    "tests/server/test_faults.py": "faults",
    "tests/server/test_postgres.py": "postgres",
}
"""Files and folders whose tests look at the same traces, at one server or at one cluster, so that one process runs them;
any other file goes by itself. Cables are laid while no browser runs: it gives up what it was fetching when the machine's
network changes."""
PARTS = 3
"""Those of findings are so many that one process would be at them still when the others are through: a part has the
tests of its codes."""
LONGEST = (
    "browser",
    "cluster",
    *(f"findings {part}" for part in range(PARTS)),
    "server",
    "faults",
    "tests/hostile/test_hostile.py",
    "tests/oracle/test_oracle.py",
    "tests/sphinx_gradgraph/test_figures.py",
    "tests/engine/worker/compact/test_sampling.py",
    "tests/engine/sandbox/test_pool.py",
    "tests/hostile/test_soak.py",
    "postgres",
)
"""What takes long begins first: begun last it would keep one process at work when the others are through."""


def group_of(nodeid: str) -> str:
    """What a test belongs to, of which one process runs all."""
    file, _, test = nodeid.partition("::")
    group = LOOK_AT_THE_SAME.get(file) or LOOK_AT_THE_SAME.get(file.rpartition("/")[0], file)
    if group == "findings":
        code = re.search(r"(?<=\[)\w+", test)
        return f"findings {crc32(code[0].encode()) % PARTS if code else 0}"
    return group


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadScopeScheduling:
    """Hands out whole files, and files that look at the same together."""
    scheduler = LoadScopeScheduling(config, log)
    scheduler._split_scope = group_of
    return scheduler


def pytest_collection_finish() -> None:
    """PyTorch's loggers, some dozens, hand on what they are told: for each phase of each test pytest visits those that
    do not."""
    for logger in logging.root.manager.loggerDict.values():
        if isinstance(logger, logging.Logger):
            logger.propagate = True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where the tests run in several processes, the longest groups begin first."""
    if hasattr(config, "workerinput"):
        place = {group: at for at, group in enumerate(LONGEST)}
        items.sort(key=lambda item: place.get(group_of(item.nodeid), len(LONGEST)))
