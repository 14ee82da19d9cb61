# Each form of a poll that a page shows, or that somebody may make of it. Lines as in Actor.pm; {name} is a recipe of
# Recipes.pm.
#
# After the name: N workers; any order (within a poll); by number (ids sort as numbers); from a position (a row may come
# again); each once (of those, only rows below the position count); of TABLE (which has the rows that it must get,
# instead of public.news).
package Readers;
use strict;
use warnings;
use Actor;
use Recipes;

# with the same ids, and with ids of other formats
our $set_up = <<'END';
{table}; {view of all tables}; {outbox table}; {outbox feed; true=false}; {reader table}; {reader rows};
INSERT INTO reader VALUES ('procedure');
{mark}; {first mark};
CREATE TABLE used (n bigserial, reader text, id text);
CREATE SCHEMA queue;
SET search_path = queue, public;
{table};
CREATE SCHEMA viewed CREATE VIEW news AS SELECT * FROM public.news;
CREATE SCHEMA parted;
CREATE TABLE parted.news (id sno NOT NULL, body jsonb NOT NULL, list int) PARTITION BY LIST (list);
CREATE TABLE parted.news_0 PARTITION OF parted.news (PRIMARY KEY (id)) FOR VALUES IN (0);
CREATE TABLE parted.news_1 PARTITION OF parted.news (PRIMARY KEY (id)) FOR VALUES IN (1);
CREATE SCHEMA mastic;
SET search_path = mastic, public;
{table; sno=mastic};
CREATE SCHEMA twitter;
SET search_path = twitter, public;
{table; id sno=id bigint; gen_sno()=gen_snowflake('twitter')};
RESET search_path;
-- Stamped tables. Each version of a row is noted, because a reader may see any of them, and must see the last.
{one table}; {feed of it}; {view of one table};
CREATE SEQUENCE headline_id;
CREATE TABLE version (stamp bigint);
CREATE FUNCTION note_version() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$ BEGIN
    INSERT INTO version VALUES (NEW.stamp);
    RETURN NULL;
END $$;
CREATE TRIGGER note_version AFTER INSERT OR UPDATE ON headline FOR EACH ROW EXECUTE FUNCTION note_version();
ALTER TABLE headline ENABLE ALWAYS TRIGGER note_version;
CREATE TABLE divided (id mastic NOT NULL, body text, list int) PARTITION BY LIST (list);
CREATE INDEX ON divided (id);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON divided FOR EACH ROW EXECUTE FUNCTION mastic_stamp('id');
ALTER TABLE divided ENABLE ALWAYS TRIGGER zz_stamp;
ALTER TABLE divided ENABLE ALWAYS TRIGGER zz_stamp;
CREATE TABLE divided_0 PARTITION OF divided FOR VALUES IN (0);
CREATE TABLE divided_1 PARTITION OF divided FOR VALUES IN (1);
CREATE TABLE never_written (stamp sno);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON never_written FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');
ALTER TABLE never_written ENABLE ALWAYS TRIGGER zz_stamp;
ALTER TABLE never_written ENABLE ALWAYS TRIGGER zz_stamp;
-- An apply worker has no search_path, and fires only triggers that are ENABLE ALWAYS.
CREATE FUNCTION copy_it() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$ BEGIN
    INSERT INTO headline VALUES (nextval('headline_id'), NEW.body, gen_mastic());
    IF random() < 0.3 THEN
        UPDATE headline SET body = NEW.body, stamp = '0'
        WHERE id = (SELECT id FROM headline ORDER BY stamp DESC OFFSET random() * 20 LIMIT 1 FOR UPDATE SKIP LOCKED);
    END IF;
    INSERT INTO divided (body, list) VALUES (NEW.body, (random() < 0.5)::int);
    INSERT INTO outbox (message) VALUES (NEW.body);
    INSERT INTO queue.news (id, body) VALUES (NEW.id, NEW.body);
    INSERT INTO parted.news VALUES (NEW.id, NEW.body, (random() < 0.5)::int);
    INSERT INTO mastic.news (body) VALUES (NEW.body);
    INSERT INTO twitter.news (body) VALUES (NEW.body);
    RETURN NULL;
