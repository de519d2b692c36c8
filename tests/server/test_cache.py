"""The cache: what was used last, up to a number of bytes."""

from server.cache import Cache


def test_what_was_used_longest_ago_leaves_first() -> None:
    cache: Cache[str] = Cache(30)
    for key in "abc":
        cache.put(key, key, 10)
    assert cache.get("a") == "a"
    cache.put("d", "d", 10)
    assert [key for key in "abcd" if cache.get(key)] == ["a", "c", "d"]


def test_a_value_larger_than_all_stays_alone() -> None:
    cache: Cache[str] = Cache(30)
    cache.put("a", "a", 10)
    cache.put("large", "large", 100)
    assert (cache.get("a"), cache.get("large")) == (None, "large")


def test_a_replaced_value_counts_once() -> None:
    cache: Cache[str] = Cache(30)
    for _ in range(5):
        cache.put("a", "a", 10)
    cache.put("b", "b", 20)
    assert cache.get("a") == "a"
