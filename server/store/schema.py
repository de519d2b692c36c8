"""The tables of a store, the same in every kind of database; `migrations/` leads older ones here."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    Table,
    Text,
    TypedColumns,
    false,
)

HEAD = "0002"
"""The newest migration; a store that is there already is not asked of Alembic, which takes a while to import."""

metadata = MetaData()


class _Traces(TypedColumns):
    id = Column(Text, primary_key=True)
    etag = Column(Text, nullable=False)
    format = Column(Text, nullable=False)
    bytes = Column(BigInteger, nullable=False)  # with those of its parts
    used = Column(Double, nullable=False)  # seconds since 1970
    pinned = Column(Boolean, nullable=False, server_default=false())
    body = Column(LargeBinary, nullable=False)


class _Parts(TypedColumns):
    run = Column(Text, ForeignKey("traces.id", ondelete="CASCADE"), primary_key=True)
    name = Column(Text, primary_key=True)
    body = Column(LargeBinary, nullable=False)


class _Held(TypedColumns):
    what = Column(Text, primary_key=True)  # the name of a table
    entries = Column(BigInteger, nullable=False)
    bytes = Column(BigInteger, nullable=False)


class _Snapshots(TypedColumns):
    id = Column(Text, primary_key=True)
    size_bytes = Column(BigInteger, nullable=False)
    created_at = Column(Double, nullable=False)  # seconds since 1970
    body = Column(LargeBinary, nullable=False)


class _SnapshotOwners(TypedColumns):
    snapshot = Column(Text, ForeignKey("snapshots.id", ondelete="CASCADE"), primary_key=True)
    owner = Column(Text, primary_key=True)
    created_at = Column(Double, nullable=False)


traces = Table("traces", metadata, _Traces)
Index("traces_used", traces.c.pinned, traces.c.used)
parts = Table("parts", metadata, _Parts, sqlite_with_rowid=False)
held = Table("held", metadata, _Held)
"""What is in the tables: to add it up for each write would read all of them."""
snapshots = Table("snapshots", metadata, _Snapshots)
snapshot_owners = Table("snapshot_owners", metadata, _SnapshotOwners)
