"""The front end's rooms, who may import whom, and that no import leads back to where it began."""

import re
from pathlib import Path, PurePosixPath

import pytest

SRC = Path(__file__).parents[2] / "frontend" / "src"
IMPORT = re.compile(r"""(?:\bfrom|\bimport)\s*\(?\s*'(\.[^'?]+)""")
CORE = ("core", "core/words", "core/trace", "core/ops", "core/layout", "core/paint")
APP = ("app/elements", "app/state")

# A room, and the rooms it may import besides itself and the wire types. `core` is the view state and its address.
ROOMS: dict[str, tuple[str, ...]] = {
    "core": (),
    "core/words": ("core",),
    "core/trace": ("core", "core/words", "core/ops"),
    "core/ops": ("core", "core/words"),
    "core/layout": ("core", "core/words", "core/trace"),
    "core/paint": ("core", "core/words", "core/trace", "core/ops", "core/layout"),
    "api": ("core", "core/layout"),
    "static": CORE,
    "graph": CORE,
    "app/elements": ("api", "app/state", *CORE),
    "app/state": ("api", *CORE),
    "app/findings": ("api", *CORE, *APP),
    "app/timeline": (*CORE, *APP),
    "app/program": ("api", *CORE, *APP, "app/findings"),
    "app/inspector": ("api", *CORE, *APP, "app/findings"),
    "app/panels": ("api", *CORE, *APP),
    "app/graph": ("api", "graph", *CORE, *APP, "app/panels"),
    "app/shell": (
        *("api", *CORE, *APP),
        *("app/findings", "app/graph", "app/inspector", "app/panels", "app/program", "app/timeline"),
    ),
    "embed": ("api", "graph", *CORE, *APP, "app/program", "app/timeline"),
}


def source_files() -> list[str]:
    files = (path for path in SRC.rglob("*") if path.suffix in {".ts", ".svelte"})
    names = (path.relative_to(SRC).as_posix() for path in files)
    return sorted(name for name in names if ".test." not in name and "/fixtures/" not in name)


def imports(files: dict[str, str]) -> dict[str, set[str]]:
    """Each file and the files it imports, for types too and when it is needed too."""
    graph: dict[str, set[str]] = {}
    for name, text in files.items():
        targets = (_normal(PurePosixPath(name).parent / said) for said in IMPORT.findall(text))
        candidates = ((target, f"{target}.ts", f"{target}.svelte.ts") for target in targets)
        graph[name] = {file for group in candidates for file in group if file in files}
    return graph


def _normal(path: PurePosixPath) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def room(name: str) -> str:
    parts = name.split("/")
    return "/".join(parts[: 2 if parts[0] in {"core", "app"} and len(parts) > 2 else 1])


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Files that are left when all that import nothing more have been taken away, one after the other."""
    left = {name: targets - {name} for name, targets in graph.items()}
    while done := {name for name, targets in left.items() if not targets}:
        left = {name: targets - done for name, targets in left.items() if name not in done}
    return sorted(left)


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    return imports({name: (SRC / name).read_text() for name in source_files()})


def test_each_file_stands_in_a_known_room(graph: dict[str, set[str]]) -> None:
    assert {room(name) for name in graph} == set(ROOMS)


def test_no_import_leads_back(graph: dict[str, set[str]]) -> None:
    assert circle(graph) == []


def test_rooms_import_in_one_direction(graph: dict[str, set[str]]) -> None:
    wrong = [
        f"{name} imports {target}"
        for name, targets in graph.items()
        for target in sorted(targets)
        if target != "api/types.ts" and room(target) != room(name) and room(target) not in ROOMS[room(name)]
    ]
    assert wrong == []


def test_what_is_pure_knows_no_framework(graph: dict[str, set[str]]) -> None:
    pure = [name for name in graph if name.startswith(("core/", "static/"))]
    assert [name for name in pure if name.endswith(".svelte") or "from 'svelte" in (SRC / name).read_text()] == []


def test_a_circle_through_a_type_and_a_late_import_is_seen() -> None:
    files = {
        "core/a.ts": "import type { B } from './b'",
        "core/b.ts": "const c = import('../graph/c.svelte')",
        "graph/c.svelte": "import { a } from '../core/a'",
        "graph/d.ts": "export * from './c.svelte'",
    }
    assert imports(files)["core/b.ts"] == {"graph/c.svelte"}
    assert circle(imports(files)) == ["core/a.ts", "core/b.ts", "graph/c.svelte", "graph/d.ts"]
    assert circle(imports({**files, "graph/c.svelte": ""})) == []
