//! Reads logs into values that tests can hold against each other.

use mydyno_digest::attribute::Attribute;
use mydyno_digest::context::Context;
use mydyno_digest::entry::{Entry, Kind, Time};
use mydyno_digest::problem::Problems;
use mydyno_digest::read::read;

/// An entry that owns its texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owned {
    pub at: u64,
    pub line: u64,
    pub time: Option<Time>,
    pub user: String,
    pub host: String,
    pub database: String,
    pub values: Vec<(Attribute, u64)>,
    pub kind: Kind,
    pub statement: Vec<u8>,
}

impl Owned {
    pub fn of(entry: &Entry) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            at: entry.at,
            line: entry.line,
            time: entry.time,
            user: text(entry.user),
            host: text(entry.host),
            database: text(entry.database),
            values: entry.values.iter().collect(),
            kind: entry.kind,
            statement: entry.statement.to_vec(),
        }
    }
}

/// All that reading a log gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    pub entries: Vec<Owned>,
    pub problems: Problems,
    pub context: Context,
}

pub fn read_whole(log: &[u8]) -> Reading {
    read_parts(&[log])
}

/// Reads parts one after another, each with the context that the one before left.
pub fn read_parts(parts: &[&[u8]]) -> Reading {
    let mut reading =
        Reading { entries: vec![], problems: Problems::default(), context: Context::default() };
    for (place, part) in parts.iter().enumerate() {
        let is_last = place + 1 == parts.len();
        let mut problems = Problems::default();
        read(part, &mut reading.context, &mut problems, is_last, |entry| {
            reading.entries.push(Owned::of(entry));
        });
        reading.problems.merge(problems);
    }
    reading
}
