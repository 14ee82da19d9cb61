# What happens to the servers and the tables while writers write and readers read. Each event has a round of its own.
# `again`: readers may have to copy again.
package Events;
use strict;
use warnings;
use Servers;
use Tables;
use World;

# Readers see the ids of transactions that leave no trace. After a crash, these are given again.
sub take_xids
{
	World::ask('DO $$ BEGIN FOR i IN 1 .. 300 LOOP PERFORM pg_current_xact_id(); ROLLBACK; END LOOP; END $$');
	World::act_for(0.5);
	return;
}

sub crash
{
	my ($how) = @_;
	take_xids();
	$how->();
	World::all_leave();
	World::act_for(1);
	return;
}

sub promote
{
	my ($how) = @_;
	$World::primary->stop($how);
	World::all_leave();
	$World::standby->promote;
	$World::primary->clean_node;
	$World::primary = $World::standby;
	World::end_prepared();
	World::add_standby();
	World::subscribe_again();
	return;
}

sub changes
{
	my @statements = @_;
	return sub { World::change($_), World::act_for(0.4) for @statements }
}

my $create_feed = q{SELECT to_do FROM snowflake_ids.create_feed('%s')};
my $of_family = sprintf $create_feed, 'family';
my $of_parted = sprintf $create_feed, 'parted';

# The writers' rows go to the new part, and leave it before it goes.
sub parts
{
	World::change(
		"BEGIN; CREATE TABLE parted_0_3 (LIKE parted INCLUDING ALL); ALTER TABLE parted_0 ATTACH PARTITION parted_0_3
		FOR VALUES FROM (101) TO (151); $of_parted; COMMIT");
	$Tables::sub_partitions = 3;
	World::act_for(2);
	$Tables::sub_partitions = 2;
	World::change(
		'BEGIN; LOCK TABLE parted_0_3; DELETE FROM parted_0_3; ALTER TABLE parted_0 DETACH PARTITION parted_0_3; COMMIT'
	);
	World::change('DROP TABLE parted_0_3');
	World::change("CREATE TABLE parted_9 PARTITION OF parted FOR VALUES IN (9); $of_parted");
	push @Tables::regions, 9;
	World::act_for(1);
	pop @Tables::regions;
	World::change('BEGIN; LOCK TABLE parted_9; DELETE FROM parted_9; DROP TABLE parted_9; COMMIT');
	return;
}

# Rows that readers count as read come with a part, or leave with it, or a child was without triggers.
sub parts_with_rows
{
	World::change(
		"BEGIN; CREATE TABLE parted_9 (LIKE parted INCLUDING ALL); INSERT INTO parted_9 (region, id, v, stamp)
		SELECT 9, n, nextval('versions'), 3 FROM generate_series(1, 20) AS n; ALTER TABLE parted ATTACH PARTITION parted_9 FOR VALUES IN (9);
		$of_parted; COMMIT");
	World::act_for(1);
	World::change(
		'BEGIN; CREATE TABLE family_2 (LIKE family INCLUDING ALL); CREATE TRIGGER a_version BEFORE INSERT OR UPDATE
		ON family_2 FOR EACH ROW EXECUTE FUNCTION new_version(); ALTER TABLE family_2 INHERIT family; '
		  . "$of_family; COMMIT");
	World::change('INSERT INTO family_2 (id) SELECT generate_series(501, 510)');
	World::act_for(1);
	World::change('BEGIN; LOCK TABLE family_2; DELETE FROM family_2; DROP TABLE family_2; COMMIT');
	World::change('TRUNCATE parted_1');
	World::act_for(1);
	World::change('TRUNCATE family');
	World::act_for(1);
	World::change(
		q{BEGIN; ALTER TABLE parted DETACH PARTITION parted_9; DROP TABLE parted_9;
		SELECT snowflake_ids.note_missed('parted', 'A partition has left.'); COMMIT});
	return;
}

our @events = (
	{ name => 'nothing', run => sub { World::act_for(3) } },
	{   name => 'kill -9 of the server',
		run => sub {
			crash(sub { restart_after($World::primary, 'kill -9') });
		}
	},
	{   name => 'kill -9 of a backend',
		run => sub {
			crash(sub { kill_backend($World::primary) });
		}
	},
	{   name => 'restart',
		run => sub {
			crash(sub { restart_after($World::primary, 'fast') });
		}
	},
	{ name => 'switchover', run => sub { promote('fast') } },
	{ name => 'failover', again => 1, run => sub { promote('immediate') } },
	{   name => 'columns',
		run => changes(
			'ALTER TABLE plain ADD COLUMN extra int DEFAULT 7',
			'ALTER TABLE plain RENAME COLUMN extra TO more',
			'ALTER TABLE plain ALTER COLUMN amount TYPE numeric',
			'ALTER TABLE plain DROP COLUMN more',
			'ALTER TABLE plain ALTER COLUMN amount TYPE bigint',
			'ALTER TABLE parted ALTER COLUMN amount TYPE numeric',
			'ALTER TABLE parted ALTER COLUMN amount TYPE bigint') },

	# Beside more than 64 savepoints, a position does not know whether it has seen an ATTACH.
	{ name => 'parts', again => 1, run => \&parts },
	{ name => 'parts with rows', again => 1, run => \&parts_with_rows },
	{   name => 'rewrites',
		run => changes(
			'VACUUM FULL plain',
			'CLUSTER pair USING pair_pkey',
			'CREATE INDEX extra ON parted (amount)',
			'DROP INDEX extra',
			'DROP INDEX plain_stamp_idx',
			sprintf($create_feed, 'plain'),
			'REINDEX TABLE log',
			'VACUUM FULL plain_deleted',
			'VACUUM detail',
			'ANALYZE') },
	{   name => 'forget_deleted',
		again => 1,
		run => changes(
			map {
				my $t = $_;
				map { "SELECT snowflake_ids.forget_deleted('$t', '200 ms')" } 1 .. 2
			} 'plain',
			'parted',
			'pair') });

1;
