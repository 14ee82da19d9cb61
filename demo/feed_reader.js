// Reads a feed, as feed_reader.py does, with node-postgres.
//
// usage: node feed_reader.js NAME        the name of a row of bulletin_reader; PGHOST, PGDATABASE ... say where
const { Client } = require('pg');
const reader = process.argv[2], below = "changed < (SELECT sno_settled('bulletin'))";
let stop = false;
process.on('SIGTERM', () => { stop = true; });
const sleep = ms => new Promise(done => setTimeout(done, ms));
async function poll(db) {
    const found = await db.query(`SELECT EXISTS (SELECT FROM bulletin WHERE changed > last AND ${below}) AS rows
        FROM bulletin_reader WHERE name = $1`, [reader]);
    if (!found.rows[0].rows) return false;
    await db.query('BEGIN');
    const position = await db.query('SELECT last FROM bulletin_reader WHERE name = $1 FOR UPDATE', [reader]);
    const { rows } = await db.query(`SELECT id, body, changed FROM bulletin WHERE changed > $1 AND ${below}
        ORDER BY changed LIMIT 1000`, [position.rows[0].last]);
    await db.query(`INSERT INTO bulletin_copy AS c SELECT $1, id, body, 1 FROM unnest($2::bigint[], $3::int[]) AS r (id, body)
        ON CONFLICT (reader, id) DO UPDATE SET body = excluded.body, times = c.times + 1`,
        [reader, rows.map(row => row.id), rows.map(row => row.body)]);
    await db.query('UPDATE bulletin_reader SET last = coalesce($1, last) WHERE name = $2', [rows.at(-1)?.changed, reader]);
    await db.query('COMMIT');
    return true;
}
(async () => {
    for (let wait = 5; !stop; await sleep(wait = Math.min(2 * wait, 1000))) {
        const db = new Client({ statement_timeout: 30000 }).on('error', () => {});  // the query fails as well
        try {
            for (await db.connect(); !stop;) {
                if (await poll(db)) wait = 5;
                else await sleep(wait = Math.min(2 * wait, 100));
            }
        } catch (error) { console.error(`${reader}: ${error.message}`); }
        db.end().catch(() => {});
    }
})();
