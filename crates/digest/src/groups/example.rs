//! The slowest entry of a group.

use std::cmp::Reverse;

use super::{Place, shown};
use crate::attribute::Attribute;
use crate::entry::{Entry, Time};
use crate::message;
use crate::passwords;

#[derive(Debug)]
pub struct Example {
    query_time_us: Option<u64>,
    source: u32,
    at: u64,
    line: u64,
    time: Option<Time>,
    /// The statement's whole length, and its beginning.
    bytes: u64,
    text: Vec<u8>,
    user: Vec<u8>,
    host: Vec<u8>,
    database: Vec<u8>,
}

impl Example {
    pub fn new(entry: &Entry, source: u32, most_bytes: usize) -> Self {
        let kept = entry.statement.len().min(most_bytes);
        Self {
            query_time_us: entry.values.get(Attribute::QueryTime),
            source,
            at: entry.at,
            line: entry.line,
            time: entry.time,
            bytes: entry.statement.len() as u64 + entry.beyond,
            text: entry.statement[..kept].to_vec(),
            user: entry.user.to_vec(),
            host: entry.host.to_vec(),
            database: entry.database.to_vec(),
        }
    }

    /// The slowest first; of several, the first one in the order of the sources.
    fn rank(&self) -> (Reverse<Option<u64>>, u32, u64) {
        (Reverse(self.query_time_us), self.source, self.at)
    }

    pub fn is_before(&self, other: &Example) -> bool {
        self.rank() < other.rank()
    }

    #[inline]
    pub fn replace_if_slower(&mut self, entry: &Entry, source: u32, most_bytes: usize) {
        let query_time = entry.values.get(Attribute::QueryTime);
        if (Reverse(query_time), source, entry.at) < self.rank() {
            *self = Self::new(entry, source, most_bytes);
        }
    }

    pub fn message(self, sources: &[Place]) -> message::Example {
        let name = |bytes: &[u8]| (!bytes.is_empty()).then(|| shown(bytes, false));
        let source = &sources[self.source as usize];
        let is_cut = self.bytes > self.text.len() as u64;
        message::Example {
            is_cut,
            text: shown(&passwords::masked(&self.text), is_cut),
            bytes: self.bytes,
            query_time_us: self.query_time_us,
            time_us: self.time,
            user: name(&self.user),
            host: name(&self.host),
            database: name(&self.database),
            source: source.name.clone(),
            at_byte: source.has_lines.then_some(self.at),
            line: source.has_lines.then_some(self.line),
        }
    }
}
