-- The tables of feed_reader.py and feed_reader.js: a table with a feed, its readers, and the copy that each reader keeps.
CREATE TABLE bulletin (id bigint PRIMARY KEY, body int);
SELECT snowflake_ids.create_feed('bulletin');
CREATE TABLE bulletin_reader (name text PRIMARY KEY, position text NOT NULL DEFAULT '');
CREATE TABLE bulletin_copy (reader text, id bigint, body int, PRIMARY KEY (reader, id));
INSERT INTO bulletin_reader VALUES ('search'), ('mail');
