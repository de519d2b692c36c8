"""Requests made from the OpenAPI document, sensible and not: no answer is a bug, each has the form it should."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.conftest import Served

RECORDED = "import torch\nx = torch.ones(20, 30, requires_grad=True)\n(x * 2).sum().backward()\n"
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance"
)

REFUSES_A_FORMAT = """
[[operations]]
include-path = "/oembed"
checks.not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "501"]
"""
"""oEmbed asks for 501 where a format is not spoken."""


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("known", [True, False], ids=["of a run that is there", "of any run"])
def test_no_request_finds_a_bug(served: Served, tmp_path: Path, known: bool) -> None:
    run = served.run(RECORDED)["id"]
    asked = {"run": run, "view": {"step": 0, "lang": "en"}}
    snapshot = served.http.post("/api/v1/snapshots", json=asked).json()["id"]
    there = {
        "snapshot": snapshot,
        "run": run,
        "other": run,
        "tensor": "t1",
        "pass_id": "p1",
        "node_type": "MulBackward0",
    }
    config = "[parameters]\n" + "".join(f'"path.{name}" = "{value}"\n' for name, value in there.items())
    file = tmp_path / "schemathesis.toml"
    file.write_text((config if known else "") + REFUSES_A_FORMAT)
    command = shutil.which("st", path=str(Path(sys.executable).parent))
    assert command is not None
    fuzzed = subprocess.run(
        [
            command, "--config-file", str(file), "run", f"{str(served.http.base_url).rstrip('/')}/openapi.json",
            "--checks", CHECKS, "--max-examples", "6", "--seed", "1", "--workers", "2", "--request-timeout", "30",
            "--phases", "examples,fuzzing", "--no-color",
        ],
        capture_output=True,
        text=True,
        timeout=280,
        cwd=tmp_path,
        check=False,
    )  # fmt: skip
    assert fuzzed.returncode == 0, fuzzed.stdout[-6000:] + fuzzed.stderr[-2000:]
    assert " 0 generated" not in fuzzed.stdout
