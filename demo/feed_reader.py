#!/usr/bin/python3
"""Reads a feed: each row that is inserted or updated in the table bulletin.

usage: feed_reader.py NAME        the name of a row of bulletin_reader; PGHOST, PGDATABASE ... say where

The position is stored in the transaction that uses the rows. So neither kill -9 nor a lost connection makes it use a row
twice or miss one, as long as handle() writes to this database. SIGTERM and SIGINT end it after the rows at hand.
"""
import signal
import sys
import threading
import time

import psycopg2

BATCH = 1000
SHORTEST, LONGEST = 0.01, 0.1  # seconds between two polls that find nothing
RECONNECT = 1.0  # seconds between two attempts to connect, at most

stop = threading.Event()


def handle(cursor, reader, rows):
    """What is done with the rows. This keeps a copy; the same row may come again with a newer body."""
    cursor.execute(
        """INSERT INTO bulletin_copy AS c (reader, id, body, times)
        SELECT %s, id, body, 1 FROM unnest(%s::bigint[], %s::int[]) AS r (id, body)
        ON CONFLICT (reader, id) DO UPDATE SET body = excluded.body, times = c.times + 1""",
        (reader, [row[0] for row in rows], [row[1] for row in rows]))


def poll(connection, reader):
    """Uses the next rows and stores the position. Returns how many there were."""
    with connection, connection.cursor() as cursor:  # commits, or rolls back after an error
        # A poll that finds nothing writes nothing.
        cursor.execute(
            """SELECT EXISTS (SELECT FROM bulletin WHERE changed > last AND changed < (SELECT sno_settled('bulletin')))
            FROM bulletin_reader WHERE name = %s""", (reader,))
        found = cursor.fetchone()
        if found is None:
            sys.exit(f"bulletin_reader has no row named {reader}")
        if not found[0]:
            return 0
        # The lock makes a second process of the same name wait.
        cursor.execute("SELECT last FROM bulletin_reader WHERE name = %s FOR UPDATE", (reader,))
        cursor.execute(
            """SELECT id, body, changed FROM bulletin
            WHERE changed > %s AND changed < (SELECT sno_settled('bulletin')) ORDER BY changed LIMIT %s""",
            (cursor.fetchone()[0], BATCH))
        rows = cursor.fetchall()
        if rows:
            handle(cursor, reader, rows)
            cursor.execute("UPDATE bulletin_reader SET last = %s WHERE name = %s", (rows[-1][2], reader))
        return len(rows)


def follow(reader):
    """Polls one connection until it is lost or the program is to stop."""
    connection = psycopg2.connect(
        "", application_name=f"feed reader {reader}", connect_timeout=10, keepalives_idle=30,
        options="-c statement_timeout=30s -c idle_in_transaction_session_timeout=30s")
    try:
        wait = SHORTEST
        while not stop.is_set():
            if poll(connection, reader):
                wait = SHORTEST
            else:
                stop.wait(wait)
                wait = min(2 * wait, LONGEST)
    finally:
        connection.close()


def main(reader):
    for number in signal.SIGTERM, signal.SIGINT:
        signal.signal(number, lambda *_: stop.set())
    wait = SHORTEST
    while not stop.is_set():
        began = time.monotonic()
        try:
            follow(reader)
        except (psycopg2.OperationalError, psycopg2.InterfaceError) as error:
            print(f"{reader}: {error.__context__ or error}".strip(), file=sys.stderr, flush=True)
            wait = SHORTEST if time.monotonic() - began > 2 * RECONNECT else min(2 * wait, RECONNECT)
            stop.wait(wait)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
