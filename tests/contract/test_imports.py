"""Who may import whom: engine never the server, nobody torch but the worker."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tools import house

ROOT = Path(__file__).parents[2]
WORKER = ROOT / "engine" / "worker"
DOORS = ("engine", "server.app", "server.openapi")

FACTS, INDEX = "engine/trace.py", "engine/trace_index.py"
MAY_IMPORT: dict[str, set[str]] = {
    FACTS: set(),
    "engine/program": {FACTS},
    "engine/ops": set(),
    INDEX: {FACTS, "engine/program", "engine/ops"},
    "engine/worker": {FACTS, "engine/program", "engine/ops"},
    "engine/sandbox": {FACTS, "engine/worker"},
    "engine/supervisor_failures.py": {FACTS, "engine/program"},
    "engine/rules": {FACTS},
    "engine/derive": {FACTS, "engine/program", "engine/ops", INDEX},
    "engine/replay": {FACTS, INDEX},
    "engine/findings": {FACTS, "engine/program", "engine/ops", INDEX},
    "engine/assemble": {
        FACTS, "engine/program", "engine/ops", INDEX, "engine/supervisor_failures.py", "engine/rules", "engine/derive",
        "engine/replay", "engine/findings",
    },
    "engine/laws": {FACTS, "engine/program", INDEX, "engine/derive"},
    "engine/compare": {FACTS, "engine/program", INDEX},
    "engine/fixes": {FACTS, "engine/program", INDEX, "engine/compare"},
    "engine/what_ifs": {FACTS, "engine/program", INDEX},
    "engine/graph": {FACTS, "engine/program", "engine/ops", INDEX},
    "engine/export": {FACTS, "engine/program", INDEX, "engine/graph"},
    "engine/local.py": {
        FACTS, "engine/program", "engine/sandbox", "engine/assemble", "engine/graph", "engine/compare", "engine/fixes",
        "engine/what_ifs", "engine/replay",
    },
    "server": {
        FACTS, "engine/program", "engine/sandbox", "engine/supervisor_failures.py", "engine/rules",
        "engine/replay", "engine/compare", "engine/fixes", "engine/what_ifs", "engine/graph", "engine/export",
        "engine/local.py",
    },
    "packages/sphinx-gradgraph": {FACTS, "engine/sandbox", "engine/graph", "engine/local.py", "server"},
    "server/cluster": {FACTS, "server"},
    "server/app.py": {FACTS, "engine/local.py", "server", "server/cluster"},
}  # fmt: skip
"""The rooms in the order in which data passes them, and which others each may import."""


@cache
def imports(file: Path) -> frozenset[str]:
    """Modules a file imports, anywhere in it."""
    return frozenset(_imports(ast.parse(file.read_text("utf-8"))))


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def importers(folder: str, room: str) -> set[str]:
    """Files below a folder that import a room or something in it."""
    return {
        str(file.relative_to(ROOT))
        for file in (ROOT / folder).rglob("*.py")
        if any(name == room or name.startswith(room + ".") for name in imports(file))
    }


def test_rooms_import_what_they_may_and_no_more() -> None:
    found = {room: targets for room, targets in house.rooms().items() if not room.startswith("frontend")}
    assert found == MAY_IMPORT


def test_no_room_leads_back_to_itself() -> None:
    assert house.circles(MAY_IMPORT) == []


def test_no_file_leads_back_to_itself() -> None:
    python = {file: targets for file, targets in house.files().items() if file.endswith(".py")}
    assert house.circles(python) == []


def test_circles_are_found() -> None:
    assert house.circles({"a": ["b"], "b": ["c"], "c": ["b"], "d": ["a"]}) == [["b", "c"]]
    assert house.circles({"a": ["b"], "b": ["a"], "c": ["d"], "d": ["c"]}) == [["a", "b"], ["c", "d"]]


def test_the_document_tells_who_may_import_whom() -> None:
    rows = re.findall(
        r"^\| `([\w/.-]+)`[^|]*\|[^|]*\|[^|]*\|([^|]*)\|$", house.DOCUMENT.read_text("utf-8"), re.MULTILINE
    )
    told = {room: set(re.findall(r"`([\w/.-]+)`", may)) for room, may in rows if not room.startswith("frontend")}
    assert told == MAY_IMPORT


def test_the_picture_of_the_house_is_of_today() -> None:
    assert house.drawn() == house.DOCUMENT.read_text("utf-8"), "run `python -m tools.house`"


@pytest.mark.slow
def test_the_engine_does_not_know_the_server() -> None:
    assert importers("engine", "server") == set()


def test_only_the_worker_imports_torch() -> None:
    everywhere = importers("engine", "torch") | importers("server", "torch")
    assert everywhere
    assert all((ROOT / file).is_relative_to(WORKER) for file in everywhere), everywhere


def test_the_server_does_not_know_the_worker() -> None:
    assert importers("server", "engine.worker") == set()


def test_only_settings_reads_the_environment() -> None:
    readers = {
        str(file.relative_to(ROOT))
        for file in (ROOT / "server").rglob("*.py")
        if re.search(r"\bos\.(environ|getenv)", file.read_text("utf-8"))
    }
    assert readers == {"server/settings.py"}


def test_the_program_is_parsed_in_one_place() -> None:
    """Beside it only the worker's own copy, which gets marks put in, and the schema's docstrings are parsed."""
    parsers = {
        str(file.relative_to(ROOT))
        for file in (ROOT / "engine").rglob("*.py")
        if "ast.parse(" in file.read_text("utf-8")
    }
    assert parsers == {"engine/program/tree.py", "engine/worker/runtime/coverage.py", "engine/schema.py"}


def test_findings_do_not_draw() -> None:
    names = {name for file in (ROOT / "engine" / "findings").rglob("*.py") for name in imports(file)}
    assert not {name for name in names if name.startswith("engine.graph")}


def test_the_server_parses_and_unpickles_nothing() -> None:
    forbidden = {"ast", "pickle", "marshal", "shelve", "dill", "cloudpickle"}
    for file in (ROOT / "server").rglob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        called = {
            node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert not forbidden & imports(file), file
        assert not {"eval", "exec", "compile", "__import__"} & called, file


@pytest.mark.slow
def test_a_service_of_one_process_knows_no_broker() -> None:
    assert not {"nats", "server.cluster"} & loaded("server.command", "server.app")


def test_no_torch_is_loaded_with_engine_and_server() -> None:
    found = loaded(*DOORS)
    assert {*DOORS, "engine.sandbox.pool"} <= found
    assert "torch" not in found


@pytest.mark.slow
def test_a_web_node_loads_nothing_that_makes_traces_or_tables() -> None:
    found = loaded("server.__main__", "server.cluster.node")
    assert "server.cluster.nats_runner" in found
    assert not found & {
        "torch", "numpy", "alembic", "engine.worker", "engine.assemble", "engine.findings", "engine.derive",
        "server.local_runner", "server.packing", "server.trace_processes",
    }  # fmt: skip


def loaded(*modules: str) -> set[str]:
    """What a fresh interpreter has of modules once it has imported these."""
    command = [sys.executable, "-c", f"import {', '.join(modules)}, sys; print(*sys.modules)"]
    return {*subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=60).stdout.split()}
