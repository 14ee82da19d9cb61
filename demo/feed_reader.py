#!/usr/bin/python3
"""Reads a feed: each row that is inserted or updated in the table bulletin.

usage: feed_reader.py NAME    a row of bulletin_reader (feed_reader.sql has the tables); PGHOST, PGDATABASE ...

The position is stored in the transaction that uses the rows, so neither kill -9 nor a lost connection makes it miss a
row, as long as handle() writes to this database. A row can come several times, until it has settled. SIGTERM and SIGINT
end the program after the rows at hand.

Polls do not wait for open transactions, and most of them read only rows that are newer than the newest one. The rows of
a transaction that was open for longer have smaller stamps, so wider windows find them.
"""
import signal
import sys
import threading
import time

import psycopg2

SMALLEST = "2222222222222222"
RECONNECT = 1.0  # seconds between two attempts to connect, at most
WAIT = 1.0  # seconds in one call; a longer one delays VACUUM and CREATE INDEX CONCURRENTLY
WINDOWS = [0.02 * 10 ** n for n in range(9)]  # seconds before the newest stamp

stop = threading.Event()


def handle(cursor, reader, rows):
    """What is done with the rows. This keeps a copy; the same row may come again, and with a newer body.

    A row can come before an older one of another transaction, so the copy has no constraint but its key.
    """
    cursor.execute(
        """INSERT INTO bulletin_copy AS c (reader, id, body, times)
        SELECT %s, id, body, 1 FROM unnest(%s::bigint[], %s::int[]) AS r (id, body)
        ON CONFLICT (reader, id) DO UPDATE SET body = excluded.body, times = c.times + 1""",
        (reader, [row[0] for row in rows], [row[1] for row in rows]))


class Reader:
    def __init__(self, name, cursor):
        self.name, self.cursor = name, cursor
        self.count = 0  # of snowflake_ids_wait()
        self.newest, self.newest_time = SMALLEST, 0.0
        self.read = [-float("inf")] * len(WINDOWS)  # when each window was last read
        self.due = [0.0] * len(WINDOWS)  # and when it must be read again, because there were commits

    def ask(self, query, *values):
        self.cursor.execute(query, values)
        return self.cursor.fetchone()

    def wait(self):
        """Returns whether somebody has committed. Each window is read again after twice its width."""
        seconds = min(WAIT, max(0.001, min(self.due) - time.monotonic()))
        count, = self.ask("SELECT snowflake_ids_wait('bulletin', %s, make_interval(secs => %s))", self.count, seconds)
        committed, self.count = count != self.count, count
        if committed:
            self.due = [min(due, read + 2 * width) for due, read, width in zip(self.due, self.read, WINDOWS)]
        return committed

    def poll(self, committed):
        """Uses the rows of the widest window that is due, or all from the position on, and stores the next position."""
        now = time.monotonic()
        width = max((width for due, width in zip(self.due, WINDOWS) if due <= now), default=0.0)
        found = self.ask(
            """SELECT settled, settled > position AND %s >= position,
                sno_lower_bound(greatest(sno_timestamp(position), to_timestamp(%s))),
                extract(epoch FROM sno_timestamp(position))::float, extract(epoch FROM sno_timestamp(settled))::float
            FROM bulletin_reader, sno_settled('bulletin') AS settled WHERE name = %s""",
            self.newest, self.newest_time - width, self.name)
        if found is None:
            sys.exit(f"bulletin_reader has no row named {self.name}")
        settled, moved, window, position_time, settled_time = found
        unsettled = self.newest_time - position_time
        # Rows have settled: half of them, or it is long ago that all were read.
        moved = moved and 2 * (settled_time - position_time + now - self.read[-1]) >= unsettled
        if not (committed or width or moved):
            return
        whole = moved or width >= unsettled
        self.cursor.execute("BEGIN")
        # The lock makes a second process of the same name wait.
        position, = self.ask("SELECT position FROM bulletin_reader WHERE name = %s FOR UPDATE", self.name)
        self.cursor.execute(
            """SELECT id, body, stamp, extract(epoch FROM sno_timestamp(stamp))::float FROM bulletin
            WHERE stamp >= %s AND stamp > %s ORDER BY stamp""",
            (position, SMALLEST if whole else window if width else self.newest))
        rows = self.cursor.fetchall()
        if rows:
            handle(self.cursor, self.name, rows)
            if whole:
                self.cursor.execute("UPDATE bulletin_reader SET position = greatest(position, %s) WHERE name = %s",
                                    (settled, self.name))
        self.cursor.execute("COMMIT")
        if rows:
            self.newest, self.newest_time = max((self.newest, self.newest_time), rows[-1][2:])
        for n, of in enumerate(WINDOWS):
            if whole or of <= width:
                self.read[n], self.due[n] = now, float("inf")


def follow(name):
    """Polls one connection until it is lost or the program is to stop."""
    connection = psycopg2.connect(
        "", application_name=f"feed reader {name}", connect_timeout=10, keepalives_idle=30,
        options="-c statement_timeout=30s -c idle_in_transaction_session_timeout=30s")
    try:
        connection.autocommit = True
        reader = Reader(name, connection.cursor())
        # An error if rows that it has read are gone, because the server was restored.
        reader.ask("""SELECT snowflake_ids.feed_position('bulletin', position::text)
            FROM bulletin_reader WHERE name = %s""", name)
        while not stop.is_set():
            reader.poll(reader.wait())
    finally:
        connection.close()


def main(name):
    for number in signal.SIGTERM, signal.SIGINT:
        signal.signal(number, lambda *_: stop.set())
    pause = 0.01
    while not stop.is_set():
        began = time.monotonic()
        try:
            follow(name)
        except (psycopg2.OperationalError, psycopg2.InterfaceError) as error:
            print(f"{name}: {error.__context__ or error}".strip(), file=sys.stderr, flush=True)
            pause = 0.01 if time.monotonic() - began > 2 * RECONNECT else min(2 * pause, RECONNECT)
            stop.wait(pause)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
