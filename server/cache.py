"""What was used last, up to a number of bytes, shared by threads."""

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

T = TypeVar("T")


class Cache(Generic[T]):
    """Values by key; the ones used longest ago leave when their sizes exceed the bytes allowed."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[str, tuple[T, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> T | None:
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def put(self, key: str, value: T, size_bytes: int) -> None:
        """Keep a value, in place of an earlier one. The newest stays even when it is larger than allowed."""
        with self._lock:
            self._drop(key)
            self._kept[key] = (value, size_bytes)
            self._bytes += size_bytes
            while self._bytes > self._max_bytes and len(self._kept) > 1:
                self._drop(next(iter(self._kept)))

    def drop(self, key: str) -> None:
        with self._lock:
            self._drop(key)

    def _drop(self, key: str) -> None:
        if key in self._kept:
            self._bytes -= self._kept.pop(key)[1]
