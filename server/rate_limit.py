"""How often one address may ask: a bucket of tokens for each, filled at a steady rate."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


class RateLimit:
    """At most `burst` at once and `per_s` a second in the long run, for each name; 0 `per_s` sets no limit."""

    def __init__(self, per_s: float, burst: int, clock: Callable[[], float]) -> None:
        self.per_s = per_s
        self.burst = burst
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}

    def wait_s(self, name: str) -> float:
        """0, and one token is taken; or seconds until there is one."""
        if not self.per_s:
            return 0.0
        now = self._clock()
        bucket = self._buckets.get(name)
        if bucket is None:
            self._forget(now)
            bucket = self._buckets[name] = _Bucket(self.burst, now)
        bucket.tokens = min(self.burst, bucket.tokens + max(0.0, now - bucket.at) * self.per_s)
        bucket.at = now
        if bucket.tokens < 1:
            return (1 - bucket.tokens) / self.per_s
        bucket.tokens -= 1
        return 0.0

    def _forget(self, now: float) -> None:
        """Drop the buckets that are full again, once there are many."""
        if len(self._buckets) >= _MANY:
            full_s = self.burst / self.per_s
            self._buckets = {name: bucket for name, bucket in self._buckets.items() if now - bucket.at < full_s}


_MANY = 10_000
