# make installcheck leads generators back, so it refuses a server where another database has the extension
# (tools/refuse-used-server).
use Servers;
use PostgreSQL::Test::Utils;

my $node = plain_server('used');
$node->safe_psql('postgres', 'CREATE EXTENSION snowflake_ids');
{
	my @refuses = (
		"$ENV{SNOWFLAKE_IDS_SRC}/tools/refuse-used-server",
		$node->can('installed_command') ? $node->installed_command('psql') : 'psql');
	local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port);
	delete local $ENV{THROW_AWAY};
	my ($out, $err) = run_command([ @refuses, 'contrib_regression' ]);
	like($err, qr/for a throw-away server.* in: postgres\n/s, 'make installcheck refuses a server in use');
	isnt($?, 0, 'and fails');
	($out, $err) = run_command([ @refuses, 'postgres' ]);
	is("$out$err$?", '0', 'but not for its own database');
}

$node->stop;
done_testing();
