import psycopg
from psycopg.types import TypeInfo
from row import given, row, since

with psycopg.connect("", autocommit=True) as connection:  # where PGHOST, PGPORT, PGUSER and PGDATABASE say
    def found(query, *values):
        return connection.execute(query, values).fetchall()

    person = found("INSERT INTO person (name) VALUES ('ada') RETURNING id, disk, post, number")[0]
    id, disk, post, _ = person
    TypeInfo.fetch(connection, "sno").register(connection)  # for arrays
    row(person,
        write={"as is": lambda: found("INSERT INTO person (id, disk, post, number) VALUES (%s, %s, %s, %s) RETURNING id, disk, post, number", *given)},
        id={"as is": lambda: found("SELECT 1 FROM person WHERE id = %s AND disk = %s AND post = %s", id, disk, post)},
        list={"as is": lambda: found("SELECT 1 FROM person WHERE id = ANY(%s)", [id]),
              "`::sno[]`": lambda: found("SELECT 1 FROM person WHERE id = ANY(%s::sno[])", [id])},
        time={"as is": lambda: found("SELECT 1 FROM person WHERE id >= %s", since)},
        failed=lambda error: getattr(error, "sqlstate", None))
    assert found("SELECT array_agg(id) FROM person WHERE name = 'ada'") == [([id],)]

    # An int goes with the smallest integer type that holds it: a mastic is compared with all of them.
    assert len(found("SELECT 1 FROM person WHERE post IN (%s, %s, %s, %s)", 5, 70000, 5000000000, int(post))) == 1

    # COPY in text takes the str, in binary the bytes.
    with connection.cursor().copy("COPY person (id, name) FROM STDIN") as copy:
        copy.write_row(("9q99v4p624ppi222", "grace"))
    with connection.cursor().copy("COPY person (id, name) FROM STDIN (FORMAT binary)") as copy:
        copy.write_row((bytes.fromhex("3e0e7e8ae400af780001"), "eve"))
    assert found("SELECT id FROM person WHERE name = 'eve'") == [("9q99v4p624ppi223",)]

    # A poll that the driver has prepared continues after ADD COLUMN, also with (f."row").*, which keeps its columns.
    connection.execute("CREATE TABLE story (id bigint PRIMARY KEY, title text)")
    found("SELECT snowflake_ids.create_feed('story')")
    polls = ["SELECT * FROM story_feed(%s)", 'SELECT step, (f."row").*, position FROM story_feed(%s) AS f']
    positions = [found(poll, "")[-1][-1] for poll in polls]
    for n in range(12):
        if n == 8:
            with psycopg.connect("", autocommit=True) as other:
                other.execute("ALTER TABLE story ADD COLUMN body text")
                (prepared,) = connection.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement ~ 'story_feed'").fetchone()
                assert prepared == 2
        connection.execute("INSERT INTO story (id) VALUES (%s)", [n])
        rows = [found(poll, position) for poll, position in zip(polls, positions)]
        positions = [of_poll[-1][-1] for of_poll in rows]
        assert [[row[1] for row in of_poll] for of_poll in rows] == [[n, None], [n, None]]
        assert len(rows[1][0]) == 5
