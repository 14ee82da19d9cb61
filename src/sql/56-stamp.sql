-- Triggers that stamp a column of each new or changed row.

CREATE FUNCTION sno_stamp() RETURNS trigger
AS 'MODULE_PATHNAME', 'snowflake_ids_sno_stamp' LANGUAGE C;
COMMENT ON FUNCTION sno_stamp() IS
    'trigger BEFORE INSERT OR UPDATE, FOR EACH ROW: sno_stamp(''column'') gives the column a new sno, whatever the statement says';

CREATE FUNCTION mastic_stamp() RETURNS trigger
AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_stamp' LANGUAGE C;
COMMENT ON FUNCTION mastic_stamp() IS
    'trigger BEFORE INSERT OR UPDATE, FOR EACH ROW: mastic_stamp(''column'') gives the column, a mastic or bigint, a new Mastic id';

CREATE FUNCTION snowflake_si_stamp() RETURNS trigger
AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_stamp' LANGUAGE C;
COMMENT ON FUNCTION snowflake_si_stamp() IS
    'trigger BEFORE INSERT OR UPDATE, FOR EACH ROW: snowflake_si_stamp(''column'') gives the column a new Snowflake-SI id';

CREATE FUNCTION snowflake_stamp() RETURNS trigger
AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_stamp' LANGUAGE C;
COMMENT ON FUNCTION snowflake_stamp() IS
    'trigger BEFORE INSERT OR UPDATE, FOR EACH ROW: snowflake_stamp(''layout'', ''column'') gives the column a new id of the layout';
