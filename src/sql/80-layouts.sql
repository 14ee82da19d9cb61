-- Layouts of 64-bit ids: | timestamp | node | sequence |, or with node_last | timestamp | sequence | node |, most
-- significant bit first. No layout ever changes. A created one can be dropped only while this server has generated no
-- id with its epoch, tick and widths.

CREATE FUNCTION snowflake_ids.layout_check(
    epoch timestamptz, tick interval, timestamp_bits integer, node_bits integer, sequence_bits integer,
    node_last boolean)
RETURNS boolean
AS 'MODULE_PATHNAME', 'snowflake_ids_layout_check'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.layout_check(timestamptz, interval, integer, integer, integer, boolean) IS
    'internal: true if this is a layout of at most 63 bits, otherwise an error';

CREATE TABLE snowflake_ids.created_layout (
    name text PRIMARY KEY,
    epoch timestamptz NOT NULL,
    tick interval NOT NULL,
    timestamp_bits integer NOT NULL,
    node_bits integer NOT NULL,
    sequence_bits integer NOT NULL,
    node_last boolean NOT NULL,
    CHECK (octet_length(name) BETWEEN 1 AND 63),
    CHECK (snowflake_ids.layout_check(epoch, tick, timestamp_bits, node_bits, sequence_bits, node_last))
);
COMMENT ON TABLE snowflake_ids.created_layout IS
    'the layouts that were created in this database; read the view snowflake_ids.layouts instead';
COMMENT ON COLUMN snowflake_ids.created_layout.name IS 'its name, as an argument of functions';
COMMENT ON COLUMN snowflake_ids.created_layout.epoch IS 'the time at which tick 0 starts';
COMMENT ON COLUMN snowflake_ids.created_layout.tick IS 'the length of a tick';
COMMENT ON COLUMN snowflake_ids.created_layout.timestamp_bits IS 'bits of the time, which counts ticks';
COMMENT ON COLUMN snowflake_ids.created_layout.node_bits IS 'bits of the node, or 0';
COMMENT ON COLUMN snowflake_ids.created_layout.sequence_bits IS
    'bits of the sequence, or 0';
COMMENT ON COLUMN snowflake_ids.created_layout.node_last IS 'true if the node has the lowest bits';
-- So a name decodes the same ids after a restore.
SELECT pg_catalog.pg_extension_config_dump('snowflake_ids.created_layout', '');

CREATE FUNCTION snowflake_ids.layout_keep() RETURNS trigger
AS 'MODULE_PATHNAME', 'snowflake_ids_layout_keep'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids.layout_keep() IS 'internal: refuses changes to layouts';
REVOKE ALL ON FUNCTION snowflake_ids.layout_keep() FROM PUBLIC;
CREATE TRIGGER keep BEFORE UPDATE OR DELETE OR TRUNCATE ON snowflake_ids.created_layout
    FOR EACH STATEMENT EXECUTE FUNCTION snowflake_ids.layout_keep();
COMMENT ON TRIGGER keep ON snowflake_ids.created_layout IS 'a layout never changes';
-- A subscription fires no statement trigger.
CREATE TRIGGER keep_row BEFORE UPDATE OR DELETE ON snowflake_ids.created_layout
    FOR EACH ROW EXECUTE FUNCTION snowflake_ids.layout_keep();
COMMENT ON TRIGGER keep_row ON snowflake_ids.created_layout IS
    'a layout never changes, also if a subscription applies the change';

CREATE FUNCTION snowflake_layout_create(
    name text, epoch timestamptz, tick interval, timestamp_bits integer, node_bits integer, sequence_bits integer,
    node_last boolean DEFAULT false
) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_layout_create'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_layout_create(text, timestamptz, interval, integer, integer, integer, boolean) IS
    'creates a layout of 64-bit ids in this database; node_last: the node has the lowest bits; to allow it: GRANT EXECUTE ON FUNCTION snowflake_layout_create TO role';
-- Each layout can use up a slot of the server's ledger: at most 64 per database, together with explicit sno partitions.
REVOKE ALL ON FUNCTION snowflake_layout_create(text, timestamptz, interval, integer, integer, integer, boolean)
    FROM PUBLIC;
-- A dump runs COPY even without rows, so the database's owner has INSERT (90-privileges.sql). The trigger lets only
-- users insert rows who could create layouts.
CREATE TRIGGER restore BEFORE INSERT ON snowflake_ids.created_layout FOR EACH ROW
    WHEN (NOT pg_catalog.has_function_privilege(
        'snowflake_layout_create(text, timestamptz, interval, integer, integer, integer, boolean)'::regprocedure::oid,
        'EXECUTE'))
    EXECUTE FUNCTION snowflake_ids.layout_keep();
COMMENT ON TRIGGER restore ON snowflake_ids.created_layout IS
    'only users with the right to call snowflake_layout_create() may insert rows';
