# Tables of several shapes, each with a feed. Each row version has a number `v` of its own.
package Tables;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(tables any one_of poll_of truth_of);

sub any    { return int rand $_[0] }
sub one_of { return $_[ rand @_ ] }

our @regions = 0 .. 3;
our $sub_partitions = 2;

# key: its columns. value: what readers keep of a row. into, columns, row: for INSERT. some: a condition. changed_key
my %table = (
	plain => {
		key => ['id'],
		columns => 'id',
		row => sub { return 1 + any(120) },
		some => sub { return 'id % 9 = ' . any(9) },
		changed_key => sub { return 'id = -id' }
	},
	pair => {
		key => [ 'a', 'b' ],
		columns => 'a, b',
		row => sub { return sprintf q{%d, '%s'}, any(12), one_of('a' .. 'j') },
		some => sub { return sprintf q{a = %d AND b > '%s'}, any(12), one_of('a' .. 'j') },
		changed_key => sub { return one_of('a = -a', q{b = b || 'x'}, q{b = left(b, 1)}) }
	},
	parted => {
		key => [ 'region', 'id' ],
		columns => 'region, id',
		row => sub { return sprintf '%d, %d', one_of(@regions), 1 + any(50 * $sub_partitions) },
		some => sub { return sprintf 'region = %d AND id %% 9 = %d', one_of(@regions), any(9) },
		changed_key => sub { return one_of('region = (region + 1) % 4', 'id = 101 - id') }
	},
	family => {
		key => ['id'],
		columns => 'id',
		row => sub { return 1 + any(100) },
		into => sub { return $_[0] % 2 ? 'family' : 'family_1' },
		some => sub { return 'id % 9 = ' . any(9) },
		changed_key => sub { return 'id = -id' }
	},
	master => {
		key => ['id'],
		value => [ 'v', 'total' ],
		columns => 'id',
		row => sub { return 1 + any(30) },
		some => sub { return 'id % 9 = ' . any(9) },
		changed_key => sub { return 'id = -id' }
	},
	detail => {
		key => ['id'],
		value => [ 'v', 'master_id', 'amount' ],
		columns => 'id, master_id',
		row =>
		  sub { return sprintf '%d, (SELECT id FROM master ORDER BY id %% %d LIMIT 1)', 1 + any(100), 2 + any(20) },
		some => sub { return 'id % 9 = ' . any(9) },
		changed_key => sub { return 'id = -id' }
	},
	log => {
		key => ['id'],
		columns => 'note',
		row => sub { return q{'a row'} },
		some => sub { return 'id < (SELECT max(id) - 150 FROM log)' },
		changed_key => sub { return undef }
	});
for my $name (keys %table)
{
	my $t = $table{$name};
	$t->{value} //= ['v'];
	$t->{into}  //= sub { return $name };
}

sub tables { return sort keys %table }

# master.total is the sum of its details, in each snapshot.
our $set_up = <<'END';
CREATE SEQUENCE versions;
CREATE FUNCTION new_version() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.v = nextval('versions'); RETURN NEW; END $$;
CREATE TABLE plain (id bigint PRIMARY KEY, v bigint, amount bigint DEFAULT 0, note text);
CREATE TABLE pair (a int, b text, v bigint, amount bigint DEFAULT 0, PRIMARY KEY (a, b));
CREATE TABLE parted (region int, id int, v bigint, amount bigint DEFAULT 0, PRIMARY KEY (region, id)) PARTITION BY LIST (region);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES IN (0) PARTITION BY RANGE (id);
CREATE TABLE parted_0_1 PARTITION OF parted_0 FOR VALUES FROM (MINVALUE) TO (51);
CREATE TABLE parted_0_2 PARTITION OF parted_0 FOR VALUES FROM (51) TO (101);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE TABLE parted_default PARTITION OF parted DEFAULT;
CREATE TABLE family (id int PRIMARY KEY, v bigint, amount bigint DEFAULT 0);
CREATE TABLE family_1 (PRIMARY KEY (id)) INHERITS (family);
CREATE TABLE master (id int PRIMARY KEY, v bigint, amount bigint DEFAULT 0, total bigint DEFAULT 0);
CREATE TABLE detail (id int PRIMARY KEY, v bigint, amount bigint DEFAULT 0,
    master_id int NOT NULL REFERENCES master ON DELETE CASCADE ON UPDATE CASCADE);
CREATE INDEX ON detail (master_id);
CREATE TABLE log (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v bigint, amount bigint DEFAULT 0, note text);
CREATE FUNCTION add_up() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP <> 'UPDATE' OR OLD.amount <> NEW.amount THEN
        UPDATE master SET total = total + CASE WHEN TG_OP = 'DELETE' THEN 0 ELSE NEW.amount END
            - CASE WHEN TG_OP = 'INSERT' THEN 0 ELSE OLD.amount END
        WHERE id = CASE WHEN TG_OP = 'DELETE' THEN OLD.master_id ELSE NEW.master_id END;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER add_up AFTER INSERT OR UPDATE OR DELETE ON detail FOR EACH ROW EXECUTE FUNCTION add_up();
END
$set_up .= "CREATE TRIGGER a_version BEFORE INSERT OR UPDATE ON $_ FOR EACH ROW EXECUTE FUNCTION new_version();\n"
  for tables(), 'family_1';
$set_up .= "SELECT * FROM snowflake_ids.create_feed('$_', index => '" . ($_ eq 'log' ? 'brin' : 'btree') . "');\n"
  for tables();

# ---- for writers

sub insert_into
{
	my ($name, $conflict) = @_;
	my $t = $table{$name};
	my $row = $t->{row}->();
	return sprintf 'INSERT INTO %s (%s, amount) VALUES (%s, %d) %s', $t->{into}->($row), $t->{columns}, $row, any(100),
	  $conflict // 'ON CONFLICT DO NOTHING';
}

sub upsert
{
	my ($name) = @_;
	return insert_into($name,
		"ON CONFLICT (@{[ join ', ', @{ $table{$name}{key} } ]}) DO UPDATE SET amount = excluded.amount");
}

sub update { my ($name) = @_; return "UPDATE $name SET amount = amount + 1 WHERE " . $table{$name}{some}->() }
sub remove { my ($name) = @_; return "DELETE FROM $name WHERE " . $table{$name}{some}->() }

sub change_key
{
	my ($name) = @_;
	my $set = $table{$name}{changed_key}->() or return remove($name);
	return "UPDATE $name SET $set WHERE " . $table{$name}{some}->();
}

# ---- for readers: the lines of a poll, and a line 9 with the whole table

sub text_of
{
	my ($separator, $of, @columns) = @_;
	return "concat_ws('$separator', " . join(', ', map { "$of.$_" } @columns) . ')';
}

sub poll_of
{
	my ($name, $since) = @_;
	my $t = $table{$name};
	my ($key, $value) = (text_of('/', 'f', @{ $t->{key} }), text_of(':', '(f."row")', @{ $t->{value} }));
	return qq{SELECT f.step, $key, $value, f."position" FROM ${name}_feed($since) AS f};
}

sub truth_of
{
	my ($name) = @_;
	my $t = $table{$name};
	my ($key, $value) = (text_of('/', 'f', @{ $t->{key} }), text_of(':', 'f', @{ $t->{value} }));
	return "SELECT 9, string_agg($key || '=' || $value, ' '), NULL, NULL FROM $name AS f";
}

1;
