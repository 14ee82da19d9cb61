// Reads a feed, as feed_reader.py does, with node-postgres. The comments are there.
//
// usage: node feed_reader.js NAME    a row of bulletin_reader (feed_reader.sql has the tables); PGHOST, PGDATABASE ...
const { Client } = require('pg');
const reader = process.argv[2], smallest = '2222222222222222';
const paces = [0, ...Array.from({ length: 5 }, (_, n) => 2 * 100 ** n)];
let stop = false;
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => { stop = true; });
const sleep = ms => new Promise(done => setTimeout(done, ms));

async function handle(db, rows) {
    const deleted = rows.filter(row => row.deleted).map(row => row.id);
    const there = new Map(rows.filter(row => !row.deleted).map(row => [row.id, row.body]));
    if (deleted.length) await db.query(
        'DELETE FROM bulletin_copy WHERE reader = $1 AND ($2 OR id = ANY ($3::bigint[]))',
        [reader, deleted.includes(null), deleted]);
    await db.query(`INSERT INTO bulletin_copy AS c (reader, id, body, times)
        SELECT $1, id, body, 1 FROM unnest($2::bigint[], $3::int[]) AS r (id, body)
        ON CONFLICT (reader, id) DO UPDATE SET body = excluded.body, times = c.times + 1`,
        [reader, [...there.keys()], [...there.values()]]);
}

function feed(db) {
    const read = paces.map(() => ({ when: -Infinity, lastButOne: smallest, last: smallest }));
    let count = '0', newest = smallest;
    const first = async (query, values) => (await db.query(query, values)).rows[0];

    async function wait() {
        ({ count } = await first("SELECT snowflake_ids_wait('bulletin', $1, '1 s') AS count", [count]));
    }
    async function poll() {
        const now = performance.now() / 1000;
        const due = read.filter(({ when }, n) => now - when >= paces[n]);
        const after = due.map(({ lastButOne }) => lastButOne).sort()[0];
        await db.query('BEGIN');
        const { position, settled } = await first(
            "SELECT position, sno_settled('bulletin') AS settled FROM bulletin_reader WHERE name = $1 FOR UPDATE",
            [reader]);
        const whole = after < position || after < settled;
        const { rows } = await db.query(`SELECT greatest($1, f.position) AS position, f.stamp, f.deleted, f.id, b.body
            FROM bulletin_feed AS f LEFT JOIN LATERAL (SELECT * FROM bulletin WHERE id = f.id LIMIT 1) AS b ON true
            WHERE f.stamp >= $1 AND f.stamp > $2 ORDER BY f.stamp`, [position, whole ? smallest : after]);
        if (rows.length) {
            await handle(db, rows);
            if (whole) await db.query('UPDATE bulletin_reader SET position = $1 WHERE name = $2',
                [rows[0].position, reader]);
        }
        await db.query('COMMIT');
        if (rows.length) newest = rows.at(-1).stamp;
        for (const of of due) Object.assign(of, { when: now, lastButOne: of.last, last: newest });
    }
    return async () => { await wait(); await poll(); };
}

(async () => {
    for (let pause = 5; !stop; await sleep(pause = Math.min(2 * pause, 1000))) {
        const db = new Client({ connectionTimeoutMillis: 10000, keepAlive: true, statement_timeout: 300000,
            idle_in_transaction_session_timeout: 30000 });
        db.on('error', () => {});  // the query fails as well
        try {
            await db.connect();
            const { rowCount } = await db.query(`SELECT snowflake_ids.feed_position('bulletin', position::text)
                FROM bulletin_reader WHERE name = $1`, [reader]);
            if (!rowCount) throw new Error('bulletin_reader has no row of this name');
            for (const next = feed(db); !stop; pause = 5) { await next(); await sleep(10); }
        } catch (error) { console.error(`${reader}: ${error.message}`); }
        db.end().catch(() => {});
    }
})();
