"""The garbage collector rests while somebody wants it to, and not longer."""

import gc
import threading
from collections.abc import Iterator

import pytest

from engine.gc_pause import uncollected


@pytest.fixture(autouse=True)
def awake() -> Iterator[None]:
    was = gc.isenabled()
    gc.enable()
    yield
    (gc.enable if was else gc.disable)()


def test_it_rests_inside_and_wakes_after() -> None:
    with uncollected():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_outermost_wakes_it() -> None:
    with uncollected():
        with uncollected():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_an_exception_wakes_it() -> None:
    with pytest.raises(ValueError, match="inside"), uncollected():
        raise ValueError("inside")
    assert gc.isenabled()


def test_it_stays_asleep_when_it_was_asleep() -> None:
    gc.disable()
    with uncollected():
        assert not gc.isenabled()
    assert not gc.isenabled()


def test_the_last_thread_wakes_it() -> None:
    inside, leave = threading.Event(), threading.Event()

    def work() -> None:
        with uncollected():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=work)
    thread.start()
    assert inside.wait(10)
    with uncollected():
        pass
    assert not gc.isenabled()  # the other is still at it
    leave.set()
    thread.join(10)
    assert gc.isenabled()
