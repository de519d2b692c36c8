"""A snapshot opens after its formats have moved on: one of each version there was is kept beside this file, and never changed."""

import gzip
from pathlib import Path

import msgspec
import pytest

from engine.formats import migrate
from engine.trace import Trace
from tests.server.conftest import Json

SNAPSHOTS = sorted((Path(__file__).parent / "snapshots").glob("*.json.gz"))


@pytest.mark.parametrize("file", SNAPSHOTS, ids=lambda file: file.name)
def test_a_snapshot_of_every_version_opens(file: Path) -> None:
    envelope = msgspec.json.decode(gzip.decompress(file.read_bytes()), type=Json)
    assert f"{envelope['format'].replace('/', '-')}.json.gz" == file.name
    trace = msgspec.json.decode(migrate(msgspec.json.encode(envelope["trace"])), type=Trace)
    assert trace.status == "ok"
    assert trace.passes
    assert envelope["view"]["step"] == 3
