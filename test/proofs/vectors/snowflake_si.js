// Makes the rows of a file (snowflake_si*.tsv, given by name and as input) again with the reference. Heads, labels and
// inputs are those of the file. The folders v1 and v2 next to this program have the two releases, as JavaScript.
'use strict';

const fs = require('fs');
const { SnowflakeSI } = require('./v1/SnowflakeSI');
const { SnowflakeSiGenerator } = require('./v2/SnowflakeSI');

const name = process.argv[2];
const lines = fs.readFileSync(0, 'utf8').split('\n').slice(0, -1);
const head = lines.findIndex((line) => !line.startsWith('#'));
const columns = lines[head].split('\t');
const rows = lines.slice(head + 1).map((line) => {
    const fields = line.split('\t');
    return Object.fromEntries(columns.map((column, i) => [column, fields[i]]));
});

let clock = 0;
Date.now = () => clock;

const v1 = (options) => SnowflakeSI.createFactory(options).create(options);
const v2 = (options) => new SnowflakeSiGenerator(options);

// What a call returns, or the name of its error (and its reason).
function attempt(call) {
    try {
        return { id: call() };
    } catch (e) {
        return { error: e.ctx && e.ctx.reason ? `${e.name}:${e.ctx.reason}` : e.name };
    }
}

function value(row) {
    const [base, clockBits, midBits, uinBits, ms, mid, uin] =
        ['base_clock_ms', 'clock_bits', 'mid_bits', 'uin_bits', 'unix_ms', 'mid', 'uin'].map((c) => Number(row[c]));
    const by = {};
    by['v2.1.0'] = attempt(() => v2({
        epoch: base, machineId: mid, clockBitWidth: clockBits, machineIdBitWidth: midBits, sequenceBitWidth: uinBits,
    }).generateBy(ms, uin));
    if (clockBits === 40) {
        by['v1.0.0'] = attempt(() => {
            const generate = v1({ baseClock: base, uinBitWidth: uinBits, machineId: mid });
            clock = ms;
            for (let n = 0; n < uin; n++) generate();
            return generate();
        });
    }
    const sources = Object.keys(by).filter((source) => by[source].id !== undefined);
    const ids = new Set(sources.map((source) => by[source].id));
    if (ids.size !== 1) throw new Error(`the releases disagree: ${row.case}`);
    const [id] = ids;
    row.source = sources.join('+');
    row.id = String(id);
    row.id_hex = BigInt(id).toString(16).padStart(16, '0');
    row.iso_utc = new Date(ms).toISOString();
    row.mab = String((id - mid * 2 ** uinBits - uin) / 2 ** (midBits + uinBits));
}

function invalid(row) {
    const args = JSON.parse(row.args_json, (_, v) => (v === 'NaN' || v === 'Infinity' ? Number(v) : v));
    if (row.kind === 'id_range') {
        const n = Number(args);
        row.ref = Number.isSafeInteger(n) && n >= 0 ? 'accepted' : 'rejected';
        row.detail = `Number.isSafeInteger(${n})=${Number.isSafeInteger(n)} / negative`;
        return;
    }
    const { timestamp, sequence, ...options } = args;
    clock = 1750000000000;
    const { id, error } = attempt({
        create_v1: () => v1(options)(),
        create_v2: () => v2(options).generate(),
        generate_by_v2: () => v2(options).generateBy(timestamp, sequence),
    }[row.kind]);
    row.ref = error ? 'rejected' : Number.isSafeInteger(id) ? 'accepted' : 'garbage';
    // As the id is no JavaScript number any more, its digits are shown by BigInt.
    row.detail = error || (Number.isInteger(id) ? String(BigInt(id)) : String(id));
}

// Long runs show their first and last call only.
function trace() {
    let generate, step, given, scenario;
    for (const row of rows) {
        const options = JSON.parse(row.options_json);
        const lowBits = 53 - (options.clockBitWidth || 40);
        const uinBits = row.lib === 'v1.0.0' ? options.uinBitWidth || 8 : lowBits - (options.machineIdBitWidth || 5);
        if (row.scenario !== scenario) {
            scenario = row.scenario;
            step = 0;
            given = new Map();
            if (row.lib === 'v1.0.0') {
                generate = v1(options);
            } else {
                const generator = v2(options);
                generate = () => generator.generate();
            }
        }
        clock = Number(row.clock_ms);
        let id, error, earlier;
        for (; step < Number(row.step); step++) {
            ({ id, error } = attempt(generate));
            earlier = given.get(id);
            if (id !== undefined) given.set(id, step + 1);
        }
        row.outcome = error || 'ok';
        Object.assign(row, { id: '', mab: '', mid: '', uin: '', note: '' });
        if (error) continue;
        row.id = String(id);
        row.mab = String(Math.floor(id / 2 ** lowBits));
        const low = id - row.mab * 2 ** lowBits;
        row.mid = String(Math.floor(low / 2 ** uinBits));
        row.uin = String(low % 2 ** uinBits);
        if (earlier !== undefined) row.note = `ref_repeats_step=${earlier}`;
    }
}

if (name === 'snowflake_si_trace.tsv') trace();
else rows.forEach(name === 'snowflake_si.tsv' ? value : invalid);
const said = rows.map((row) => columns.map((column) => row[column]).join('\t'));
fs.writeSync(1, [...lines.slice(0, head + 1), ...said, ''].join('\n'));
