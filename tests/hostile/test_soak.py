"""Half a minute of people and attackers: the server holds at the end what it held after the first seconds."""

import time
from pathlib import Path

import httpx
import pytest

from tests import soak

WARM_S, LOAD_S = 8.0, 22.0
MIB = 1024 * 1024


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_mixed_load_leaves_nothing_behind(tmp_path: Path) -> None:
    with soak.server(tmp_path, memory_cache_bytes=4 * MIB, warm_gallery=0) as at:
        fresh = at.at_rest()
        soak.load(at, WARM_S)
        soak.wait_for(lambda: at.holding().processes <= fresh.processes, 20)
        before = at.holding()
        outcomes = soak.load(at, LOAD_S)
        assert not [name for name in outcomes if name.startswith("UNEXPECTED")], outcomes
        assert {*outcomes} >= {*soak.PROGRAMS, "hung up"}, outcomes
        soak.wait_for(lambda: at.holding().processes <= fresh.processes, 20)
        time.sleep(1)
        after = at.holding()
        assert after.descriptors <= before.descriptors + 4
        assert after.folders <= before.folders + 4
        assert after.rss_bytes - before.rss_bytes < 40 * MIB
        last = httpx.post(f"{at.address}/api/v1/runs", json={"code": "print('and on')"}, timeout=30).json()
        assert last["status"] == "ok"
