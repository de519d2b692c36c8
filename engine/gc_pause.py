"""The garbage collector rests while very many records are made that live on and form no cycles."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Rest:
    """How many threads want the collector to rest; the last one wakes it, when it was awake before the first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted = 0
        self._was_awake = False

    def begin(self) -> None:
        """One more wants it to rest."""
        with self._lock:
            if self._wanted == 0:
                self._was_awake = gc.isenabled()
                gc.disable()
            self._wanted += 1

    def end(self) -> None:
        """One less."""
        with self._lock:
            self._wanted -= 1
            if self._wanted == 0 and self._was_awake:
                gc.enable()


_rest = _Rest()


@contextmanager
def uncollected() -> Iterator[None]:
    """No collection inside; may be used from several threads at once."""
    _rest.begin()
    try:
        yield
    finally:
        _rest.end()
