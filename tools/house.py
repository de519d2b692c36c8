"""The house as its imports make it: rooms, who imports whom, circles; drawn into docs/architecture.md.

`python -m tools.house` writes the picture anew."""

import ast
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- the house: written by tools/house.py -->\n", "<!-- the end of the house -->\n"

ALONE = {
    "engine/__init__.py": "engine/local.py",
    "engine/__main__.py": "engine/local.py",
    "engine/local.py": "engine/local.py",
    "engine/pipeline.py": "engine/local.py",
    "engine/schema.py": "engine/local.py",
    "engine/supervisor_failures.py": "engine/supervisor_failures.py",
    "engine/broadcasting.py": "engine/trace_index.py",
    "engine/trace_index.py": "engine/trace_index.py",
    "engine/unfollowed.py": "engine/trace_index.py",
    "server/__main__.py": "server/app.py",
    "server/app.py": "server/app.py",
    "server/command.py": "server/app.py",
    "server/worker.py": "server/app.py",
}
"""Files that lie beside the rooms, and the file that their room is called after; the others are the facts of
`trace.py`."""

SPHINX = "packages/sphinx-gradgraph"
OURS = {"engine": "", "server": "", "sphinx_gradgraph": SPHINX}
"""The folder that each of our packages lies in."""

Graph = Mapping[str, Iterable[str]]

_IMPORT = re.compile(r"""(?:from|import)\s*\(?["'](\.{1,2}/[^"']+)["']""")


def room_of(file: str) -> str:
    """The room a file lies in: a folder of the engine or of the page, the server, or the files that belong together."""
    if file.startswith("server/"):
        return "server/cluster" if file.startswith("server/cluster/") else ALONE.get(file, "server")
    if file.startswith(SPHINX):
        return SPHINX
    if file.startswith("frontend/src/"):
        return "/".join(file.split("/")[:3])
    parts = file.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else ALONE.get(file, "engine/trace.py")


@cache
def files() -> Mapping[str, frozenset[str]]:
    """Each file of ours with those it imports anywhere in it, for types alone too."""
    python = {path for folder in ("engine", "server", SPHINX) for path in (ROOT / folder).rglob("*.py")}
    page = {path for path in (ROOT / "frontend" / "src").rglob("*") if path.suffix in (".ts", ".svelte")}
    own = {str(path.relative_to(ROOT)) for path in python | page}
    found = {_name(path): _python_imports(path) for path in python}
    found |= {_name(path): _page_imports(path) for path in page if not path.stem.endswith((".test", "types"))}
    return {file: frozenset((targets & own) - {file}) for file, targets in found.items()}


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _python_imports(path: Path) -> set[str]:
    modules: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            of_files = {name for name in inner if _file_of(name).exists()}
            modules |= of_files if len(of_files) == len(inner) else {*of_files, node.module}
    return {_name(_file_of(module)) for module in modules if module.partition(".")[0] in OURS}


def _file_of(module: str) -> Path:
    path = ROOT.joinpath(OURS.get(module.partition(".")[0], ""), *module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _page_imports(path: Path) -> set[str]:
    found: set[str] = set()
    for target in _IMPORT.findall(path.read_text("utf-8")):
        aimed = (path.parent / target).resolve()
        found.update(_name(end) for end in (aimed, aimed.with_name(f"{aimed.name}.ts")) if end.is_relative_to(ROOT))
    return found


def rooms() -> dict[str, set[str]]:
    """Each room with those it imports."""
    found: dict[str, set[str]] = {}
    for file, targets in files().items():
        found.setdefault(room_of(file), set()).update(map(room_of, targets))
    return {room: targets - {room} for room, targets in found.items()}


def circles(graph: Graph) -> list[list[str]]:
    """What leads to itself: sets of which each leads to each."""
    reached = {start: _reached(graph, start) for start in graph}
    mutual = {frozenset(other for other in reached[start] if start in reached.get(other, ())) for start in graph}
    return sorted(sorted(group) for group in mutual if group)


def _reached(graph: Graph, start: str) -> set[str]:
    """All that one leads to, itself only where it lies on a circle."""
    found: set[str] = set()
    pending = [start]
    while pending:
        for target in graph.get(pending.pop(), ()):
            if target not in found:
                found.add(target)
                pending.append(target)
    return found


def picture() -> str:
    """The rooms as a Mermaid flowchart; an arrow that follows from others is left out."""
    graph = rooms()
    lines = ["```mermaid", "flowchart TD"]
    lines += [f'  {_id(room)}["{room}"]' for room in sorted(graph)]
    for room, targets in sorted(graph.items()):
        direct = sorted(target for target in targets if not _follows(graph, targets - {target}, target))
        lines += [f"  {_id(room)} --> {_id(target)}" for target in direct]
    return "\n".join([*lines, "```\n"])


def _follows(graph: Graph, others: Iterable[str], target: str) -> bool:
    """Whether the other rooms that one imports lead to the target anyway; those on a circle with it do not count."""
    return any(target in _reached(graph, other) and other not in _reached(graph, target) for other in others)


def _id(room: str) -> str:
    return re.sub(r"\W", "_", room)


def drawn() -> str:
    """The document with the picture in its place."""
    text = DOCUMENT.read_text("utf-8")
    before, rest = text.split(BEGIN)
    return before + BEGIN + picture() + END + rest.partition(END)[2]


if __name__ == "__main__":
    DOCUMENT.write_text(drawn(), "utf-8")
