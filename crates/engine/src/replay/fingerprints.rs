//! The fingerprints of a trace: what each one is, written down where it is met first.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use mydyno_digest::fingerprint::{TableNames, id, tables, text};
use mydyno_digest::passwords::masked;
use mydyno_trace::Statement;
use serde::Serialize;

/// What is kept of a fingerprint and of its example.
const MOST_TEXT: usize = 4 << 10;
const MOST_EXAMPLE: usize = 64 << 10;
/// What messages show of a fingerprint.
const MOST_SHOWN: usize = 200;
/// More than these are counted and not described: a trace whose statements all differ needs no memory for them.
const MOST: usize = 100_000;

/// A line of `fingerprints.jsonl`.
#[derive(Debug, Serialize)]
pub struct Described {
    pub id: String,
    pub text: String,
    pub example: String,
    pub statement: u64,
    pub schema: Option<String>,
    pub tables: Vec<Table>,
}

/// A table as a statement names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Table {
    pub schema: Option<String>,
    pub name: String,
}

/// Those that have been met, with the beginnings of their texts.
#[derive(Default)]
pub struct Fingerprints(HashMap<u64, String>);

impl Fingerprints {
    /// The id of a statement's fingerprint, described where it is new.
    pub fn meet(&mut self, number: u64, statement: &Statement) -> (u64, Option<Described>) {
        let id = id(&statement.sql).0;
        if self.0.len() >= MOST {
            return (id, None);
        }
        let Entry::Vacant(new) = self.0.entry(id) else { return (id, None) };
        let described = describe(id, number, statement);
        new.insert(described.text.chars().take(MOST_SHOWN).collect());
        (id, Some(described))
    }

    /// The beginning of its text; empty where there were too many to keep.
    pub fn shown(&self, id: u64) -> &str {
        self.0.get(&id).map_or("", String::as_str)
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }
}

pub fn describe(id: u64, number: u64, statement: &Statement) -> Described {
    let mut example = masked(&statement.sql);
    example.truncate(MOST_EXAMPLE);
    Described {
        id: format!("{id:016x}"),
        text: lossy(&text(&statement.sql, MOST_TEXT).text),
        example: lossy(&example),
        statement: number,
        schema: (!statement.schema.is_empty()).then(|| lossy(&statement.schema)),
        tables: tables(&statement.sql, TableNames::Kept)
            .into_iter()
            .map(|table| Table {
                schema: table.database.as_deref().map(lossy),
                name: lossy(&table.name),
            })
            .collect(),
    }
}

pub fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
