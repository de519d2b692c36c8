"""What Alembic runs: the migrations, within the transaction of whoever asks for them."""

from alembic import context

from server.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
