"""People and attackers: the server holds at the end what it held after the first of them."""

from pathlib import Path

import pytest

from tests import soak

MIB = 1024 * 1024


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_mixed_load_leaves_nothing_behind(tmp_path: Path) -> None:
    with soak.server(tmp_path, memory_cache_bytes=4 * MIB, warm_gallery=0) as at:
        soak.load(at, 1, clients=3)
        before = at.at_rest()
        outcomes = soak.load(at, 1)
        assert not [name for name in outcomes if name.startswith("UNEXPECTED")], outcomes
        assert {*outcomes} >= {*soak.PROGRAMS, soak.HANGS_UP}, outcomes
        soak.wait_for(lambda: at.holding().processes <= before.processes)
        soak.wait_for(lambda: at.holding().descriptors <= before.descriptors + 4)
        soak.wait_for(lambda: at.holding().folders <= before.folders + 4)
        assert at.holding().rss_bytes - before.rss_bytes < 40 * MIB
        last = at.http.post("/api/v1/runs", json={"code": "print('and on')"}).json()
        assert last["status"] == "ok"
