-- See doc/feed.md.

CREATE FUNCTION snowflake_ids_settled() RETURNS timestamptz
AS 'MODULE_PATHNAME', 'snowflake_ids_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_ids_settled() IS
    'a time, and no new row gets an id of an earlier time, if its transaction generates the id; -infinity if not known; not for gid, uuid and ticks longer than 10 ms';

CREATE FUNCTION sno_settled() RETURNS sno
AS 'MODULE_PATHNAME', 'snowflake_ids_sno_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION sno_settled() IS
    'an id, and no new row gets a smaller one, if its transaction generates the id (as DEFAULT does): the next poll begins there';

CREATE FUNCTION mastic_settled() RETURNS mastic
AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION mastic_settled() IS
    'an id, and no new row gets a smaller one, if its transaction generates the id (as DEFAULT does): the next poll begins there';

CREATE FUNCTION snowflake_si_settled() RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_si_settled() IS
    'a Snowflake-SI id, and no new row gets a smaller one, if its transaction generates the id (as DEFAULT does)';

CREATE FUNCTION snowflake_settled(layout text) RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_settled(text) IS
    'an id of this layout, and no new row gets a smaller one, if its transaction generates the id (as DEFAULT does)';

CREATE FUNCTION snowflake_ids_has_settled(until timestamptz) RETURNS boolean
AS 'MODULE_PATHNAME', 'snowflake_ids_has_settled' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids_has_settled(timestamptz) IS
    'true if snowflake_ids_settled() has reached the time, so every row with an earlier id is there';

CREATE FUNCTION snowflake_ids_settled(of_table regclass) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'snowflake_ids_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_ids_settled(regclass) IS
    'a time, and no row of this table gets a stamp of an earlier time any more; needs a trigger such as sno_stamp on the table';

CREATE FUNCTION sno_settled(of_table regclass) RETURNS sno
AS 'MODULE_PATHNAME', 'snowflake_ids_sno_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION sno_settled(regclass) IS
    'an id, and no row of this table gets a smaller stamp any more; needs the trigger sno_stamp on the table';

CREATE FUNCTION mastic_settled(of_table regclass) RETURNS mastic
AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION mastic_settled(regclass) IS
    'an id, and no row of this table gets a smaller stamp any more; needs the trigger mastic_stamp on the table';

CREATE FUNCTION snowflake_si_settled(of_table regclass) RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_si_settled(regclass) IS
    'an id, and no row of this table gets a smaller stamp any more; needs the trigger snowflake_si_stamp on the table';

CREATE FUNCTION snowflake_settled(layout text, of_table regclass) RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_settled(text, regclass) IS
    'an id, and no row of this table gets a smaller stamp any more; needs the trigger snowflake_stamp on the table';

CREATE FUNCTION snowflake_ids.unsettled_transactions(OUT pid integer, OUT transaction xid, OUT first_id_time timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'snowflake_ids_unsettled' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION snowflake_ids.unsettled_transactions() IS
    'the open and prepared transactions of this database that have generated ids; read the view snowflake_ids.unsettled instead';

CREATE FUNCTION snowflake_ids.unsettled_transactions(of_table regclass, OUT pid integer, OUT transaction xid,
    OUT first_id_time timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'snowflake_ids_unsettled' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION snowflake_ids.unsettled_transactions(regclass) IS
    'the open and prepared transactions that hold back the settled id of this table';

CREATE VIEW snowflake_ids.unsettled AS
SELECT u.pid, p.gid AS prepared, u.first_id_time, coalesce(a.xact_start, p.prepared) AS since,
       coalesce(a.usename, p.owner) AS usename, a.application_name, a.state
FROM snowflake_ids.unsettled_transactions() u
LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid OPERATOR(pg_catalog.=) u.pid
LEFT JOIN pg_catalog.pg_prepared_xacts p ON p.transaction OPERATOR(pg_catalog.=) u.transaction;
COMMENT ON VIEW snowflake_ids.unsettled IS
    'the open and prepared transactions of this database that have generated ids, and so hold back the settled ids';
COMMENT ON COLUMN snowflake_ids.unsettled.pid IS 'the process of the session, or NULL';
COMMENT ON COLUMN snowflake_ids.unsettled.prepared IS
    'the name of the prepared transaction, or NULL';
COMMENT ON COLUMN snowflake_ids.unsettled.first_id_time IS
    'when the tick of its first id ends: settled ids stay before this time; -infinity if it was prepared before the first id since the start';
COMMENT ON COLUMN snowflake_ids.unsettled.since IS
    'when the transaction began, or was prepared; NULL if you may not see that session';
COMMENT ON COLUMN snowflake_ids.unsettled.usename IS 'the user';
COMMENT ON COLUMN snowflake_ids.unsettled.application_name IS 'as in pg_stat_activity';
COMMENT ON COLUMN snowflake_ids.unsettled.state IS 'as in pg_stat_activity';
