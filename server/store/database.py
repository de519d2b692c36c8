"""The database under a store, a SQLite file or a PostgreSQL, with its tables brought to their present form.

Every connection commits each statement at once; who writes begins a transaction, and waits for other writers first.
"""

import contextlib
import logging
import sqlite3
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import ConnectionPoolEntry

from server.store.protocol import StoreDown
from server.store.schema import HEAD

log = logging.getLogger("gradgraph.store")

THREADS = 4
PATIENCE_S = 2.0
"""How long a lock that another process holds is waited for, and a PostgreSQL that does not answer."""
_ALEMBIC = threading.Lock()
"""Alembic's migrations find their connection in a variable of its module."""


class Database(ABC):
    """Connections to one database, for any thread."""

    begin_writing: ClassVar[str]
    """Begins a transaction when no other writer has one, in whatever process."""
    begin_reading: ClassVar[str]
    """Begins a transaction that sees everything as it is now, however long it takes."""
    comes_and_goes: ClassVar[bool]
    """Whether a server may start before it can be used."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._writing = threading.Lock()
        self._preparing = threading.Lock()
        self._prepared = False
        self.generation = 0
        """Grows when the database is begun anew."""

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """A connection on which each statement sees what was last committed."""
        self.prepare()
        with self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction, the only one that writes."""
        self.prepare()
        with self._writing, self._engine.begin() as connection:
            connection.exec_driver_sql(self.begin_writing)
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction in which nothing changes."""
        self.prepare()
        with self._engine.begin() as connection:
            connection.exec_driver_sql(self.begin_reading)
            yield connection

    def prepare(self) -> None:
        """Bring the tables to their present form, or make them. Raises StoreDown where a newer server has been."""
        if not self._prepared:
            with self._preparing:
                self._migrate()
                self._prepared = True

    def _migrate(self) -> None:
        with self._engine.connect() as connection:
            noted = inspect(connection).has_table("alembic_version")
            version = connection.execute(text("SELECT version_num FROM alembic_version")).scalar() if noted else None
        if version == HEAD:
            return
        logging.getLogger("alembic").setLevel(logging.WARNING)  # it tells of its plugins while it is imported
        from alembic import command
        from alembic.config import Config
        from alembic.util import CommandError

        config = Config()
        config.set_main_option("script_location", str(Path(__file__).with_name("migrations")).replace("%", "%%"))
        try:
            with _ALEMBIC, self._engine.begin() as connection:
                connection.exec_driver_sql(self.begin_writing)
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
        except CommandError as unknown:
            raise StoreDown(
                f"the tables are those of a newer Gradgraph ({version}), and this one knows them up to {HEAD}: "
                "start the newer one, or let this one begin another store"
            ) from unknown

    @abstractmethod
    def mend(self, trouble: DBAPIError, generation: int) -> bool:
        """Whether what failed in a generation may go better when it is done again."""

    @abstractmethod
    def told(self, trouble: Exception) -> str:
        """What went wrong, for everyone to read."""

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()


class SqliteFile(Database):
    """One file, which processes may share; a damaged one is set aside and begun anew."""

    begin_writing = "BEGIN IMMEDIATE"
    begin_reading = "BEGIN"
    comes_and_goes = False

    def __init__(self, file: Path, *, journal: str = "WAL") -> None:
        self._file = file
        engine = create_engine(
            URL.create("sqlite", database=str(file)),
            isolation_level="AUTOCOMMIT",
            connect_args={"timeout": PATIENCE_S, "check_same_thread": False},
            pool_size=THREADS,
            hide_parameters=True,
        )

        @event.listens_for(engine, "connect")
        def set_up(connection: sqlite3.Connection, _: ConnectionPoolEntry) -> None:
            _keep_journal(connection, journal)
            connection.executescript("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;")

        super().__init__(engine)

    def mend(self, trouble: DBAPIError, generation: int) -> bool:
        damaged = getattr(trouble.orig, "sqlite_errorcode", None) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
        if damaged:
            with self._preparing:
                if generation == self.generation:  # else another thread has done so
                    self._set_aside(trouble)
        return damaged

    def _set_aside(self, trouble: DBAPIError) -> None:
        """Keep the damaged file under another name for the operator, and let a new one be begun."""
        aside = f"{self._file.name}.damaged-{time.time_ns()}"
        log.error("the store is damaged (%s): set aside as %s", trouble.orig, aside)
        for ending in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                self._file.with_name(self._file.name + ending).rename(self._file.with_name(aside + ending))
        self._engine.dispose()
        self._prepared = False
        self.generation += 1

    def told(self, trouble: Exception) -> str:
        cause = _cause(trouble)
        return f"{type(cause).__name__}: {cause}"


class Postgres(Database):
    """A PostgreSQL, which servers on many machines may share; it may be away for a while."""

    begin_writing = "BEGIN; SELECT pg_advisory_xact_lock(7165904)"
    begin_reading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    comes_and_goes = True

    def __init__(self, url: URL) -> None:
        patience_ms = int(PATIENCE_S * 1000)
        engine = create_engine(
            url.set(drivername="postgresql+psycopg"),
            isolation_level="AUTOCOMMIT",
            connect_args={
                "connect_timeout": int(PATIENCE_S),
                "tcp_user_timeout": 5 * patience_ms,
                "keepalives_idle": 5,
                "keepalives_interval": 2,
                "keepalives_count": 3,
            },
            pool_size=THREADS,
            hide_parameters=True,
        )

        @event.listens_for(engine, "connect")
        def set_up(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
            connection.cursor().execute(f"SET lock_timeout = {patience_ms}")

        super().__init__(engine)

    def mend(self, trouble: DBAPIError, generation: int) -> bool:
        return trouble.connection_invalidated

    def told(self, trouble: Exception) -> str:
        """The kind of trouble alone: the rest may name hosts and users, and is in the log."""
        return f"{type(_cause(trouble)).__name__}: the log of the server says more"


def database(store: str, folder: Path) -> Database:
    """The database that the settings name: a PostgreSQL by its URL, or else the file in the folder."""
    if store:
        return Postgres(make_url(store))
    folder.mkdir(parents=True, exist_ok=True)
    return SqliteFile(folder / "gradgraph.sqlite3")


def _keep_journal(connection: sqlite3.Connection, journal: str) -> None:
    """Sets how a file keeps its journal. SQLite (3.40) fails at once where another process begins the same file."""
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            connection.execute(f"PRAGMA journal_mode = {journal}")
        except sqlite3.OperationalError as trouble:
            if trouble.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            return


def _cause(trouble: Exception) -> BaseException:
    """What the driver said, without SQLAlchemy's words around it."""
    return (isinstance(trouble, DBAPIError) and trouble.orig) or trouble
