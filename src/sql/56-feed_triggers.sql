-- The trigger functions of feeds.

CREATE FUNCTION snowflake_ids.feed_stamp() RETURNS trigger
AS 'MODULE_PATHNAME', 'snowflake_ids_feed_stamp' LANGUAGE C;
COMMENT ON FUNCTION snowflake_ids.feed_stamp() IS
    'internal: trigger that create_feed() makes: feed_stamp(''column'') gives the column the id of the transaction';

CREATE FUNCTION snowflake_ids.note_deleted() RETURNS trigger
AS 'MODULE_PATHNAME', 'snowflake_ids_note_deleted' LANGUAGE C;
COMMENT ON FUNCTION snowflake_ids.note_deleted() IS
    'internal: trigger that create_feed() makes: writes the key of a deleted row into the table of deletions, as the owner of the table';

CREATE FUNCTION snowflake_ids.note_lost() RETURNS trigger
AS 'MODULE_PATHNAME', 'snowflake_ids_note_lost' LANGUAGE C;
COMMENT ON FUNCTION snowflake_ids.note_lost() IS
    'internal: trigger of a table of deletions: tells readers to copy again if somebody removes its rows by hand';
