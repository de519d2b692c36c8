"""What the frontend's tests read is what the engine says now."""

import json
import runpy
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from engine.trace import Trace
from tests.golden import canonical, differences

FOLDER = Path(__file__).parents[2] / "frontend" / "src" / "core" / "fixtures"
MAKER = runpy.run_path(str(FOLDER / "make.py"))
NAMES: tuple[str, ...] = MAKER["NAMES"]
made: Callable[[str], dict[str, bytes]] = MAKER["made"]
WRITE_ANEW = "run: PYTHONPATH=. .venv/bin/python frontend/src/core/fixtures/make.py"


@pytest.mark.parametrize("name", NAMES)
def test_the_fixtures_of_the_frontend_are_fresh(name: str) -> None:
    fresh = made(name)
    kept = {kind: (FOLDER / f"{name}.{kind}.json").read_bytes() for kind in fresh}
    traces = [
        json.loads(json.dumps(canonical(msgspec.json.decode(side["trace"], type=Trace)))) for side in (kept, fresh)
    ]
    assert list(differences(*traces)) == [], WRITE_ANEW
    before, now = (json.loads(side["graph"]) | {"run": ""} for side in (kept, fresh))  # its id follows the versions
    assert list(differences(before, now)) == [], WRITE_ANEW


def test_every_fixture_has_its_maker() -> None:
    assert {file.name for file in FOLDER.glob("*.json")} == {
        f"{name}.{kind}.json" for name in NAMES for kind in ("trace", "graph")
    }
