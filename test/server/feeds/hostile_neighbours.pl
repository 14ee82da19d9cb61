# Roles with few rights, and strange names, beside a feed: no code of theirs runs with the owner's rights, no poll ends
# the server, and no rows are lost to readers.
use Servers;
use Feed qw(feed_server create_feed);

my $server = feed_server('server');
$server->safe_psql('postgres', <<'END');
CREATE ROLE keeper; CREATE ROLE thief; GRANT CREATE, USAGE ON SCHEMA public TO keeper;
CREATE SCHEMA evil AUTHORIZATION thief; GRANT USAGE ON SCHEMA evil TO PUBLIC;
CREATE TABLE evil.ran_as (role name); GRANT ALL ON evil.ran_as TO PUBLIC;
CREATE FUNCTION evil.tell() RETURNS boolean LANGUAGE sql VOLATILE AS $$
	INSERT INTO evil.ran_as SELECT current_user WHERE current_user <> 'thief' RETURNING true $$;
CREATE FUNCTION evil.equal(bigint, bigint) RETURNS boolean LANGUAGE sql VOLATILE AS
	$$ SELECT evil.tell(); SELECT $1 OPERATOR(pg_catalog.=) $2 $$;
CREATE OPERATOR evil.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = evil.equal);
CREATE FUNCTION evil.at_insert() RETURNS trigger LANGUAGE plpgsql AS
	$$ BEGIN PERFORM evil.tell(); RETURN NEW; END $$;
END
sub as { my ($role, $sql) = @_; return ($server->psql('postgres', "SET ROLE $role; $sql"))[2] }

sub nobody_else
{
	my ($name) = @_;
	return is(value($server, 'SELECT string_agg(role, chr(44)) FROM evil.ran_as'), '', $name);
}

# ---- TRUNCATE by a role whose search_path has an operator = of its own
as( 'keeper', 'CREATE TABLE wide (id bigint PRIMARY KEY) PARTITION BY LIST (id);
	CREATE TABLE wide_1 PARTITION OF wide FOR VALUES IN (1)');
create_feed($server, 'wide');
as('keeper', 'GRANT TRUNCATE ON wide TO thief');
as('thief', 'SET search_path = evil, pg_catalog; TRUNCATE public.wide');
nobody_else('TRUNCATE calls no operator of its caller');

# ---- a table that claims to have the deletions
as('keeper', 'CREATE TABLE plain (id bigint PRIMARY KEY); GRANT TRIGGER ON plain TO thief');
as( 'thief', 'CREATE TABLE evil.claims (id bigint, stamp bigint, again text); GRANT ALL ON evil.claims TO PUBLIC;
	CREATE TRIGGER t BEFORE INSERT ON evil.claims FOR EACH ROW EXECUTE FUNCTION evil.at_insert();
	CREATE CONSTRAINT TRIGGER q AFTER INSERT ON evil.claims FROM plain FOR EACH ROW WHEN (false)
		EXECUTE FUNCTION snowflake_ids.note_lost()');
as( 'keeper', "REVOKE TRIGGER ON plain FROM thief; SELECT snowflake_ids.create_feed('plain');
	INSERT INTO plain VALUES (1); SELECT snowflake_ids.note_missed('plain', 'test')");
is(as('keeper', 'DELETE FROM plain'), '', 'the table of another role hinders no DELETE');
is(value($server, 'SELECT count(*) FROM plain_deleted'), 2, 'its own table has the deletion, and the reason');
nobody_else('and calls none of its triggers');

# ---- the owner, against a superuser who repairs his feed
as( 'keeper', 'CREATE TABLE trap (id bigint PRIMARY KEY, stamp bigint NOT NULL); INSERT INTO trap VALUES (1, 1);
	CREATE TRIGGER a BEFORE UPDATE ON trap FOR EACH ROW EXECUTE FUNCTION evil.at_insert()');
like(
	value($server, "SELECT count(*) FROM snowflake_ids.create_feed('trap')"),
	qr/trap exists already/,
	'a column that the user has is not taken');
$server->safe_psql('postgres', "SELECT snowflake_ids.create_feed('trap', stamp => 'stamp', deletes => false)");
nobody_else("a superuser's create_feed() runs no trigger of the owner");

# ---- a name that ends a comment
$server->safe_psql(
	'postgres', 'CREATE EXTENSION file_fdw; CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
	CREATE TABLE victim (); CREATE TABLE parent (id bigint PRIMARY KEY)');
$server->safe_psql(
	'postgres', qq{CREATE FOREIGN TABLE "x\n; DROP TABLE victim; --" () INHERITS (parent)
	SERVER files OPTIONS (filename '/dev/null')});
$server->psql('postgres', "SELECT to_do FROM snowflake_ids.create_feed('parent') \\gexec");
is(value($server, "SELECT to_regclass('victim') IS NOT NULL"), 't', 'no name becomes a statement');

# ---- a column with the name of the argument
create_feed($server, 'named', columns => 'id bigint PRIMARY KEY, since text');
my $reader = Reader->new('named');
$reader->poll($server);
$server->safe_psql('postgres', "INSERT INTO named VALUES (1, 'x'), (2, '')");
is($reader->poll($server), 2, 'a column "since" does not replace the position');
is($reader->poll($server), 0, 'nor does it bring rows again');

# ---- an attached part, and a catalog that is frozen after that
create_feed($server, 'listed', columns => 'id bigint PRIMARY KEY) PARTITION BY RANGE (id');
$reader = Reader->new('listed');
$reader->poll($server);
$server->safe_psql(
	'postgres', 'CREATE TABLE listed_1 (id bigint PRIMARY KEY, stamp bigint NOT NULL);
	INSERT INTO listed_1 VALUES (1, 3); ALTER TABLE listed ATTACH PARTITION listed_1 FOR VALUES FROM (0) TO (9);
	VACUUM FREEZE pg_inherits');
is($reader->once($server), 'SF001', 'a part with rows is told, though its row in pg_inherits is frozen');

# ---- triggers that come and go while new sessions poll
my $changes = Job->new(
	$server,
	join '',
	map {
		"CREATE TRIGGER a$_ AFTER INSERT ON outbox EXECUTE FUNCTION evil.at_insert();
	DROP TRIGGER a$_ ON outbox;\n"
	} 1 .. 50);
my %said;
for (1 .. 150)
{
	my ($rc, undef, $error) = $server->psql('postgres', "SELECT count(*) FROM outbox_feed('')");
	$said{ $rc == 0 ? 'rows' : $error =~ /altered/ ? 'again' : $error }++;
}
$changes->stop;
delete @said{qw(rows again)};
is(join("\n", keys %said), '', 'polls of new sessions beside CREATE and DROP TRIGGER');
$server->stop;
done_testing();
