from datetime import datetime, timedelta, timezone

from sqlalchemy import BigInteger, Column, DateTime, MetaData, Text, create_engine, func, literal, text
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.orm import Session, declarative_base
from sqlalchemy.types import UserDefinedType


class Sno(UserDefinedType):
    cache_ok = True

    def get_col_spec(self):
        return "sno"


class Gid(UserDefinedType):
    cache_ok = True

    def __init__(self, kind):
        self.kind = kind

    def get_col_spec(self):
        return f"gid({self.kind})"


Base = declarative_base()


class Event(Base):
    __tablename__ = "audit_event"
    id = Column(Sno, primary_key=True, server_default=text("gen_sno()"))
    disk = Column(Gid("volume"), nullable=False, server_default=text("gen_gid('volume')"))
    post = Column(BigInteger, nullable=False, server_default=text("gen_mastic()"))
    name = Column(Text)


engine = create_engine("postgresql+psycopg2://")  # where PGHOST, PGPORT, PGUSER and PGDATABASE say
Base.metadata.create_all(engine)
with Session(engine) as session:
    # The server makes the key. SQLAlchemy asks for it with RETURNING, and for other defaults when they are looked at.
    event = Event(name="ada")
    session.add(event)
    session.flush()
    print(type(event.id).__name__, type(event.disk).__name__, type(event.post).__name__)

    print(session.get(Event, event.id) is event)
    since = literal(datetime.now(timezone.utc) - timedelta(hours=1), DateTime(timezone=True))
    print(session.query(Event).filter(Event.id >= since).count())
    print(session.query(Event).filter(func.sno_timestamp(Event.id) >= since).count())
    session.rollback()

# Reflection warns of types that it does not know, and forgets them. Tell it.
ischema_names["sno"] = Sno
ischema_names["gid"] = Gid
reflected = MetaData()
reflected.reflect(engine, only=["audit_event"])
print(repr(reflected.tables["audit_event"].c.id.type), reflected.tables["audit_event"].c.disk.type.kind)
