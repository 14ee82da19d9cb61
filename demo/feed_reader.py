#!/usr/bin/python3
"""usage: feed_reader.py NAME    a row of bulletin_reader (feed_reader.sql has the tables); PGHOST, PGDATABASE ...

Keeps a copy of the table bulletin. Rows and position are stored in one transaction, so kill -9 loses nothing."""
import signal, sys, threading, time, psycopg2

def handle(run, name, rows):
    """What is done with the rows: step 0 empties the copy, 1 deletes a row, 2 brings a row as it is now."""
    deleted, there = ([row for row in rows if row[0] == step] for step in (1, 2))
    if rows[0][0] == 0:
        run("DELETE FROM bulletin_copy WHERE reader = %s", [name])
    run("DELETE FROM bulletin_copy WHERE reader = %s AND id = ANY (%s::bigint[])", [name, [row[1] for row in deleted]])
    run("""INSERT INTO bulletin_copy SELECT %s, * FROM unnest(%s::bigint[], %s::int[]) ON CONFLICT (reader, id)
        DO UPDATE SET body = excluded.body""", [name, [row[1] for row in there], [row[2] for row in there]])

def follow(cursor, name, copy_again):
    run, store_at = cursor.execute, 0
    run("ROLLBACK; SELECT position FROM bulletin_reader WHERE name = %s FOR UPDATE", [name])
    stored, = cursor.fetchone() or sys.exit(f"bulletin_reader has no row named {name}")
    position = "" if copy_again else stored
    while not stop.is_set():
        run("SELECT snowflake_ids.wait_feed('bulletin', %s, '1 s')", [position])
        run('BEGIN; DECLARE poll CURSOR FOR SELECT step, id, (f."row").body, position FROM bulletin_feed(%s) AS f',
            cursor.fetchone())
        rows = [[0]]
        while rows[-1][0] < 3:  # the last row has step 3 and the next position
            run("FETCH 1000 FROM poll")
            rows = cursor.fetchall()
            if rows[0][0] < 3:
                handle(run, name, rows)
                store_at = 0
        position = rows[-1][3]
        if time.monotonic() > store_at:  # with rows at once, without rows each 10 seconds
            run("UPDATE bulletin_reader SET position = %s WHERE name = %s AND position = %s", [position, name, stored])
            cursor.rowcount or sys.exit(f"another process reads as {name}")
            stored, store_at = position, time.monotonic() + 10
        run("COMMIT")

name, stop, db, code, pause = sys.argv[1], threading.Event(), None, None, 0.1
signal.signal(signal.SIGTERM, lambda *_: stop.set()), signal.signal(signal.SIGINT, lambda *_: stop.set())
while not stop.is_set():
    try:
        if not db or db.closed:
            db = psycopg2.connect("", connect_timeout=10, keepalives_idle=30)
            db.autocommit, pause = True, 0.1
        follow(db.cursor(), name, copy_again=code == "SF001")
    except psycopg2.Error as error:  # its text has the hint
        code, pause = error.pgcode, min(2 * pause, 5)
        code == "40001" or print(f"{name}: {error}".strip(), file=sys.stderr, flush=True)
        stop.wait({"40001": 0.02, "SF001": 0.02, "SF002": 60}.get(code, pause))
