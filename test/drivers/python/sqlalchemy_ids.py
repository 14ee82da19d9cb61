from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from row import given, row, since
from sqlalchemy import BigInteger, DateTime, create_engine, literal, select
from sqlalchemy.orm import Session

from sqlalchemy import Column, Text, text
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.orm import declarative_base
from sqlalchemy.types import UserDefinedType


class Id(UserDefinedType):
    cache_ok = True
    def __init__(self, spec): self.spec = spec
    def get_col_spec(self): return self.spec

ischema_names.update(sno=lambda: Id("sno"), mastic=lambda: Id("mastic"), gid=lambda kind: Id(f"gid({kind})"))

Base = declarative_base()


class Person(Base):
    __tablename__ = "person"
    id = Column(Id("sno"), primary_key=True, server_default=text("gen_sno()"))
    name = Column(Text)
    disk = Column(Id("gid(volume)"), nullable=False, server_default=text("gen_gid('volume')"))
    post = Column(Id("mastic"), nullable=False, server_default=text("gen_mastic()"))
    number = Column(BigInteger, nullable=False, server_default=text("gen_mastic()"))


engine = create_engine("postgresql+psycopg2://", future=True)  # where PGHOST, PGPORT, PGUSER and PGDATABASE say
with engine.connect() as connection:
    context = MigrationContext.configure(connection, opts={"compare_type": True})
    diff = compare_metadata(context, Base.metadata)

with Session(engine) as session:
    ada = Person(name="ada")
    session.add(ada)
    session.commit()

    def found(condition):
        return session.scalars(select(Person).where(condition)).all()

    def write():
        grace = Person(**dict(zip(("id", "disk", "post", "number"), given)))
        session.add(grace)
        session.commit()
        return [(grace.id, grace.disk, grace.post, grace.number)]

    time = literal(since, DateTime(timezone=True))
    row((ada.id, ada.disk, ada.post, ada.number),
        write={"as is": write},
        id={"as is": lambda: found((Person.id == ada.id) & (Person.disk == ada.disk) & (Person.post == ada.post))},
        list={"as is": lambda: found(Person.id.in_([ada.id]))},
        time={"`literal`": lambda: found(Person.id >= time)},
        diff="empty" if diff == [] else str(diff))
