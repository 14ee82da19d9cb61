//! Makes the rows of a file (mastic*.tsv, given by name and as input) again with the reference, whose file
//! `snowflake.rs` stands next to this one. Heads, labels and inputs are those of the file.

// What the reference imports is here: its clock, its trap, and an integer type.
extern crate self as ic_utils;
extern crate self as wasm_dbms_api;

use std::cell::Cell;
use std::collections::HashMap;
use std::panic;

#[allow(dead_code)]
mod snowflake;
mod table;

use snowflake::Snowflake;
use table::{Row, Table, from_hex, set, utc};

pub mod prelude {
    pub struct Uint64(pub u64);
}

thread_local! {
    static CLOCK_MS: Cell<u64> = const { Cell::new(0) };
}

pub fn now() -> u64 {
    CLOCK_MS.get()
}

#[macro_export]
macro_rules! trap {
    ($message:expr) => {
        panic!("{}", $message)
    };
}

/// An id at this time, or what the trap says.
fn generate(clock_ms: u64) -> Result<u64, String> {
    CLOCK_MS.set(clock_ms);
    panic::catch_unwind(Snowflake::new).map(u64::from).map_err(|said| said.downcast_ref::<String>().unwrap().clone())
}

/// The generator's state belongs to a thread.
fn in_a_new_canister<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|threads| threads.spawn(run).join().unwrap())
}

fn value(row: &mut Row) {
    let unix_ms: u64 = row["unix_ms"].parse().unwrap();
    let sequence: u64 = row["sequence"].parse().unwrap();
    let id = in_a_new_canister(|| {
        // The first id of the canister's first millisecond has the sequence 1: another time before it helps.
        generate(unix_ms + 1).unwrap();
        (0..=sequence).map(|_| generate(unix_ms).unwrap()).last().unwrap()
    });
    set(row, "id", Snowflake::from(id));
    set(row, "id_hex", format!("{id:016x}"));
    set(row, "id_as_bigint", id as i64);
    set(row, "ts", id >> 16);
    set(row, "sequence", id & 0xffff);
    set(row, "iso_utc", utc(unix_ms));
}

fn invalid(row: &mut Row) {
    let text = String::from_utf8(from_hex(&row["input_hex"])).unwrap();
    let (said, detail) = match text.parse::<u64>() {
        Ok(id) => ("accepted", Snowflake::from(id).to_string()),
        Err(error) => ("rejected", error.to_string()),
    };
    set(row, "input_q", format!("{text:?}"));
    set(row, "ref", said);
    set(row, "detail", detail);
}

/// Long runs show their first and last call only.
fn scenario(rows: &mut [Row]) {
    let mut given: HashMap<u64, u64> = HashMap::new();
    let mut step = 0;
    for row in rows {
        let clock_ms = row["clock_ms"].parse().unwrap();
        let mut said = Err(String::new());
        let mut earlier = None;
        while step < row["step"].parse().unwrap() {
            step += 1;
            said = generate(clock_ms);
            earlier = said.as_ref().ok().and_then(|id| given.insert(*id, step));
        }
        set(row, "outcome", said.as_ref().map_or_else(|message| format!("trap: {message}"), |_| "ok".into()));
        let shown = |part: fn(u64) -> u64| said.as_ref().map_or(String::new(), |id| part(*id).to_string());
        set(row, "id", shown(|id| id));
        set(row, "ts", shown(|id| id >> 16));
        set(row, "sequence", shown(|id| id & 0xffff));
        set(row, "note", earlier.map_or(String::new(), |n| format!("ref_repeats_step={n}")));
    }
}

fn main() {
    panic::set_hook(Box::new(|_| ()));
    let name = std::env::args().nth(1).unwrap();
    let mut table = Table::read();
    match name.as_str() {
        "mastic.tsv" => table.rows.iter_mut().for_each(value),
        "mastic_invalid.tsv" => table.rows.iter_mut().for_each(invalid),
        "mastic_trace.tsv" => {
            for rows in table.rows.chunk_by_mut(|a, b| a["scenario"] == b["scenario"]) {
                in_a_new_canister(|| scenario(rows));
            }
        }
        _ => unreachable!("{name}"),
    }
    table.write();
}
