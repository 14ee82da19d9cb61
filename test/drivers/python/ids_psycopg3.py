from datetime import datetime, timedelta, timezone

import psycopg
from psycopg.types import TypeInfo

with psycopg.connect("") as connection:  # where PGHOST, PGPORT, PGUSER and PGDATABASE say
    # A sno, a gid and a mastic are str, a bigint is int.
    id, disk, post, invoice = connection.execute(
        "INSERT INTO person (name) VALUES ('ada') RETURNING id, disk, post, invoice").fetchone()
    print(type(id).__name__, type(disk).__name__, type(post).__name__, type(invoice).__name__)

    # Parameters travel next to the query: a str without a type, a datetime as timestamptz.
    print(connection.execute("SELECT name FROM person WHERE id = %s AND disk = %s AND post = %s AND invoice = %s",
                             (id, disk, post, invoice)).fetchone()[0])
    since = datetime.now(timezone.utc) - timedelta(hours=1)
    print(connection.execute("SELECT count(*) FROM person WHERE id >= %s", (since,)).fetchone()[0])

    # An int goes with the smallest integer type that holds it: a mastic is compared with all of them.
    print(connection.execute("SELECT count(*) FROM person WHERE post IN (%s, %s, %s, %s)", (5, 70000, 5000000000, int(post))).fetchone()[0])

    # Arrays, once psycopg knows the type. It asks the server for its number.
    TypeInfo.fetch(connection, "sno").register(connection)
    ids = connection.execute("SELECT array_agg(id) FROM person").fetchone()[0]
    print(type(ids).__name__, type(ids[0]).__name__)
    print(connection.execute("SELECT count(*) FROM person WHERE id = ANY(%s::sno[])", (ids,)).fetchone()[0])

    # In binary a sno is its 10 bytes, a gid its 16.
    raw = connection.execute("SELECT id, disk FROM person", binary=True).fetchone()
    print(len(raw[0]), len(raw[1]))

    # COPY in text takes the str. COPY in binary takes the bytes, and refuses the str.
    with connection.cursor().copy("COPY person (id, name) FROM STDIN") as copy:
        copy.write_row(("9q99v4p624ppi222", "grace"))
    with connection.cursor().copy("COPY person (id, name) FROM STDIN (FORMAT binary)") as copy:
        copy.write_row((bytes.fromhex("3e0e7e8ae400af780001"), "eve"))
    print(connection.execute("SELECT id FROM person WHERE name = 'eve'").fetchone()[0])
    connection.rollback()