-- A subscription or a restored dump may bring an existing row.
CREATE FUNCTION snowflake_ids.layout_same() RETURNS trigger
AS 'MODULE_PATHNAME', 'snowflake_ids_layout_same'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids.layout_same() IS 'internal: leaves out a layout that already exists';
REVOKE ALL ON FUNCTION snowflake_ids.layout_same() FROM PUBLIC;
CREATE TRIGGER same BEFORE INSERT ON snowflake_ids.created_layout
    FOR EACH ROW EXECUTE FUNCTION snowflake_ids.layout_same();
COMMENT ON TRIGGER same ON snowflake_ids.created_layout IS
    'leaves out a row that already exists, so that two nodes may create the same layout';
-- Also with session_replication_role = replica.
ALTER TABLE snowflake_ids.created_layout ENABLE ALWAYS TRIGGER keep;
ALTER TABLE snowflake_ids.created_layout ENABLE ALWAYS TRIGGER keep_row;
ALTER TABLE snowflake_ids.created_layout ENABLE ALWAYS TRIGGER restore;
ALTER TABLE snowflake_ids.created_layout ENABLE ALWAYS TRIGGER same;

CREATE FUNCTION snowflake_layout_drop(name text) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_layout_drop'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_layout_drop(text) IS
    'drops a created layout; error if this server has generated ids with it; to allow it: GRANT EXECUTE ON FUNCTION snowflake_layout_drop TO role';
REVOKE ALL ON FUNCTION snowflake_layout_drop(text) FROM PUBLIC;

CREATE FUNCTION snowflake_ids.layout_generates(
    epoch timestamptz, tick interval, timestamp_bits integer, node_bits integer, sequence_bits integer,
    node_last boolean)
RETURNS boolean
AS 'MODULE_PATHNAME', 'snowflake_ids_layout_generates'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.layout_generates(timestamptz, interval, integer, integer, integer, boolean) IS
    'internal: true if gen_snowflake() can generate ids of such a layout during the time that they can contain';

CREATE FUNCTION snowflake_ids.known_layouts(
    OUT name text,
    OUT epoch timestamptz,
    OUT tick interval,
    OUT timestamp_bits integer,
    OUT node_bits integer,
    OUT sequence_bits integer,
    OUT node_last boolean,
    OUT generates boolean,
    OUT description text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'snowflake_ids_known_layouts'
LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 9;
COMMENT ON FUNCTION snowflake_ids.known_layouts() IS
    'the built-in layouts; read the view snowflake_ids.layouts instead';

CREATE VIEW snowflake_ids.layouts AS
SELECT k.name, k.epoch, k.tick, k.timestamp_bits, k.node_bits, k.sequence_bits, k.node_last, k.generates,
       k.timestamp_bits OPERATOR(pg_catalog.+) k.node_bits OPERATOR(pg_catalog.+) k.sequence_bits
           OPERATOR(pg_catalog.<=) 53 AS javascript_safe,
       false AS created, k.description
FROM snowflake_ids.known_layouts() k
-- A created layout hides a built-in one of the same name, which a later version may have added. An array, because a
-- join would not keep the order.
WHERE k.name OPERATOR(pg_catalog.<>) ALL (ARRAY(SELECT l.name FROM snowflake_ids.created_layout l))
UNION ALL
SELECT l.name, l.epoch, l.tick, l.timestamp_bits, l.node_bits, l.sequence_bits, l.node_last,
       snowflake_ids.layout_generates(l.epoch, l.tick, l.timestamp_bits, l.node_bits, l.sequence_bits, l.node_last),
       l.timestamp_bits OPERATOR(pg_catalog.+) l.node_bits OPERATOR(pg_catalog.+) l.sequence_bits
           OPERATOR(pg_catalog.<=) 53,
       true, NULL
FROM snowflake_ids.created_layout l;
COMMENT ON VIEW snowflake_ids.layouts IS 'one row for each layout that snowflake_decode() and similar functions accept';
COMMENT ON COLUMN snowflake_ids.layouts.name IS 'its name, as an argument of functions';
COMMENT ON COLUMN snowflake_ids.layouts.epoch IS 'the time at which tick 0 starts';
COMMENT ON COLUMN snowflake_ids.layouts.tick IS 'the length of a tick';
COMMENT ON COLUMN snowflake_ids.layouts.timestamp_bits IS 'bits of the time, which counts ticks';
COMMENT ON COLUMN snowflake_ids.layouts.node_bits IS 'bits of the node, or 0';
COMMENT ON COLUMN snowflake_ids.layouts.sequence_bits IS 'bits of the sequence, or 0';
COMMENT ON COLUMN snowflake_ids.layouts.node_last IS 'true if the node has the lowest bits';
COMMENT ON COLUMN snowflake_ids.layouts.generates IS
    'true if gen_snowflake() can generate its ids';
COMMENT ON COLUMN snowflake_ids.layouts.javascript_safe IS
    'true if ids have at most 53 bits, so JavaScript numbers are exact';
COMMENT ON COLUMN snowflake_ids.layouts.created IS
    'true if snowflake_layout_create() created it in this database';
COMMENT ON COLUMN snowflake_ids.layouts.description IS
    'the service that uses these ids, and the fields of an id';
