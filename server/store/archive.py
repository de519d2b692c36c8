"""All that a store holds in one file, which any kind of store can be filled from.

The file is a ZIP with a few words on itself and a SQLite file with the same tables: the migrations that lead an old
store to the present tables lead an old archive there too.
"""

import json
import os
import shutil
import struct
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, func, insert, select

from server.store.database import Database, SqliteFile
from server.store.protocol import StoreDown
from server.store.schema import metadata, snapshots, traces

FORMAT = "gradgraph.archive/1"
_ABOUT, _TABLES = "about.json", "store.sqlite3"
_ROWS = 16
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    NotImplementedError,
    RuntimeError,
    LookupError,
    ValueError,
    TypeError,
    EOFError,
    OSError,
)
"""What the library says of files that are no ZIP any more."""


class Refused(Exception):
    """A backup or a restoring that was not begun, and why."""


class Contents(NamedTuple):
    """What an archive or a store holds."""

    traces: int
    snapshots: int

    def __str__(self) -> str:
        return f"{self.traces} traces and {self.snapshots} snapshots"


def backup(database: Database, file: Path, *, overwrite: bool = False) -> Contents:
    """Write everything as it is at one moment, also while servers go on; the file is there when it is whole.

    Raises Refused."""
    if file.exists() and not overwrite:
        raise Refused(f"{file} is there already; choose another name, or add --overwrite")
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=f".{file.name}-") as folder:
        tables, whole = Path(folder) / _TABLES, Path(folder) / "whole"
        copy = SqliteFile(tables, journal="OFF")
        with database.reading() as source, copy.writing() as target:
            _replace(source, target)
            contents = _contents(source)
        copy.close()
        about = {"format": FORMAT, "made_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **contents._asdict()}
        with whole.open("wb") as stream:
            with zipfile.ZipFile(stream, "w") as archive:
                archive.writestr(_ABOUT, json.dumps(about))
                archive.write(tables, _TABLES)
            stream.flush()
            os.fsync(stream.fileno())
        whole.replace(file)
    return contents


def restore(database: Database, file: Path, *, overwrite: bool = False) -> Contents:
    """Have the store hold what an archive does, or leave it as it is. Raises Refused."""
    with _opened(file) as archive, archive.reading() as source, database.writing() as target:
        held = _contents(target)
        if any(held) and not overwrite:
            raise Refused(f"the store holds {held}; --overwrite puts those of {file.name} in their place")
        _replace(source, target)
        return _contents(target)


@contextmanager
def _opened(file: Path) -> Iterator[Database]:
    """The tables of an archive, checked and brought to their present form. Raises Refused."""
    if not file.is_file():
        raise Refused(f"there is no file {file}")
    try:
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=f".{file.name}-") as folder:
            tables = Path(folder) / _TABLES
            _unpack(file, tables)
            database = SqliteFile(tables, journal="OFF")
            try:
                database.prepare()
                yield database
            finally:
                database.close()
    except StoreDown as newer:
        raise Refused(f"{file} cannot be read: {newer}") from newer


def _unpack(file: Path, tables: Path) -> None:
    """Take the tables out of an archive; the ZIP's sums tell whether they are as they were written."""
    try:
        with zipfile.ZipFile(file) as archive:
            about: dict[str, Any] = json.loads(archive.read(_ABOUT))
            if about["format"] != FORMAT:
                raise Refused(f"{file} is {about['format']!r}, and this Gradgraph reads {FORMAT}")
            with archive.open(_TABLES) as packed, tables.open("wb") as unpacked:
                shutil.copyfileobj(packed, unpacked)
    except _DAMAGED as wrong:
        raise Refused(f"{file} cannot be read as an archive of Gradgraph ({type(wrong).__name__}: {wrong})") from None


def _replace(source: Connection, target: Connection) -> None:
    """Put the rows of all tables in place of those that are there."""
    for table in reversed(metadata.sorted_tables):
        target.execute(delete(table))
    for table in metadata.sorted_tables:
        found = source.execute(select(table), execution_options={"yield_per": _ROWS})
        for rows in found.mappings().partitions():
            target.execute(insert(table), [dict(row) for row in rows])


def _contents(connection: Connection) -> Contents:
    count = [connection.execute(select(func.count()).select_from(table)).scalar_one() for table in (traces, snapshots)]
    return Contents(*count)
