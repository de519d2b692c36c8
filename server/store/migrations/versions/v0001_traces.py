"""Traces, what lies beside them, and how much that is; a file from before there were migrations is taken over.

Its traces stay where they are: to copy them could take more room than the disk has.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    tables = sa.inspect(op.get_bind()).get_table_names()
    if "traces" in tables:
        _take_over(tables)
    else:
        _create()


def _create() -> None:
    op.create_table(
        "traces",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("etag", sa.Text, nullable=False),
        sa.Column("format", sa.Text, nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("used", sa.Double, nullable=False),
        sa.Column("pinned", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_index("traces_used", "traces", ["pinned", "used"])
    op.create_table(
        "parts",
        sa.Column("run", sa.Text, sa.ForeignKey("traces.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
    _create_held()
    op.execute("INSERT INTO held VALUES ('traces', 0, 0)")
    if op.get_bind().dialect.name == "postgresql":  # bodies are compressed already
        op.execute("ALTER TABLE traces ALTER COLUMN body SET STORAGE EXTERNAL")
        op.execute("ALTER TABLE parts ALTER COLUMN body SET STORAGE EXTERNAL")


def _create_held() -> None:
    op.create_table(
        "held",
        sa.Column("what", sa.Text, primary_key=True),
        sa.Column("entries", sa.BigInteger, nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
    )


def _take_over(tables: list[str]) -> None:
    """Formats were noted later than traces, and their sum later still: the first ones were all of the first format."""
    columns = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("traces")}
    if "format" not in columns:
        op.execute("ALTER TABLE traces ADD COLUMN format TEXT NOT NULL DEFAULT 'gradgraph.trace/1'")
    op.execute("ALTER TABLE tensors RENAME TO parts")
    op.execute("ALTER TABLE parts RENAME COLUMN id TO name")
    for trigger in ("put", "replaced", "gone"):
        op.execute(f"DROP TRIGGER IF EXISTS {trigger}")
    if "held" in tables:
        op.execute("ALTER TABLE held RENAME TO summed")
    else:
        op.execute("CREATE TABLE summed AS SELECT count(*) AS traces, coalesce(sum(bytes), 0) AS bytes FROM traces")
    _create_held()
    op.execute("INSERT INTO held SELECT 'traces', traces, bytes FROM summed")
    op.drop_table("summed")
