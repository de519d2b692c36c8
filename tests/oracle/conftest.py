"""The processes that programs and traces are shown to: plain PyTorch, and the page's own code."""

from collections.abc import Iterator

import pytest

from tests.oracle.page import Page
from tests.oracle.test_oracle import Plain


@pytest.fixture(scope="session")
def plain() -> Iterator[Plain]:
    """Plain PyTorch."""
    process = Plain()
    yield process
    process.close()


@pytest.fixture(scope="session")
def page() -> Iterator[Page]:
    """The page's own code."""
    process = Page()
    yield process
    process.close()
