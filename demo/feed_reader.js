// Keeps a copy of the table bulletin with node-postgres, as feed_reader.py does.
// usage: node feed_reader.js NAME    a row of bulletin_reader (feed_reader.sql has the tables); PGHOST, PGDATABASE ...
const { Client } = require('pg'), { setTimeout } = require('timers/promises');
const name = process.argv[2], stop = new AbortController(), { signal } = stop;
for (const what of ['SIGTERM', 'SIGINT']) process.on(what, () => stop.abort());

// What is done with the rows: step 0 empties the copy, 1 deletes a row, 2 brings a row as it is now.
async function handle(db, rows) {
    const [deleted, there] = [1, 2].map(step => rows.filter(row => row.step === step));
    if (rows[0].step === 0) await db.query('DELETE FROM bulletin_copy WHERE reader = $1', [name]);
    await db.query('DELETE FROM bulletin_copy WHERE reader = $1 AND id = ANY ($2)', [name, deleted.map(row => row.id)]);
    await db.query(`INSERT INTO bulletin_copy SELECT $1, * FROM unnest($2::bigint[], $3::int[]) ON CONFLICT (reader, id)
        DO UPDATE SET body = excluded.body`, [name, there.map(row => row.id), there.map(row => row.body)]);
}

async function follow(db, copyAgain) {
    const first = async (query, values) => (await db.query(query, values)).rows[0];
    let stored = (await first('SELECT position FROM bulletin_reader WHERE name = $1 FOR UPDATE', [name])).position;
    let position = copyAgain ? '' : stored, storeAt = 0;
    while (!signal.aborted) {
        const wait = await first("SELECT snowflake_ids.wait_feed('bulletin', $1, '1 s') AS since", [position]);
        await db.query('BEGIN');
        await db.query(`DECLARE poll CURSOR FOR SELECT step, id, (f."row").body, position FROM bulletin_feed($1) AS f`,
            [wait.since]);
        for (let rows = [{}]; rows.at(-1).step !== 3; position = rows.at(-1).position) { // step 3 has the next position
            ({ rows } = await db.query('FETCH 1000 FROM poll'));
            if (rows[0].step < 3) { await handle(db, rows); storeAt = 0; }
        }
        if (Date.now() > storeAt) { // with rows at once, without rows each 10 seconds
            if (!await first(`UPDATE bulletin_reader SET position = $1 WHERE name = $2 AND position = $3
                RETURNING name`, [position, name, stored])) throw new Error('another process has this name');
            [stored, storeAt] = [position, Date.now() + 10000];
        }
        await db.query('COMMIT');
    }
}

(async () => {
    for (let pause = 100, code; !signal.aborted;) {
        const db = new Client({ connectionTimeoutMillis: 10000, keepAlive: true }), began = Date.now();
        db.on('error', () => {}); // the query fails as well
        try { await db.connect(); await follow(db, code === 'SF001'); } catch (error) {
            code = error.code;
            if (code !== '40001') console.error(`${name}: ${error.message} ${error.hint ?? ''}`);
            pause = Date.now() - began > 10000 ? 100 : Math.min(2 * pause, 5000);
            await setTimeout({ 40001: 20, SF001: 20, SF002: 60000 }[code] ?? pause, null, { signal }).catch(() => {});
        }
        db.end().catch(() => {});
    }
})();