END $$;
CREATE TRIGGER copy_it AFTER INSERT ON news FOR EACH ROW EXECUTE FUNCTION copy_it();
ALTER TABLE news ENABLE ALWAYS TRIGGER copy_it;

CREATE PROCEDURE poll_in_a_procedure() LANGUAGE plpgsql AS $$
DECLARE
    event record;
    start mastic := (SELECT position FROM reader WHERE name = 'procedure');
BEGIN
    FOR i IN 1 .. 3 LOOP
        FOR event IN {read one table; :'position'=start} LOOP
            INSERT INTO used (reader, id) VALUES ('procedure that polls', event.stamp::text);
            start := event.position;
        END LOOP;
        UPDATE reader SET position = start WHERE name = 'procedure';
        COMMIT;
    END LOOP;
END $$;
CREATE FUNCTION waits(body text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_advisory_lock(1);
    PERFORM pg_advisory_unlock(1);
    RETURN body;
END $$;
CREATE FUNCTION look() RETURNS sno LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_sleep(0.002);
    RETURN sno_settled();
END $$;
CREATE PROCEDURE commit_temporary_rows(times int) LANGUAGE plpgsql AS $$ BEGIN
    CREATE TEMP TABLE IF NOT EXISTS mine (id sno);
    FOR i IN 1 .. times LOOP
        INSERT INTO mine VALUES (gen_sno());
        COMMIT;
    END LOOP;
END $$;
END
our @tables = qw(news outbox queue.news parted.news mastic.news twitter.news used headline version divided);

my $text = <<'END';
== plain
once PREPARE poll(sno) AS {query; :'last'=$1}
take EXECUTE poll(:'last')

== generic plan
once SET plan_cache_mode = force_generic_plan
once PREPARE poll(sno) AS {query; :'last'=$1}
take EXECUTE poll(:'last')

== view
once SET search_path = viewed, public
once PREPARE poll(sno) AS {query; :'last'=$1}
take EXECUTE poll(:'last')

== partitions
once SET search_path = parted, public
once PREPARE poll(sno) AS {query; :'last'=$1}
take EXECUTE poll(:'last')

== cursor in parts
BEGIN
DECLARE c CURSOR FOR {query}
more FETCH 7 FROM c
COMMIT

== cursor in parts over partitions: any order
once SET search_path = parted, public
BEGIN
DECLARE c CURSOR FOR {query; ORDER BY id LIMIT 1000=}
take FETCH 1 FROM c
pause
more FETCH 7 FROM c
COMMIT

== direct call
take {query; (SELECT sno_settled())=sno_settled()}

== direct call on partitions
once SET search_path = parted, public
take {query; (SELECT sno_settled())=sno_settled()}

== direct call in a cursor over partitions: any order
once SET search_path = parted, public
BEGIN
DECLARE c CURSOR FOR {query; (SELECT sno_settled())=sno_settled(); ORDER BY id LIMIT 1000=}
take FETCH 1 FROM c
pause
more FETCH 7 FROM c
COMMIT

== direct call beside a nested one: any order
once SET search_path = parted, public
take {query; (SELECT sno_settled())=sno_settled(); ORDER BY id LIMIT 1000=; body=body,
    CASE WHEN random() < 0.01 THEN look() END}

== REPEATABLE READ
BEGIN ISOLATION LEVEL REPEATABLE READ
take {query}
COMMIT

== late answer
# Between its snapshot and its question, one session commits many transactions that have drawn.
BEGIN ISOLATION LEVEL REPEATABLE READ
SELECT 1
beside CALL commit_temporary_rows(40)
take {query}
COMMIT

== long transaction
once BEGIN
take {query}

== direct call in a long transaction
once BEGIN
take {query; (SELECT sno_settled())=sno_settled()}

== search: 2 workers, by number, from a position, of headline
BEGIN
let {lock the reader}
use {read one table; h.*=h.stamp, id, body}
{move the reader}
COMMIT

== mail: by number, from a position, of headline
BEGIN
let {lock the reader; 'search'='mail'}
use {read one table; h.*=h.stamp, id, body}
{move the reader; 'search'='mail'}
COMMIT

== procedure that polls: by number, from a position, of headline
CALL poll_in_a_procedure()

== workers: 3 workers, any order
once SET search_path = queue, public
BEGIN
use {take some}
COMMIT

== view of all tables
take {read the view}

== all tables: from a position
take {read all tables}

== all tables in a cursor: from a position
BEGIN
DECLARE c CURSOR FOR {read all tables}
take FETCH 7 FROM c
pause
more FETCH 7 FROM c
COMMIT

== all tables, the position first: from a position
let SELECT greatest(:'position', sno_settled()) AS kept
pause
take {read all tables; greatest(:'position', (SELECT sno_settled()))=:'kept'}

== all tables over partitions: from a position
once SET search_path = parted, public
take {read all tables}

== all tables, each once: from a position, each once
take {read all tables}

== outbox: by number, from a position, of outbox
take {read the outbox; ORDER BY=AND NOT deleted ORDER BY}

== standby: from a position
{set the mark; 'bulletin'=}
standby take {read there; stamp=id; id, body, id=id, body; bulletin=news}

== own rows: from a position
take {own rows}

== backward
take {newest page}
take {page after}
take {page after}
take {page after}

== mastic: by number, of mastic.news
once SET search_path = mastic, public
take {query; sno=mastic}

== layout: by number, of twitter.news
once SET search_path = twitter, public
take {query; sno_settled()=snowflake_settled('twitter')}

== one table: by number, from a position, of headline
take {read one table; h.*=h.stamp, id, body}

== one table, sleeping: by number, from a position, of headline
let {wait; :'last'=:'seen'; '1 s')='1 s') AS seen}
take {read one table; h.*=h.stamp, id, body}

