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

-- Keys must not change, so these triggers only check them.

CREATE FUNCTION sno_check() RETURNS trigger
AS 'MODULE_PATHNAME', 'snowflake_ids_sno_check' LANGUAGE C;
COMMENT ON FUNCTION sno_check() IS
    'trigger BEFORE INSERT OR UPDATE, FOR EACH ROW: sno_check(''key'') refuses an id that readers of the table may have passed';

CREATE FUNCTION mastic_check() RETURNS trigger
AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_check' LANGUAGE C;
COMMENT ON FUNCTION mastic_check() IS
    'trigger BEFORE INSERT OR UPDATE, FOR EACH ROW: mastic_check(''key'') refuses an id that readers of the table may have passed';

CREATE FUNCTION snowflake_si_check() RETURNS trigger
AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_check' LANGUAGE C;
COMMENT ON FUNCTION snowflake_si_check() IS
    'trigger BEFORE INSERT OR UPDATE, FOR EACH ROW: snowflake_si_check(''key'') refuses an id that readers of the table may have passed';

CREATE FUNCTION snowflake_check() RETURNS trigger
AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_check' LANGUAGE C;
COMMENT ON FUNCTION snowflake_check() IS
    'trigger BEFORE INSERT OR UPDATE, FOR EACH ROW: snowflake_check(''layout'', ''key'') refuses an id that readers of the table may have passed';
