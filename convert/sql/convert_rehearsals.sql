-- Counts rehearsals: each copies a table.
SET client_min_messages = warning;
CREATE TABLE rehearsal (n serial, copy text);
CREATE FUNCTION note_copy() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.rehearsal (copy)
    SELECT object_identity FROM pg_event_trigger_ddl_commands() WHERE object_identity ~ 'snowflake_ids_copy_';
END $$;
CREATE EVENT TRIGGER note_copy ON ddl_command_end WHEN TAG IN ('CREATE TABLE AS') EXECUTE FUNCTION note_copy();

CREATE TABLE country (id bigserial PRIMARY KEY, code text, created timestamptz DEFAULT now());
INSERT INTO country (code) SELECT n FROM generate_series(1, 100) AS n;
DO $$
BEGIN
    FOR t IN 1 .. 8 LOOP
        EXECUTE format('CREATE TABLE of_country_%s (country bigint REFERENCES country, n int)', t);
        EXECUTE format('INSERT INTO of_country_%s SELECT id, id FROM country', t);
        EXECUTE format('CREATE INDEX ON of_country_%1$s (country); CREATE INDEX ON of_country_%1$s (n, country); CREATE INDEX ON of_country_%1$s (country DESC)', t);
    END LOOP;
END $$;
CALL snowflake_ids_convert('country', 'id', 'sno', 'created', concurrently => false);
SELECT pg_typeof(id), count(*) FROM country GROUP BY 1;
-- Each of 9 tables is rehearsed for each of its own indexes, not for all 25.
SELECT count(*) < 100 AS few, count(*) > 25 AS counted FROM rehearsal;

DROP EVENT TRIGGER note_copy;
DROP FUNCTION note_copy;
DROP TABLE rehearsal;
DO $$ BEGIN FOR t IN 1 .. 8 LOOP EXECUTE format('DROP TABLE of_country_%s', t); END LOOP; END $$;
DROP TABLE country;