== one table in REPEATABLE READ: by number, from a position, of headline
BEGIN ISOLATION LEVEL REPEATABLE READ
take {read one table; h.*=h.stamp, id, body}
COMMIT

== one table, each once: by number, from a position, each once, of headline
take {read one table; h.*=h.stamp, id, body}

== view of one table: by number, of headline
take {read the view; news_settled=headline_settled; ORDER BY id=ORDER BY stamp; id >=stamp >; id, body=stamp, id}

== partitions of one table: by number, from a position, of divided
take {read one table; h.*=id, body; 'headline'='divided'; headline=divided; stamp=id}

== bound of partitions of one table: by number, of divided
take SELECT id, body FROM divided WHERE id > :'last' AND id < (SELECT mastic_settled('divided')) ORDER BY id LIMIT 1000

== one partition: by number, from a position, of divided_1
take {read one table; h.*=id, body; 'headline'='divided_1'; headline=divided_1; stamp=id}

== two tables in one transaction: by number, from a position, of headline
once BEGIN
SELECT mastic_settled('divided'), sno_settled()
take {read one table; h.*=h.stamp, id, body}

== position of another table: from a position
take {read all tables; sno_settled()=sno_settled('never_written')}

== control
take {query; AND id < (SELECT sno_settled())=}
END

our @readers = map {
	my ($head, $script) = split /\n/, $_, 2;
	my ($name, $rest) = split /: /, $head;
	$rest //= '';
	{   name => $name,
		script => $script,
		workers => $rest =~ /(\d+) workers/ ? "$1" : 1,
		backward => $name eq 'backward',
		any_order => scalar($rest =~ /any order/),
		numeric => scalar($rest =~ /by number/),
		positional => scalar($rest =~ /from a position/),
		each_once => scalar($rest =~ /each once/),
		truth => $rest =~ /of ([\w.]+)/ ? "$1" : 'news' }
} grep { /\S/ } split /^== /m, $text;

# The set-up first, for the recipes to be counted.
sub fill_in
{
	$set_up = Recipes::filled('set-up', $set_up);
	for (@readers)
	{
		my @lines = Actor::lines_of(Recipes::filled($_->{name}, $_->{script}));
		$_->{once} = [ grep { $_->[1] eq 'once' } @lines ];
		$_->{lines} = [ grep { $_->[1] ne 'once' } @lines ];
		$_->{uses} = grep { $_->[1] eq 'use' || $_->[2] =~ /^CALL poll_/ } @{ $_->{lines} };
	}
	return;
}

1;
