-- The tables of feed_reader.py and feed_reader.js: a feed, where its readers are, and what they have made of it.
CREATE TABLE bulletin (id bigint PRIMARY KEY, body int);
SELECT to_do FROM snowflake_ids.create_feed('bulletin', deletes => true, format => 'sno') \gexec
CREATE TABLE bulletin_reader (name text PRIMARY KEY, position sno NOT NULL DEFAULT '2222222222222222');
CREATE TABLE bulletin_copy (reader text, id bigint, body int, times int, PRIMARY KEY (reader, id));
INSERT INTO bulletin_reader VALUES ('search'), ('mail');
-- A reader that begins after deletions were forgotten needs a copy and its position: see feed_position in doc/feed.md.
