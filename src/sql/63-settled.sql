-- Settled: for readers who continue after the last id that they have read. See doc/polling.md.

CREATE FUNCTION snowflake_ids_settled() RETURNS timestamptz
AS 'MODULE_PATHNAME', 'snowflake_ids_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_ids_settled() IS
    'for ids that the inserting transaction drew, of ticks up to 10 ms: no row with an id of an earlier time will appear; -infinity: not known; not for gid, uuid';

CREATE FUNCTION sno_settled() RETURNS sno
AS 'MODULE_PATHNAME', 'snowflake_ids_sno_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION sno_settled() IS
    'for ids that the inserting transaction drew (a DEFAULT does): no row with a smaller one will still appear; WHERE id > last AND id < (SELECT sno_settled())';

CREATE FUNCTION mastic_settled() RETURNS mastic
AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION mastic_settled() IS
    'for ids that the inserting transaction drew (a DEFAULT does): no row with a smaller one will still appear; WHERE id > last AND id < (SELECT mastic_settled())';

CREATE FUNCTION snowflake_si_settled() RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_si_settled() IS
    'for Snowflake-SI ids that the inserting transaction drew (a DEFAULT does): no row with a smaller one will still appear';

CREATE FUNCTION snowflake_settled(layout text) RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_settled(text) IS
    'for ids of this layout that the inserting transaction drew (a DEFAULT does): no row with a smaller one will still appear';

-- The same for one table.

CREATE FUNCTION snowflake_ids_settled(of_table regclass) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'snowflake_ids_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_ids_settled(regclass) IS
    'for ids that the inserting statement generates (a DEFAULT does): no row of this table with an earlier time will still appear';

CREATE FUNCTION sno_settled(of_table regclass) RETURNS sno
AS 'MODULE_PATHNAME', 'snowflake_ids_sno_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION sno_settled(regclass) IS
    'for ids that the inserting statement generates (a DEFAULT does): no row of this table with a smaller id will still appear';

CREATE FUNCTION mastic_settled(of_table regclass) RETURNS mastic
AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION mastic_settled(regclass) IS
    'for ids that the inserting statement generates (a DEFAULT does): no row of this table with a smaller id will still appear';

CREATE FUNCTION snowflake_si_settled(of_table regclass) RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_si_settled(regclass) IS
    'for ids that the inserting statement generates (a DEFAULT does): no row of this table with a smaller id will still appear';

CREATE FUNCTION snowflake_settled(layout text, of_table regclass) RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_settled(text, regclass) IS
    'for ids that the inserting statement generates (a DEFAULT does): no row of this table with a smaller id will still appear';

CREATE FUNCTION snowflake_ids.unsettled_transactions(OUT pid integer, OUT transaction xid, OUT drew timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'snowflake_ids_unsettled' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION snowflake_ids.unsettled_transactions() IS
    'open and prepared transactions of this database that have drawn ids; see the view snowflake_ids.unsettled';

CREATE FUNCTION snowflake_ids.unsettled_transactions(of_table regclass, OUT pid integer, OUT transaction xid,
    OUT drew timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'snowflake_ids_unsettled' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION snowflake_ids.unsettled_transactions(regclass) IS
    'those that hold the settled id of this table back';

CREATE VIEW snowflake_ids.unsettled AS
SELECT u.pid, p.gid AS prepared, u.drew, coalesce(a.xact_start, p.prepared) AS since,
       coalesce(a.usename, p.owner) AS usename, a.application_name, a.state
FROM snowflake_ids.unsettled_transactions() u
LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid OPERATOR(pg_catalog.=) u.pid
LEFT JOIN pg_catalog.pg_prepared_xacts p ON p.transaction OPERATOR(pg_catalog.=) u.transaction;
COMMENT ON VIEW snowflake_ids.unsettled IS
    'open and prepared transactions of this database that have drawn ids, and so hold the settled time back';
COMMENT ON COLUMN snowflake_ids.unsettled.pid IS 'process of the session; NULL: a prepared transaction';
COMMENT ON COLUMN snowflake_ids.unsettled.prepared IS 'name of the prepared transaction';
COMMENT ON COLUMN snowflake_ids.unsettled.drew IS
    'when the tick of its first id ends: nothing settles past it; -infinity: prepared before the first id since the start';
COMMENT ON COLUMN snowflake_ids.unsettled.since IS
    'when the transaction began, or was prepared; NULL: you may not see that session';
COMMENT ON COLUMN snowflake_ids.unsettled.usename IS 'its user';
COMMENT ON COLUMN snowflake_ids.unsettled.application_name IS 'as in pg_stat_activity';
COMMENT ON COLUMN snowflake_ids.unsettled.state IS 'as in pg_stat_activity';
