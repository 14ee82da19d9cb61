CREATE FUNCTION snowflake_ids.generators(
    OUT format text,
    OUT machine_id integer,
    OUT issued bigint,
    OUT overflow_waits bigint,
    OUT wait_time double precision,
    OUT waiting bigint,
    OUT regressions bigint,
    OUT holds bigint,
    OUT ticktock integer,
    OUT last_timestamp timestamptz,
    OUT clock_lead double precision,
    OUT durable_until timestamptz,
    OUT owner oid,
    OUT layout text,
    OUT stats_since timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'snowflake_ids_stats'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 16;
COMMENT ON FUNCTION snowflake_ids.generators() IS
    'the generators that this server has used; read the view snowflake_ids.stats instead';

CREATE VIEW snowflake_ids.stats AS
SELECT g.format, g.machine_id, g.issued, g.overflow_waits, g.wait_time, g.waiting, g.regressions, g.holds,
       g.ticktock, g.last_timestamp, g.clock_lead, g.durable_until, d.datname AS owner, g.layout, g.stats_since
FROM snowflake_ids.generators() g LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) g.owner;
COMMENT ON VIEW snowflake_ids.stats IS 'one row for each generator of this server, for all its databases';
COMMENT ON COLUMN snowflake_ids.stats.format IS 'sno, sno_at (given times), mastic, snowflake_si or layout';
COMMENT ON COLUMN snowflake_ids.stats.machine_id IS
    'the machine id in its ids; in snos it is the partition';
COMMENT ON COLUMN snowflake_ids.stats.issued IS
    'ids generated; it can lag, because sessions add theirs once per tick and at the end of a transaction';
COMMENT ON COLUMN snowflake_ids.stats.overflow_waits IS
    'calls that waited because all ids of a tick were used';
COMMENT ON COLUMN snowflake_ids.stats.wait_time IS 'the time that calls have waited, in milliseconds';
COMMENT ON COLUMN snowflake_ids.stats.waiting IS 'sessions that wait now';
COMMENT ON COLUMN snowflake_ids.stats.regressions IS 'how often the clock went back and the tick-tock bit was changed';
COMMENT ON COLUMN snowflake_ids.stats.holds IS 'ticks used ahead of a clock that had gone back';
COMMENT ON COLUMN snowflake_ids.stats.ticktock IS 'the tick-tock bit of new snos';
COMMENT ON COLUMN snowflake_ids.stats.last_timestamp IS 'the time of the last id';
COMMENT ON COLUMN snowflake_ids.stats.clock_lead IS 'how far the last id is ahead of the clock, in milliseconds';
COMMENT ON COLUMN snowflake_ids.stats.durable_until IS
    'the ceiling on disk: no id of this time or a later one has been generated';
COMMENT ON COLUMN snowflake_ids.stats.owner IS
    'the database that created the generator, by gen_sno(metabyte, partition) or by a layout of its own';
COMMENT ON COLUMN snowflake_ids.stats.layout IS
    'if "format" is layout, its name if built in, otherwise its epoch, tick and widths';
COMMENT ON COLUMN snowflake_ids.stats.stats_since IS
    'start of the counters: the first use after a start or crash, or the last call of snowflake_ids.stats_reset()';

CREATE FUNCTION snowflake_ids.stats_reset() RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_stats_reset'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_ids.stats_reset() IS
    'sets the counters of snowflake_ids.stats to zero; to allow it: GRANT EXECUTE ON FUNCTION snowflake_ids.stats_reset TO role';
REVOKE ALL ON FUNCTION snowflake_ids.stats_reset() FROM PUBLIC;

CREATE FUNCTION snowflake_ids.status(
    OUT machine_id integer,
    OUT machine_id_source text,
    OUT narrow_machine_id integer,
    OUT system_identifier bigint,
    OUT not_accepted text,
    OUT life bigint,
    OUT life_began timestamptz,
    OUT memory text,
    OUT memory_bytes bigint,
    OUT ceiling_file text,
    OUT in_recovery boolean,
    OUT library_version text)
AS 'MODULE_PATHNAME', 'snowflake_ids_status'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids.status() IS
    'one row about this server: its machine id, shared memory, ceiling file and version';
