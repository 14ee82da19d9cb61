// Reads a feed, as feed_reader.py does, with node-postgres. The comments are there.
//
// usage: node feed_reader.js NAME    a row of bulletin_reader (feed_reader.sql has the tables); PGHOST, PGDATABASE ...
const { Client } = require('pg');
const reader = process.argv[2], smallest = '2222222222222222';
const windows = Array.from({ length: 9 }, (_, n) => 0.02 * 10 ** n);
let stop = false;
process.on('SIGTERM', () => { stop = true; });
const sleep = ms => new Promise(done => setTimeout(done, ms));
const seconds = () => performance.now() / 1000;

function feed(db) {
    const read = windows.map(() => -Infinity);
    let due = windows.map(() => 0), count = '0', newest = smallest, newestTime = 0;
    const first = async (query, values) => (await db.query(query, values)).rows[0];

    async function wait() {
        const pause = Math.min(1, Math.max(0.001, Math.min(...due) - seconds()));
        const { seen } = await first("SELECT snowflake_ids_wait('bulletin', $1, make_interval(secs => $2)) AS seen",
            [count, pause]);
        const committed = seen !== count;
        count = seen;
        if (committed) due = due.map((at, n) => Math.min(at, read[n] + 2 * windows[n]));
        return committed;
    }
    async function poll(committed) {
        const now = seconds();
        const width = Math.max(0, ...windows.filter((_, n) => due[n] <= now));
        const at = await first(`SELECT settled, settled > position AND $1 >= position AS moved,
                sno_lower_bound(greatest(sno_timestamp(position), to_timestamp($2))) AS window,
                extract(epoch FROM sno_timestamp(position))::float AS start,
                extract(epoch FROM sno_timestamp(settled))::float AS end
            FROM bulletin_reader, sno_settled('bulletin') AS settled WHERE name = $3`,
            [newest, newestTime - width, reader]);
        const unsettled = newestTime - at.start;
        const moved = at.moved && 2 * (at.end - at.start + now - read.at(-1)) >= unsettled;
        if (!committed && !width && !moved) return;
        const whole = moved || width >= unsettled;
        await db.query('BEGIN');
        const { position } = await first('SELECT position FROM bulletin_reader WHERE name = $1 FOR UPDATE', [reader]);
        const { rows } = await db.query(`SELECT id, body, stamp, extract(epoch FROM sno_timestamp(stamp))::float AS time
            FROM bulletin WHERE stamp >= $1 AND stamp > $2 ORDER BY stamp`,
            [position, whole ? smallest : width ? at.window : newest]);
        if (rows.length) {
            await db.query(`INSERT INTO bulletin_copy AS c
                SELECT $1, id, body, 1 FROM unnest($2::bigint[], $3::int[]) AS r (id, body)
                ON CONFLICT (reader, id) DO UPDATE SET body = excluded.body, times = c.times + 1`,
                [reader, rows.map(row => row.id), rows.map(row => row.body)]);
            if (whole) await db.query('UPDATE bulletin_reader SET position = greatest(position, $1) WHERE name = $2',
                [at.settled, reader]);
        }
        await db.query('COMMIT');
        if (rows.length && rows.at(-1).stamp > newest) ({ stamp: newest, time: newestTime } = rows.at(-1));
        windows.forEach((of, n) => { if (whole || of <= width) [read[n], due[n]] = [now, Infinity]; });
    }
    return async () => poll(await wait());
}
(async () => {
    for (let pause = 5; !stop; await sleep(pause = Math.min(2 * pause, 1000))) {
        const db = new Client({ statement_timeout: 30000 }).on('error', () => {});  // the query fails as well
        try {
            await db.connect();
            await db.query(`SELECT snowflake_ids.feed_position('bulletin', position::text)
                FROM bulletin_reader WHERE name = $1`, [reader]);
            for (const next = feed(db); !stop; pause = 5) await next();
        } catch (error) { console.error(`${reader}: ${error.message}`); }
        db.end().catch(() => {});
    }
})();
