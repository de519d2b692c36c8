"""The frontend's wire types are those of the engine."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine import schema

ROOT = Path(__file__).parents[2]


def test_frontend_schema_is_fresh() -> None:
    committed = json.loads((ROOT / "frontend" / "src" / "api" / "schema.json").read_text())
    assert committed == json.loads(json.dumps(schema.document())), (
        "run `python -m engine.schema --json > frontend/src/api/schema.json`"
    )


@pytest.mark.slow
def test_frontend_types_are_fresh() -> None:
    command = [sys.executable, "build_frontend.py", "run", "--silent", "types", "--", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
