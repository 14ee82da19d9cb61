from datetime import datetime, timedelta, timezone

import psycopg2
from psycopg2.extras import execute_values

connection = psycopg2.connect("")  # where PGHOST, PGPORT, PGUSER and PGDATABASE say
cursor = connection.cursor()

# A sno, a gid and a mastic are str, a bigint is int, which has no limit in Python.
cursor.execute("INSERT INTO person (name) VALUES ('ada') RETURNING id, disk, post, invoice")
id, disk, post, invoice = cursor.fetchone()
print(type(id).__name__, type(disk).__name__, type(post).__name__, type(invoice).__name__)

# psycopg2 writes parameters into the query: a str as a literal without a type, a datetime as timestamptz.
cursor.execute("SELECT name FROM person WHERE id = %s AND disk = %s AND post = %s AND invoice = %s",
               (id, disk, post, invoice))
print(cursor.fetchone()[0])
since = datetime.now(timezone.utc) - timedelta(hours=1)
cursor.execute("SELECT count(*) FROM person WHERE id >= %s", (since,))
print(cursor.fetchone()[0])

# A list becomes an array of text: say of what.
cursor.execute("SELECT count(*) FROM person WHERE id = ANY(%s::sno[])", ([id],))
print(cursor.fetchone()[0])

# An array of ids arrives as one str, until psycopg2 is told its type, whose number differs between databases.
cursor.execute("SELECT array_agg(id) FROM person")
print(type(cursor.fetchone()[0]).__name__)
cursor.execute("SELECT 'sno[]'::regtype::oid")
snos = psycopg2.extensions.new_array_type((cursor.fetchone()[0],), "SNO[]", psycopg2.STRING)
psycopg2.extensions.register_type(snos, connection)
cursor.execute("SELECT array_agg(id) FROM person")
print(type(cursor.fetchone()[0]).__name__)

# Many rows, and their ids back.
rows = [("b",), ("c",), ("d",)]
ids = execute_values(cursor, "INSERT INTO person (name) VALUES %s RETURNING id", rows, fetch=True)
print(len(ids))
connection.rollback()
