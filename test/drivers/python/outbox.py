# The outbox of doc/feed.md, written by an ORM as a role that may not write ids: a class that lets the server make the
# id inserts; those that send one are refused.
from sqlalchemy import BigInteger, Column, FetchedValue, Text, create_engine, func, select, text
from sqlalchemy.exc import ProgrammingError
from sqlalchemy.orm import Session, declarative_base


def mapped(name, **id):
    Base = declarative_base()
    return type(name, (Base,), {
        "__tablename__": "outgoing",
        "id": Column(BigInteger, primary_key=True, **id),
        "body": Column(Text, nullable=False),
    })


engine = create_engine("postgresql+psycopg2://", future=True)  # where PGHOST, PGPORT, PGUSER and PGDATABASE say


def inserts(outgoing, **values):
    with Session(engine) as session:
        session.execute(text("SET ROLE shop"))
        row = outgoing(**values)
        session.add(row)
        try:
            session.commit()
            return "inserted" if row.id > 0 else "no id"
        except ProgrammingError as error:
            return f"{error.orig.pgcode} {error.orig.diag.message_primary}"


of_the_server = mapped("OfTheServer", server_default=FetchedValue())
print("id of the server:", inserts(of_the_server, body="one"))
print("id of the program:", inserts(of_the_server, body="two", id=5))
print("id of the class:", inserts(mapped("OfTheClass", default=func.gen_mastic()), body="three"))
print("id that the class asks for first:",
      inserts(mapped("Drawn", default=lambda context: context.connection.scalar(select(func.gen_mastic()))), body="four"))
