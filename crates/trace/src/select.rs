//! A part of a trace as a trace: by who sent what, or by time.

use std::collections::HashMap;
use std::path::Path;

use mydyno_digest::fingerprint;
use regex::bytes::Regex;

use crate::effect::{Effect, effect};
use crate::error::Error;
use crate::header::{Footer, Header};
use crate::reader::Trace;
use crate::record::{Name, Record, Statement};
use crate::writer::Writer;

/// Which statements are kept. All that is given must hold; of several values of one kind, one must.
#[derive(Debug, Default)]
pub struct Selection {
    pub schemas: Vec<Vec<u8>>,
    pub users: Vec<Vec<u8>>,
    /// The server's numbers.
    pub connections: Vec<u64>,
    /// Ids as digests show them.
    pub fingerprints: Vec<u64>,
    pub pattern: Option<Regex>,
    pub reads_only: bool,
    pub errors_only: bool,
    /// Microseconds since the trace's start: from the first one on, before the second one.
    pub from_us: u64,
    pub until_us: Option<u64>,
}

struct Connection {
    server_id: Option<u64>,
    user: Name,
}

impl Selection {
    fn keeps(&self, statement: &Statement, of: Option<&Connection>) -> bool {
        let any = |wanted: &[Vec<u8>], value: &[u8]| {
            wanted.is_empty() || wanted.iter().any(|one| one == value)
        };
        statement.at_us >= self.from_us
            && self.until_us.is_none_or(|until| statement.at_us < until)
            && any(&self.schemas, &statement.schema)
            && any(&self.users, of.map_or(&b""[..], |of| &of.user))
            && (self.connections.is_empty()
                || of.and_then(|of| of.server_id).is_some_and(|id| self.connections.contains(&id)))
            && (!self.errors_only || statement.error.is_some_and(|error| error != 0))
            && (!self.reads_only || effect(&statement.sql) == Effect::Reads)
            && (self.fingerprints.is_empty()
                || self.fingerprints.contains(&fingerprint::id(&statement.sql).0))
            && self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(&statement.sql))
    }
}

/// Writes what is selected, with the connections that have any of it. Its start is that of the selected time.
pub fn select(trace: &Trace, selection: &Selection, out: &Path) -> Result<Footer, Error> {
    let kept = connections(trace, selection)?;
    let from_us = selection.from_us;
    let header = Header {
        start_us: trace.header().start_us.map(|start| start.saturating_add_unsigned(from_us)),
        ..trace.header().clone()
    };
    let mut writer = Writer::create(out, &header)?;
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    for record in trace.records()? {
        let record = record?;
        let connection = record.connection();
        let Some(of) = kept.get(&connection) else { continue };
        let is_kept = match &record {
            Record::Statement(statement) => selection.keeps(statement, Some(of)),
            Record::Opened(_) => true,
            Record::Closed(closed) => selection.until_us.is_none_or(|until| closed.at_us < until),
        };
        if !is_kept {
            continue;
        }
        let at_us = record.at_us().saturating_sub(from_us);
        let next = numbers.len() as u32;
        let number = *numbers.entry(connection).or_insert(next);
        writer.push(&record.moved(number, at_us))?;
    }
    writer.finish(trace.footer().skipped.clone(), trace.footer().files.clone())
}

/// Those that have a statement that is kept.
fn connections(trace: &Trace, selection: &Selection) -> Result<HashMap<u32, Connection>, Error> {
    let mut all: HashMap<u32, (Connection, bool)> = HashMap::new();
    for record in trace.records()? {
        match record? {
            Record::Opened(opened) => {
                let connection = Connection { server_id: opened.server_id, user: opened.user };
                all.insert(opened.connection, (connection, false));
            }
            Record::Statement(statement) => {
                if let Some((connection, is_kept)) = all.get_mut(&statement.connection) {
                    *is_kept |= selection.keeps(&statement, Some(connection));
                }
            }
            Record::Closed(_) => {}
        }
    }
    Ok(all.into_iter().filter(|(_, (_, kept))| *kept).map(|(at, (one, _))| (at, one)).collect())
}
