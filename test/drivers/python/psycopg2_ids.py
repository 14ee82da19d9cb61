import psycopg2
from row import given, row, since

connection = psycopg2.connect("")  # where PGHOST, PGPORT, PGUSER and PGDATABASE say
connection.autocommit = True
cursor = connection.cursor()


def found(query, *values):
    cursor.execute(query, values)
    return cursor.fetchall()


person = found("INSERT INTO person (name) VALUES ('ada') RETURNING id, disk, post, number")[0]
id, disk, post, _ = person
row(person,
    write={"as is": lambda: found("INSERT INTO person (id, disk, post, number) VALUES (%s, %s, %s, %s) RETURNING id, disk, post, number", *given)},
    id={"as is": lambda: found("SELECT FROM person WHERE id = %s AND disk = %s AND post = %s", id, disk, post)},
    list={"as is": lambda: found("SELECT FROM person WHERE id = ANY(%s)", [id]),
          "`::sno[]`": lambda: found("SELECT FROM person WHERE id = ANY(%s::sno[])", [id])},
    time={"as is": lambda: found("SELECT FROM person WHERE id >= %s", since)})

# An array of ids is one str, but as a text[] it is a list.
assert found("SELECT array_agg(id), array_agg(id)::text[] FROM person WHERE name = 'ada'") == [(f"{{{id}}}", [id])]
