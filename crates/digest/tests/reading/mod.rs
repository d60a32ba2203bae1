//! Reads logs into values that tests can hold against each other.

use std::fmt::Write;

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

/// As it stands in the `.entries` files: what is not told is not there.
pub fn described(reading: &Reading) -> String {
    let mut text = String::new();
    for entry in &reading.entries {
        writeln!(text, "line {}, byte {}", entry.line, entry.at).unwrap();
        if let Some(time) = entry.time {
            writeln!(text, "  time {}.{:06}", time / 1_000_000, time % 1_000_000).unwrap();
        }
        let names = [("user", &entry.user), ("host", &entry.host), ("database", &entry.database)];
        for (what, name) in names.into_iter().filter(|(_, name)| !name.is_empty()) {
            writeln!(text, "  {what} {name}").unwrap();
        }
        for (attribute, number) in &entry.values {
            writeln!(text, "  {} {number}", attribute.name()).unwrap();
        }
        let kind = match entry.kind {
            Kind::Statement => "statement",
            Kind::AdministratorCommand => "administrator-command",
        };
        let statement = entry.statement.escape_ascii().to_string().replace("\\'", "'");
        writeln!(text, "  {kind} {}", statement.replace("\\\"", "\"")).unwrap();
    }
    for problem in reading.problems.iter() {
        let line = problem.line.map_or(String::new(), |line| format!("line {line}, "));
        writeln!(
            text,
            "{:?} x{} first at {line}byte {}: {}",
            problem.kind, problem.count, problem.at, problem.says
        )
        .unwrap();
    }
    text
}
