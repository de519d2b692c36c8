"""A browser, a server of its own, and what the documentation's examples become on it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import soak
from tests.e2e.browser import browser
from tests.e2e.examples import Example, built


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser. Where CI promises one, its absence is a failure."""
    if (found := browser()) is None:
        if os.environ.get("CI"):
            pytest.fail("no chromium on this machine, and CI is set: the stories must be told")
        pytest.skip("no chromium on this machine")
    return found


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of its own on a free port, with an empty store."""
    data = tmp_path_factory.mktemp("data")
    with soak.server(data, slow_workers=0, embed_edit="*") as server:  # one story fills the workers
        yield server.address


@pytest.fixture(scope="session")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the examples are built in."""
    return tmp_path_factory.mktemp("course")


@pytest.fixture(scope="session")
def examples(course: Path, url: str) -> dict[str, Example]:
    """The examples by name, of a run on that server."""
    return {each.name: each for each in built(course, url)}
