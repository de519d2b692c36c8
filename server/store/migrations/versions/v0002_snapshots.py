"""Snapshots, and who holds them."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "snapshots",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("size_bytes", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "snapshot_owners",
        sa.Column("snapshot", sa.Text, sa.ForeignKey("snapshots.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("owner", sa.Text, primary_key=True),
        sa.Column("created_at", sa.Double, nullable=False),
    )
    op.execute("INSERT INTO held VALUES ('snapshots', 0, 0)")
    if op.get_bind().dialect.name == "postgresql":  # bodies are compressed already
        op.execute("ALTER TABLE snapshots ALTER COLUMN body SET STORAGE EXTERNAL")
