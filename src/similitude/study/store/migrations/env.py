"""How Alembic runs the migrations: on the connection that the database hands over."""

from alembic import context

from similitude.study.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
