#!/usr/bin/python3
"""Reads a feed: each row that is inserted, updated or deleted in the table bulletin.

usage: feed_reader.py NAME    a row of bulletin_reader (feed_reader.sql has the tables); PGHOST, PGDATABASE ...

The position is stored in the transaction that uses the rows, so neither kill -9 nor a lost connection makes it miss a
row, as long as handle() writes to this database. A row can come several times, until it has settled. SIGTERM and SIGINT
end the program after the rows at hand.
"""
import signal
import sys
import threading
import time

import psycopg2
import psycopg2.extras

SMALLEST = "2222222222222222"
RECONNECT = 1.0  # seconds between two attempts to connect, at most
STATEMENT = 300  # seconds in one statement; longer than WAIT, and than the first poll, which reads most
WAIT = 1.0  # seconds in one call; a longer one delays VACUUM and CREATE INDEX CONCURRENTLY
PAUSE = 0.01  # seconds between two polls, at least
# While a transaction stays open, the position does not move. So that polls do not read all rows since then, a poll
# begins after the newest stamp of the last poll but one. Rows of a transaction that was open for longer have smaller
# stamps, so after each of these times, in seconds, a poll begins after that of the last but one of its kind.
PACES = [0] + [2 * 100 ** n for n in range(5)]

stop = threading.Event()


def handle(cursor, reader, rows):
    """What is done with the rows. This keeps a copy; the same row may come again, and with a newer body.

    A deletion without a key is a TRUNCATE. All rows are as they are now, so their order does not matter. A row can come
    before an older one of another transaction, so the copy has no constraint but its key.
    """
    deleted = [row.id for row in rows if row.deleted]
    there = {row.id: row.body for row in rows if not row.deleted}  # a key can come twice
    if deleted:
        cursor.execute("DELETE FROM bulletin_copy WHERE reader = %s AND (%s OR id = ANY (%s::bigint[]))",
                       (reader, None in deleted, deleted))
    cursor.execute(
        """INSERT INTO bulletin_copy AS c (reader, id, body, times)
        SELECT %s, id, body, 1 FROM unnest(%s::bigint[], %s::int[]) AS r (id, body)
        ON CONFLICT (reader, id) DO UPDATE SET body = excluded.body, times = c.times + 1""",
        (reader, list(there), list(there.values())))


class Reader:
    def __init__(self, name, cursor):
        self.name, self.cursor = name, cursor
        self.count = 0  # of snowflake_ids_wait()
        self.newest = SMALLEST  # stamp that it has read
        # Of each pace: when its last poll was, and the newest stamps after the last but one and after the last one.
        self.read = [(-float("inf"), SMALLEST, SMALLEST)] * len(PACES)

    def ask(self, query, *values):
        self.cursor.execute(query, values)
        return self.cursor.fetchone()

    def check(self):
        """An error if the copy must be made again: deletions were forgotten, or the server was restored."""
        if not self.ask("""SELECT snowflake_ids.feed_position('bulletin', position::text)
                FROM bulletin_reader WHERE name = %s""", self.name):
            sys.exit(f"bulletin_reader has no row named {self.name}")

    def wait(self):
        """Sleeps until somebody commits."""
        self.count, = self.ask("SELECT snowflake_ids_wait('bulletin', %s, make_interval(secs => %s))", self.count, WAIT)

    def poll(self):
        """Uses the rows, and stores the next position if these are all from the position on."""
        now = time.monotonic()
        due = [n for n, pace in enumerate(PACES) if now - self.read[n][0] >= pace]
        after = min(self.read[n][1] for n in due)
        self.cursor.execute("BEGIN")
        # The lock makes a second process of the same name wait.
        position, settled = self.ask(
            "SELECT position, sno_settled('bulletin') FROM bulletin_reader WHERE name = %s FOR UPDATE", self.name)
        whole = after < max(position, settled)  # nobody has been open since then
        self.cursor.execute(
            """SELECT greatest(%s, f.position) AS position, f.stamp, f.deleted, f.id, b.body
            FROM bulletin_feed AS f LEFT JOIN LATERAL (SELECT * FROM bulletin WHERE id = f.id LIMIT 1) AS b ON true
            WHERE f.stamp >= %s AND f.stamp > %s ORDER BY f.stamp""",
            (position, position, SMALLEST if whole else after))
        rows = self.cursor.fetchall()
        if rows:
            handle(self.cursor, self.name, rows)
            if whole:
                self.cursor.execute("UPDATE bulletin_reader SET position = %s WHERE name = %s",
                                    (rows[0].position, self.name))
        self.cursor.execute("COMMIT")
        if rows:
            self.newest = rows[-1].stamp
        for n in due:
            self.read[n] = now, self.read[n][2], self.newest


def follow(name):
    """Polls one connection until it is lost or the program is to stop."""
    connection = psycopg2.connect(
        "", application_name=f"feed reader {name}", connect_timeout=10, keepalives_idle=30,
        cursor_factory=psycopg2.extras.NamedTupleCursor,
        options=f"-c statement_timeout={STATEMENT}s -c idle_in_transaction_session_timeout=30s")
    try:
        connection.autocommit = True
        reader = Reader(name, connection.cursor())
        reader.check()
        while not stop.is_set():
            reader.wait()
            reader.poll()
            stop.wait(PAUSE)
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
