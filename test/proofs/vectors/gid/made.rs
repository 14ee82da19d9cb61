//! Becomes a child of the reference's module `gid`, which alone can put a time and random bytes together.

use super::prefix::Prefix;
use super::random::GidRandom;
use super::time::GidTimestamp;
use super::*;

pub fn made<P: Prefix>(time: std::time::SystemTime, random: &[u8]) -> Gid<P> {
    Gid { time: GidTimestamp::from(time), random: GidRandom::try_read_from_bytes(random).unwrap() }
}

pub use super::prefix::{Log, Prefix as Kind, Segment, Volume};
