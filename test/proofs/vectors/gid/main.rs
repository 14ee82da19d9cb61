//! Makes the rows of a file (gid*.tsv, given by name and as input) again with the reference, whose files stand in
//! `core`. Heads, labels and inputs are those of the file.

// What the reference imports and no vector needs: random numbers, and its wire format.
extern crate self as rand;

use std::error::Error;
use std::panic::{self, AssertUnwindSafe};
use std::time::{Duration, UNIX_EPOCH};

#[allow(dead_code)]
mod core {
    pub mod byte_unit;
    pub mod gid;
    pub mod zerocopy_ext;
}
mod table;

use core::gid::Gid;
use core::gid::made::{Kind, Log, Segment, Volume, made};
use table::{Row, Table, from_hex, set, to_hex, utc};

pub fn random<T>() -> T {
    unreachable!("no vector is random")
}

macro_rules! derive_zerocopy_encoding {
    ($($part:tt)*) => {};
}
pub(crate) use derive_zerocopy_encoding;

fn said(error: &dyn Error) -> String {
    let mut text = format!("{error:?}: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}

// ---- values

fn value(row: &mut Row) {
    match row["type"].as_str() {
        "volume" => value_of::<Volume>(row),
        "log" => value_of::<Log>(row),
        "segment" => value_of::<Segment>(row),
        kind => unreachable!("{kind}"),
    }
}

fn value_of<P: Kind>(row: &mut Row) {
    let id: Gid<P> = match row["origin"].as_str() {
        "bytes" => <[u8; 16]>::try_from(from_hex(&row["bin_hex"])).unwrap().try_into().unwrap(),
        "system_time" => {
            let time = UNIX_EPOCH + Duration::from_millis(row["unix_ms"].parse().unwrap());
            made(time, &from_hex(&row["random9_hex"]))
        }
        "text" => row["text"].parse().unwrap(),
        "empty" => Gid::EMPTY,
        origin => unreachable!("{origin}"),
    };
    let bytes = id.as_ref();
    let hex = to_hex(bytes);
    let unix_ms = id.as_time().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    let class = match bytes[7] {
        byte if byte == bytes[0] => "dup",
        byte if byte >= 0x80 => "msb",
        _ => "low",
    };
    assert_eq!(id.to_string(), id.serialize());
    assert_eq!(format!("{id:?}"), id.short());
    set(row, "prefix_hex", &hex[..2]);
    set(row, "bin_hex", &hex);
    set(row, "uuid", [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-"));
    set(row, "text", id.serialize());
    set(row, "short", id.short());
    set(row, "unix_ms", unix_ms);
    set(row, "iso_utc", utc(unix_ms));
    set(row, "byte7_hex", &hex[14..16]);
    set(row, "byte7_class", class);
    set(row, "random9_hex", &hex[14..]);
    set(row, "random8_hex", &hex[16..]);
    set(row, "json", serde_json::to_string(&id).unwrap());
}

// ---- inputs that are no gids, or not of each kind

fn invalid(row: &mut Row) {
    let input = from_hex(&row["input_hex"]);
    if row["kind"] != "binary" {
        let quoted: String = input.iter().map(|byte| quoted(*byte)).collect();
        set(row, "input_q", format!("\"{quoted}\""));
    }
    let kind = row["kind"].clone();
    set(row, "ref_volume", read_as::<Volume>(&kind, &input));
    set(row, "ref_log", read_as::<Log>(&kind, &input));
    set(row, "ref_segment", read_as::<Segment>(&kind, &input));
}

fn quoted(byte: u8) -> String {
    match byte {
        b'"' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).into(),
        _ => format!("\\x{byte:02x}"),
    }
}

fn read_as<P: Kind>(kind: &str, input: &[u8]) -> String {
    let Ok(text) = (if kind == "binary" { Ok("") } else { std::str::from_utf8(input) }) else {
        return "not UTF-8 (cannot reach the Rust parser)".into();
    };
    match kind {
        "text" => text.parse::<Gid<P>>().map_or_else(|error| said(&error), |id| format!("OK {}", to_hex(id.as_ref()))),
        "binary" => match Gid::<P>::try_from(input) {
            Err(error) => said(&error),
            Ok(id) => panic::catch_unwind(AssertUnwindSafe(|| format!("OK {}", id.serialize()))).unwrap_or(
                "accepted as bytes but serialize() PANICS (no 13 character random part)".into(),
            ),
        },
        "json" => serde_json::from_str::<Gid<P>>(text)
            .map_or_else(|error| error.to_string(), |id| format!("OK {}", to_hex(id.as_ref()))),
        _ => unreachable!("{kind}"),
    }
}

fn main() {
    panic::set_hook(Box::new(|_| ()));
    let name = std::env::args().nth(1).unwrap();
    let mut table = Table::read();
    let again = if name == "gid_invalid.tsv" { invalid } else { value };
    table.rows.iter_mut().for_each(again);
    table.write();
}
