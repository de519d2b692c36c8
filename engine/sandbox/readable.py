"""Which files of the machine a run may read: Python's library, the shared libraries PyTorch loads, the engine."""

import sys
import sysconfig
from pathlib import Path

DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")

_ENGINE = Path(__file__).parents[1]
_EXTRAS = ("/etc/ld.so.cache", "/usr/share/zoneinfo")


def readable_paths() -> tuple[str, ...]:
    """Real paths, none inside another. To be asked after the warm-up: it looks at what is loaded.

    `sys.path` is not asked, because an editable installation puts a whole checkout there, data included.
    """
    paths = {Path(path).resolve() for path in (*_imported_from(), *_mapped_libraries(), *_EXTRAS)}
    present = sorted(path for path in paths if path.exists())
    return tuple(str(path) for path in present if not any(parent in paths for parent in path.parents))


def links() -> dict[str, str]:
    """Other paths of what is imported, through symbolic links, none inside another: modules that are loaded late are
    looked for there."""
    real = {path: str(Path(path).resolve()) for path in _imported_from()}
    other = {path: to for path, to in real.items() if path != to}
    return {path: to for path, to in other.items() if not any(str(parent) in other for parent in Path(path).parents)}


def _imported_from() -> set[str]:
    library = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    return {*library, str(_ENGINE)}


def _mapped_libraries() -> set[str]:
    """Folders of the shared objects this process has loaded; siblings may be loaded later."""
    if sys.platform != "linux":
        return set()
    lines = Path("/proc/self/maps").read_text().splitlines()
    files = {line[line.index("/") :] for line in lines if "/" in line and ".so" in line}
    return {str(Path(file).parent) for file in files if file.count("/") > 1}
