"""A run reads Python's library by whichever path it is imported."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from engine.sandbox import readable

if sys.platform != "linux":
    pytest.skip("the sandbox is Linux's", allow_module_level=True)

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]


def test_of_links_within_each_other_the_outer_one_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "python" / "site-packages").mkdir(parents=True)
    linked = tmp_path / "linked"
    linked.symlink_to(tmp_path / "python")
    packages = linked / "site-packages"
    paths = {"stdlib": linked, "platstdlib": linked, "purelib": packages, "platlib": packages}
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(paths[name]))
    assert readable.links() == {str(linked): str(tmp_path / "python")}


ASKED = """import engine
trace = engine.run("import io, torch\\ntorch.save(torch.ones(2), io.BytesIO())")
print(engine.__file__, trace.failure)
"""
"""PyTorch imports a module of its own where it saves."""


def test_an_installation_behind_a_symbolic_link_is_read_late_too(tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    linked.symlink_to(ROOT)
    environment = tmp_path / "environment"
    environment.symlink_to(sys.prefix)
    ended = subprocess.run(
        [environment / "bin" / "python", "-c", ASKED], cwd=tmp_path, env={"PYTHONPATH": str(linked)}, check=True,
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert ended.stdout == f"{linked}/engine/__init__.py None\n"
