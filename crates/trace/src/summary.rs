//! What a trace holds, for people and programs.

use std::collections::{BTreeMap, HashMap};

use mydyno_digest::fingerprint;
use serde::Serialize;

use crate::effect::{Effect, effect};
use crate::error::Error;
use crate::header::{Footer, Header};
use crate::reader::Trace;
use crate::record::{Name, Record, Statement};

/// Spans of time that a trace is divided into.
const SPANS: u64 = 60;

/// As much as is shown of a fingerprint.
const FINGERPRINT_BYTES: usize = 4 << 10;

#[derive(Debug, Serialize)]
pub struct Summary<'a> {
    pub header: &'a Header,
    pub footer: &'a Footer,
    pub reads: u64,
    pub writes: u64,
    pub other: u64,
    /// Statements that failed; None where the source does not show errors.
    pub errors: Option<u64>,
    pub prepared: u64,
    /// Length of each span of `rate`, in microseconds.
    pub span_us: u64,
    /// Statements that began in each span.
    pub rate: Vec<u64>,
    /// The most frequent first.
    pub schemas: Vec<Count>,
    pub users: Vec<Count>,
    pub fingerprints: u64,
    /// Those with the most time first; where there are no times, the most frequent.
    pub top: Vec<Group>,
}

#[derive(Debug, Serialize)]
pub struct Count {
    pub name: String,
    pub statements: u64,
}

#[derive(Clone, Debug, Serialize)]
pub struct Group {
    pub id: String,
    pub fingerprint: String,
    pub statements: u64,
    /// Microseconds; None where the source has no durations.
    pub duration_us: Option<u64>,
    pub errors: u64,
}

/// Reads all records; `top` fingerprints are listed.
pub fn summary(trace: &Trace, top: usize) -> Result<Summary<'_>, Error> {
    let span_us = trace.footer().length_us / SPANS + 1;
    let mut summary = Summary {
        header: trace.header(),
        footer: trace.footer(),
        reads: 0,
        writes: 0,
        other: 0,
        errors: None,
        prepared: 0,
        span_us,
        rate: vec![0; SPANS as usize],
        schemas: Vec::new(),
        users: Vec::new(),
        fingerprints: 0,
        top: Vec::new(),
    };
    let mut groups: HashMap<u64, Group> = HashMap::new();
    let mut users: HashMap<u32, Name> = HashMap::new();
    let (mut by_user, mut by_schema) = (BTreeMap::new(), BTreeMap::new());
    for record in trace.records()? {
        match record? {
            Record::Opened(opened) => drop(users.insert(opened.connection, opened.user)),
            Record::Closed(closed) => drop(users.remove(&closed.connection)),
            Record::Statement(statement) => {
                summary.add(&statement);
                add_to_group(&mut groups, &statement);
                *by_schema.entry(statement.schema.clone()).or_insert(0) += 1;
                if let Some(user) = users.get(&statement.connection) {
                    *by_user.entry(user.clone()).or_insert(0) += 1;
                }
            }
        }
    }
    summary.schemas = counts(by_schema);
    summary.users = counts(by_user);
    summary.fingerprints = groups.len() as u64;
    summary.top = groups.into_values().collect();
    summary.top.sort_by(|one, other| {
        (other.duration_us, other.statements, &one.id).cmp(&(
            one.duration_us,
            one.statements,
            &other.id,
        ))
    });
    summary.top.truncate(top);
    Ok(summary)
}

impl Summary<'_> {
    fn add(&mut self, statement: &Statement) {
        match effect(&statement.sql) {
            Effect::Reads => self.reads += 1,
            Effect::Writes => self.writes += 1,
            Effect::Other => self.other += 1,
        }
        self.prepared += u64::from(statement.prepared);
        if let Some(error) = statement.error {
            *self.errors.get_or_insert(0) += u64::from(error != 0);
        }
        if let Some(count) = self.rate.get_mut((statement.at_us / self.span_us) as usize) {
            *count += 1;
        }
    }
}

fn add_to_group(groups: &mut HashMap<u64, Group>, statement: &Statement) {
    let id = fingerprint::id(&statement.sql);
    let group = groups.entry(id.0).or_insert_with(|| Group {
        id: id.to_string(),
        fingerprint: text(&fingerprint::text(&statement.sql, FINGERPRINT_BYTES).text),
        statements: 0,
        duration_us: None,
        errors: 0,
    });
    group.statements += 1;
    group.errors += u64::from(statement.error.is_some_and(|error| error != 0));
    if let Some(duration) = statement.duration_us {
        group.duration_us = Some(group.duration_us.unwrap_or(0).saturating_add(duration));
    }
}

fn counts(names: BTreeMap<Name, u64>) -> Vec<Count> {
    let mut counts: Vec<Count> = names
        .into_iter()
        .map(|(name, statements)| Count { name: text(&name), statements })
        .collect();
    counts.sort_by_key(|count| std::cmp::Reverse(count.statements));
    counts
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
