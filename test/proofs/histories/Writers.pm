# What programs do between an id and a row that others see. All insert into `news`; :row is a body that tells the
# writer. Lines as in Actor.pm.
package Writers;
use strict;
use warnings;
use Actor;

our $set_up = <<'END';
CREATE TABLE arrived (row jsonb);
CREATE TABLE elsewhere (id mastic DEFAULT gen_mastic());
CREATE FUNCTION insert_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO news (body) VALUES (NEW.row);
    RETURN NULL;
END $$;
CREATE TRIGGER insert_it AFTER INSERT ON arrived FOR EACH ROW EXECUTE FUNCTION insert_it();
CREATE PROCEDURE insert_and_commit(body jsonb, times int) LANGUAGE plpgsql AS $$ BEGIN
    FOR i IN 1 .. times LOOP
        INSERT INTO news (body) VALUES (insert_and_commit.body);
        IF i % 4 = 0 THEN ROLLBACK; ELSE COMMIT; END IF;
    END LOOP;
END $$;
-- As somebody may write it who wants parallel plans.
CREATE TABLE big AS SELECT n FROM generate_series(1, 2000) n;
ALTER TABLE big SET (parallel_workers = 2);
CREATE FUNCTION drawn(n int) RETURNS sno LANGUAGE plpgsql PARALLEL SAFE AS $$ BEGIN RETURN gen_sno(); END $$;
CREATE PROCEDURE insert_drawn_by_workers(body jsonb) LANGUAGE plpgsql
    SET parallel_setup_cost = 0 SET parallel_tuple_cost = 0 SET min_parallel_table_scan_size = 0 AS $$
DECLARE
    ids sno[];
BEGIN
    SELECT array_agg(id) INTO ids FROM (SELECT drawn(n) AS id FROM big WHERE n % 50 = 0) x;
    INSERT INTO news (id, body) SELECT unnest(ids), insert_drawn_by_workers.body;
END $$;
-- How to connect to a database of this server. If that session waits for a lock behind one that waits for the caller,
-- no server can see the deadlock.
CREATE EXTENSION dblink;
CREATE FUNCTION here(database text) RETURNS text RETURN format(
    $$host=%s port=%s dbname=%s options='-c lock_timeout=2s -c synchronous_commit=local'$$,
    current_setting('unix_socket_directories'), current_setting('port'), database);
END

my $text = <<'END';
== autocommit
INSERT INTO news (body) VALUES (:row)

== long
BEGIN
INSERT INTO news (body) VALUES (:row)
pause
INSERT INTO news (body) VALUES (:row)
pause
COMMIT

== rolled back
BEGIN
INSERT INTO news (body) VALUES (:row)
pause
ROLLBACK

== draws early
BEGIN
let SELECT gen_sno() AS early
pause
INSERT INTO news (id, body) VALUES (:'early', :row)
COMMIT

== another table first
BEGIN
INSERT INTO elsewhere DEFAULT VALUES
pause
INSERT INTO news (body) VALUES (:row)
COMMIT

== another table only
BEGIN
INSERT INTO elsewhere DEFAULT VALUES
pause
pause
COMMIT

== savepoints
BEGIN
SAVEPOINT a
INSERT INTO news (body) VALUES (:row)
ROLLBACK TO a
INSERT INTO news (body) VALUES (:row)
pause
SAVEPOINT b
INSERT INTO news (body) VALUES (:row)
RELEASE b
COMMIT

== only a savepoint that is rolled back
BEGIN
SAVEPOINT a
INSERT INTO news (body) VALUES (:row)
ROLLBACK TO a
pause
COMMIT

== two-phase
BEGIN
INSERT INTO news (body) VALUES (:row)
PREPARE TRANSACTION 'commit :n'
pause
COMMIT PREPARED 'commit :n'

== two-phase, rolled back
BEGIN
INSERT INTO news (body) VALUES (:row)
PREPARE TRANSACTION 'roll back :n'
pause
ROLLBACK PREPARED 'roll back :n'

== two-phase, committed by another session
BEGIN
INSERT INTO news (body) VALUES (:row)
PREPARE TRANSACTION 'commit :n'
beside COMMIT PREPARED 'commit :n'

== bulk
INSERT INTO news (body) SELECT :row FROM generate_series(1, 50)

== bulk, rolled back
BEGIN
INSERT INTO news (body) SELECT :row FROM generate_series(1, 30)
ROLLBACK

== COPY
COPY news (body) FROM stdin;\n{"by": "COPY"}\n{"by": "COPY"}\n{"by": "COPY"}\n\.\n

== trigger
INSERT INTO arrived VALUES (:row)

== two in one message
INSERT INTO news (body) VALUES (:row) \; INSERT INTO news (body) VALUES (:row)

== procedure that commits
CALL insert_and_commit(:row, 7)

== synchronous_commit off
SET synchronous_commit = off
INSERT INTO news (body) VALUES (:row)
INSERT INTO news (body) VALUES (:row)
RESET synchronous_commit

== dblink
SELECT dblink_exec(here('postgres'), $q$INSERT INTO news (body) VALUES (:row)$q$)

== dblink in an open transaction
BEGIN
INSERT INTO news (body) VALUES (:row)
SELECT dblink_exec(here('postgres'), $q$INSERT INTO news (body) VALUES (:row)$q$)
pause
COMMIT

== apply worker
SELECT dblink_exec(here('feed'), $q$INSERT INTO news SELECT :row FROM generate_series(1, 5)$q$)
pause

== ids from parallel workers
CALL insert_drawn_by_workers(:row)
END

# A worker may be refused: then the transaction fails.
our %may_fail = (
	'ids from parallel workers' => qr/parallel/,
	map { $_ => qr/lock timeout/ } 'dblink',
	'dblink in an open transaction');

# name => its lines
our %writers = map {
	my ($name, $script) = split /\n/, $_, 2;
	($name => [ Actor::lines_of($script =~ s/:row\b/'{"by": "$name"}'/gr) ]);
} grep { /\S/ } split /^== /m, $text;

1;
