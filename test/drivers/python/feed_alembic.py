# doc/drivers.md: what Alembic wants to change in the table "story", which has a feed. The argument says whether with the
# page's function. Then SQLAlchemy inserts, changes and deletes rows.
import sys

from alembic.autogenerate import produce_migrations
from alembic.migration import MigrationContext
from sqlalchemy import BigInteger, Column, FetchedValue, Text, create_engine
from sqlalchemy.orm import Session, declarative_base

Base = declarative_base()


class Story(Base):
    __tablename__ = "story"
    id = Column(BigInteger, primary_key=True, server_default=FetchedValue())
    title = Column(Text)


def include_object(object, name, type_, reflected, compare_to):
    return not reflected or name not in ("stamp", "story_stamp_idx")


def changed(operation):
    return [part for inner in operation.ops for part in changed(inner)] if hasattr(operation, "ops") else [operation]


engine = create_engine("postgresql+psycopg2://", future=True)  # where PGHOST, PGPORT, PGUSER and PGDATABASE say
options = {"include_object": include_object} if sys.argv[1] == "with" else {}
with engine.begin() as connection:
    context = MigrationContext.configure(connection, opts=options)
    changes = changed(produce_migrations(context, Base.metadata).upgrade_ops)
print("wants:", *(type(change).__name__ for change in changes))
if options:
    with Session(engine) as session:
        story, gone = Story(title="new"), Story(title="gone")
        session.add_all([story, gone])
        session.commit()
        story.title = "changed"
        session.delete(gone)
        session.commit()
    print("writes: done")
