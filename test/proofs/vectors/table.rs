//! A file of vectors: heads, the columns' names, rows.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};

pub type Row = HashMap<String, String>;

pub struct Table {
    heads: Vec<String>,
    columns: Vec<String>,
    pub rows: Vec<Row>,
}

impl Table {
    pub fn read() -> Self {
        let lines: Vec<String> = io::stdin().lock().lines().map(Result::unwrap).collect();
        let head = lines.iter().position(|line| !line.starts_with('#')).unwrap();
        let columns: Vec<String> = lines[head].split('\t').map(String::from).collect();
        let row = |line: &String| columns.iter().cloned().zip(line.split('\t').map(String::from)).collect();
        let rows = lines[head + 1..].iter().map(row).collect();
        Self { heads: lines[..=head].to_vec(), columns, rows }
    }

    pub fn write(&self) {
        let mut out = io::BufWriter::new(io::stdout().lock());
        for head in &self.heads {
            writeln!(out, "{head}").unwrap();
        }
        for row in &self.rows {
            let fields: Vec<&str> = self.columns.iter().map(|column| row[column].as_str()).collect();
            writeln!(out, "{}", fields.join("\t")).unwrap();
        }
    }
}

pub fn set(row: &mut Row, column: &str, value: impl ToString) {
    row.insert(column.into(), value.to_string());
}

#[allow(dead_code)]
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// "-" is no bytes.
pub fn from_hex(hex: &str) -> Vec<u8> {
    let hex = hex.trim_matches('-');
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

/// The Gregorian calendar repeats after 400 years, which are 146,097 days.
pub fn utc(unix_ms: u64) -> String {
    let leap = |year: u64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let (mut days, ms) = (unix_ms / 86_400_000, unix_ms % 86_400_000);
    let mut year = 1970 + days / 146_097 * 400;
    days %= 146_097;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    let (s, thousandths) = (ms / 1_000, ms % 1_000);
    let time = format!("{:02}:{:02}:{:02}.{thousandths:03}", s / 3_600, s / 60 % 60, s % 60);
    format!("{year:04}-{:02}-{:02}T{time}Z", month + 1, days + 1)
}
