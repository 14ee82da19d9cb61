# Writers, each a process that notes in its own file what it received.
import random, time

import psycopg2

TABLES = """
CREATE EXTENSION snowflake_ids;
CREATE TABLE event (id sno DEFAULT gen_sno() PRIMARY KEY, post mastic UNIQUE DEFAULT gen_mastic(),
    invoice bigint UNIQUE DEFAULT gen_snowflake_si(), key text);
CREATE TABLE other (id sno DEFAULT gen_sno());
"""


# Connects again and again; each `step(cursor)` is at least one transaction.
def forever(dsn, stop, step):
    connection = None
    while not stop.is_set():
        try:
            if connection is None or connection.closed:
                connection = psycopg2.connect(dsn, options="-c statement_timeout=10000")
                connection.autocommit = True
                # Without this, it waits for a server that vanished.
                connection.cursor().execute("SET tcp_user_timeout = 3000")
            with connection.cursor() as cursor:
                step(cursor)
        except psycopg2.Error as error:
            # Anything else is a finding.
            if error.pgcode and error.pgcode[:2] not in ("57", "08", "25", "55", "40", "53"):
                raise
            if connection is not None:
                connection.close()
            connection = None
            time.sleep(0.2)


# Notes ids once their transaction has committed, and the keys of its rows.
def writer(dsn, stop, file, number, pause):
    count = 0
    with open(file, "w", buffering=1) as out:
        def step(cursor):
            nonlocal count
            count += 1
            key = f"{number}-{count}"
            cursor.execute("BEGIN")
            cursor.execute("INSERT INTO event (key) SELECT %s || '-' || n FROM generate_series(1, %s) AS n"
                " RETURNING id, post::text, invoice", (key, random.choice((1, 1, 1, 20))))
            rows = cursor.fetchall()
            if random.random() < 0.3:
                time.sleep(random.uniform(0, 0.1))  # a row that appears late
            cursor.execute("COMMIT")
            out.write("".join(f"s{s}\nm{m}\ni{i}\n" for s, m, i in rows))
            cursor.execute("SELECT 's' || gen_sno() FROM generate_series(1, 50) UNION ALL SELECT 'm' || gen_mastic() FROM generate_series(1, 50)"
                " UNION ALL SELECT 'i' || gen_snowflake_si()")
            out.write("".join(f"{id}\n" for id, in cursor.fetchall()))
            time.sleep(pause)
        forever(dsn, stop, step)
