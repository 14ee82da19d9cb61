# A reader of a feed with SQLAlchemy: a model of the view, its rows beside those of the table, and a wait for the next.
import sys

from sqlalchemy import BigInteger, Boolean, Column, FetchedValue, Text, create_engine, select, text
from sqlalchemy.orm import Session, declarative_base

Base = declarative_base()


class Story(Base):
    __tablename__ = "story"
    id = Column(BigInteger, primary_key=True, server_default=FetchedValue())
    title = Column(Text)


class StoryChange(Base):
    __tablename__ = "story_feed"
    position = Column(BigInteger)
    stamp = Column(BigInteger, primary_key=True)
    deleted = Column(Boolean)
    id = Column(BigInteger)


engine = create_engine("postgresql+psycopg2://", future=True)  # where PGHOST, PGPORT, PGUSER and PGDATABASE say
with engine.begin() as connection:
    connection.execute(text("CREATE TABLE story (id bigint DEFAULT gen_mastic() PRIMARY KEY, title text)"))
    connection.execute(text("INSERT INTO story (title) SELECT 'old' FROM generate_series(1, 1500)"))
    connection.execute(text("SELECT to_do FROM snowflake_ids.create_feed('story', deletes => true)"))


def since(session, position):
    """The changes since the position, each with its row or None, in the order of their stamps."""
    return session.execute(
        select(StoryChange, Story).outerjoin(Story, Story.id == StoryChange.id)
        .where(StoryChange.stamp >= position).order_by(StoryChange.stamp)).all()


def read(copy, position):
    with Session(engine) as session:
        for change, story in since(session, position):
            position = change.position  # the same in each row of a query
            if change.deleted and change.id is None:
                copy.clear()
            elif change.deleted:
                copy.pop(change.id, None)
            elif story is not None:
                copy[story.id] = story.title
    return position


# A wait is a transaction of its own, because inside one the snapshot may not move.
waits = engine.execution_options(isolation_level="AUTOCOMMIT")


def wait(seen):
    with waits.connect() as connection:
        return connection.scalar(text("SELECT snowflake_ids_wait('story', :seen, '1 s')"), {"seen": seen})


def table():
    with Session(engine) as session:
        return {story.id: story.title for story in session.scalars(select(Story))}


with engine.connect() as connection:
    position = int(connection.scalar(text("SELECT snowflake_ids.feed_position('story')")))
copy = table()


def agrees(what):
    global position
    seen = 0
    for _ in range(60):
        seen = wait(seen)
        position = read(copy, position)
        if copy == table():
            print(what)
            return
    sys.exit(f"{what}: the copy differs")


with Session(engine) as slow, Session(engine) as session:
    slow.add(Story(title="slow"))
    slow.flush()
    session.add(Story(title="new"))
    session.commit()
    position = read(copy, position)
    slow.commit()
agrees("a slow transaction")

with Session(engine) as session:
    first, second, *rest = session.scalars(select(Story)).all()
    session.delete(first)
    for story in rest[:1200]:
        story.title = "changed"
    session.commit()
agrees("many changes, and a deletion")

with Session(engine) as session:
    session.execute(text("TRUNCATE story"))
    session.add(Story(title="after"))
    session.commit()
agrees("a table that was emptied")
