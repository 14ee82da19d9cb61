# doc/drivers.md: what Alembic proposes without and with the page's function, and what SQLAlchemy reads of an array
# before and after its type is registered. The page is the first argument.
import re
import sys

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from psycopg2 import STRING
from psycopg2.extensions import new_array_type, register_type
from sqlalchemy import ARRAY, Column, MetaData, Table, create_engine, event, select, text
from sqlalchemy.types import UserDefinedType


class Id(UserDefinedType):
    cache_ok = True
    def __init__(self, spec): self.spec = spec
    def get_col_spec(self): return self.spec


blocks = re.findall(r"```python\n(.*?)```", open(sys.argv[1]).read(), re.DOTALL)
[alembic] = [block for block in blocks if "include_schemas" in block]
[arrays] = [block for block in blocks if "new_array_type" in block]
url = "postgresql+psycopg2://"  # where PGHOST, PGPORT, PGUSER and PGDATABASE say


def proposed(options):
    with create_engine(url, future=True).connect() as connection:
        diff = compare_metadata(MigrationContext.configure(connection, opts=options), MetaData())
    return sorted({f"{what} {table.schema}.{table.name}" for what, table in (d for d in diff if d[0] == "remove_table")})


print("without:", *proposed({"include_schemas": True}), sep="\n")
exec(alembic)
print("with:", *proposed(options), sep="\n")

listed = Table("listed", MetaData(), Column("ids", ARRAY(Id("sno"))))


def read(engine):
    with engine.connect() as connection:
        return connection.execute(select(listed.c.ids)).scalar()


engine = create_engine(url, future=True)
print("array before:", len(read(engine)), "elements")
engine = create_engine(url, future=True)
exec(arrays)
print("array after:", *read(engine))
