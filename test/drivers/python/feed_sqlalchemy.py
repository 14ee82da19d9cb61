# A reader of a feed with SQLAlchemy: the function of the feed as a table of a query, a wait, and a copy.
import sys

from sqlalchemy import BigInteger, Column, FetchedValue, Integer, Text, column, create_engine, func, select, text
from sqlalchemy.orm import Session, declarative_base

Base = declarative_base()


class Story(Base):
    __tablename__ = "story"
    id = Column(BigInteger, primary_key=True, server_default=FetchedValue())
    title = Column(Text)


engine = create_engine("postgresql+psycopg2://", future=True)  # where PGHOST, PGPORT, PGUSER and PGDATABASE say
with engine.begin() as connection:
    connection.execute(text("CREATE TABLE story (id bigserial PRIMARY KEY, title text)"))
    connection.execute(text("INSERT INTO story (title) SELECT 'old' FROM generate_series(1, 1500)"))
    connection.execute(text("SELECT snowflake_ids.create_feed('story')"))


def since(position):
    """Changes as step, key, title and position."""
    feed = func.story_feed(position).table_valued(
        column("step", Integer), column("id", BigInteger), "row", column("position", Text)).alias("f")
    return select(feed.c.step, feed.c.id, text("(f.\"row\").title"), feed.c.position)


# A wait is a transaction of its own, because inside one the snapshot may not move.
waits = engine.execution_options(isolation_level="AUTOCOMMIT")


def read(copy, position):
    with waits.connect() as connection:
        position = connection.scalar(select(func.snowflake_ids.wait_feed("story", position, "1 s")))
    with Session(engine) as session:
        for step, key, title, position in session.execute(since(position)):
            if step == 0:
                copy.clear()
            elif step == 1:
                copy.pop(key, None)
            elif step == 2:
                copy[key] = title
    return position  # of the last row


def table():
    with Session(engine) as session:
        return {story.id: story.title for story in session.scalars(select(Story))}


copy, position = {}, ""


def agrees(what):
    global position
    for _ in range(60):
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
