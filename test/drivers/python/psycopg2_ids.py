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

# An array of ids is one str, until its type, whose number differs between databases, is registered.
[(oid,)] = found("SELECT 'sno[]'::regtype::oid")
psycopg2.extensions.register_type(psycopg2.extensions.new_array_type((oid,), "SNO[]", psycopg2.STRING), connection)
assert found("SELECT array_agg(id) FROM person WHERE name = 'ada'") == [([id],)]
