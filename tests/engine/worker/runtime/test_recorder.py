"""Recording in somebody's own process: what is patched is put back, and a second recording is like the first."""

import subprocess
import sys
from pathlib import Path

import pytest

from engine.worker.pytorch.patching import EntryPoint, Patches
from tests.engine.worker.forked import traced

ROOT = Path(__file__).parents[4]
TWICE = Path(__file__).with_name("recorded_twice.py")


@pytest.fixture(scope="module")
def pieces() -> list[list[bytes]]:
    """The events of two recordings in one plain process, each as one list of lines."""
    done = subprocess.run([sys.executable, str(TWICE)], cwd=ROOT, capture_output=True, timeout=55, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return [part.split(b"\n") for part in done.stdout.split(b"\n\n") if part]


@pytest.mark.slow
def test_two_recordings_in_one_process_tell_the_same(pieces: list[list[bytes]]) -> None:
    first, second = (traced("", lines) for lines in pieces)
    for trace in (first, second):
        assert trace.status == "ok"
        assert {op.name for op in trace.ops} >= {"mul", "sum", "linear", "Double", "sin"}
        assert len(trace.passes) == 2
        assert [update.kind for update in trace.updates].count("step") == 1
    assert [op.name for op in first.ops] == [op.name for op in second.ops]
    assert [node.type for node in first.nodes] == [node.type for node in second.nodes]


class _Owner:
    value = 1


def test_an_entry_point_is_replaced_once_and_put_back() -> None:
    entry, inherited = EntryPoint(_Owner, "value"), EntryPoint(type("Below", (_Owner,), {}), "value")
    patches = Patches()
    patches.replace(entry, 2)
    patches.replace(inherited, 3)
    with pytest.raises(ValueError, match=r"_Owner\.value is replaced already"):
        patches.replace(entry, 4)
    assert (_Owner.value, inherited.get()) == (2, 3)
    patches.undo()
    assert (_Owner.value, inherited.get()) == (1, 1)
    assert "value" not in vars(inherited.owner)
    patches.undo()
