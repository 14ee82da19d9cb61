# doc/drivers.md: what Alembic proposes without and with the page's function, and what SQLAlchemy reads of an array
# as it is and as a text[]. The page is the first argument.
import re
import sys

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import ARRAY, Column, MetaData, Table, Text, cast, create_engine, select
from sqlalchemy.types import UserDefinedType


class Id(UserDefinedType):
    cache_ok = True
    def __init__(self, spec): self.spec = spec
    def get_col_spec(self): return self.spec


blocks = re.findall(r"```python\n(.*?)```", open(sys.argv[1]).read(), re.DOTALL)
[alembic] = [block for block in blocks if "include_schemas" in block]
url = "postgresql+psycopg2://"  # where PGHOST, PGPORT, PGUSER and PGDATABASE say


def proposed(options):
    with create_engine(url, future=True).connect() as connection:
        diff = compare_metadata(MigrationContext.configure(connection, opts=options), MetaData())
    return sorted({f"{what} {table.schema}.{table.name}" for what, table in (d for d in diff if d[0] == "remove_table")})


print("without:", *proposed({"include_schemas": True}), sep="\n")
exec(alembic)
print("with:", *proposed(options), sep="\n")

listed = Table("listed", MetaData(), Column("ids", ARRAY(Id("sno"))))


def read(ids):
    with create_engine(url, future=True).connect() as connection:
        return connection.execute(select(ids)).scalar()


print("array as it is:", len(read(listed.c.ids)), "elements")
print("array, cast:", *read(cast(listed.c.ids, ARRAY(Text))))
