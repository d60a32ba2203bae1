//! Logs to a trace.
//!
//! Logs name connections by the server's numbers, in the order in which statements ended; the [`Sorter`] brings
//! them into the order of their starts. A connection that a log does not show from its beginning opens with
//! its first statement.

mod general_log;
mod instants;
mod packets;
mod slow_log;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mydyno_digest::passwords;
use mydyno_digest::problem::{ProblemKind, Problems};
use mydyno_digest::recognise::{Recognised, is_general_log, recognise, server};
use mydyno_digest::source::{End, Refusal, Source as File, Trouble};
use mydyno_digest::stop::Stop;

use crate::error::Error;
use crate::header::{Footer, Header, Skipped, Source, SourceFile};
use crate::mask::Mask;
use crate::record::{Closed, Name, Opened, Record, Statement};
use crate::sorter::Sorter;

/// How far a capture has come.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Progress {
    /// Of the files as they lie there.
    pub read_bytes: u64,
    pub statements: u64,
}

/// What a source shows of a statement.
struct Met<'a> {
    /// The server's number of the connection.
    id: Option<u64>,
    user: &'a [u8],
    host: &'a [u8],
    schema: &'a [u8],
    start_us: i64,
    duration_us: Option<u64>,
    rows_sent: Option<u64>,
    rows_examined: Option<u64>,
    rows_affected: Option<u64>,
    error: Option<u16>,
    prepared: bool,
    sql: &'a [u8],
}

/// What packets show of a connection.
enum Event {
    Opened { at_us: i64, user: Vec<u8>, schema: Vec<u8> },
    Statement(Sent),
    Closed { at_us: i64 },
}

/// A statement that was sent, with what became of it where that was seen.
struct Sent {
    user: Vec<u8>,
    schema: Vec<u8>,
    start_us: i64,
    duration_us: Option<u64>,
    rows_sent: Option<u64>,
    rows_affected: Option<u64>,
    error: Option<u16>,
    prepared: bool,
    sql: Vec<u8>,
}

/// A connection that a source has shown.
struct Known {
    number: u32,
    user: Name,
    /// The start of its last statement, and its end.
    start_us: i64,
    end_us: i64,
}

/// A capture under way.
struct Capture {
    sorter: Sorter,
    mask: Option<Mask>,
    by_id: HashMap<u64, Known>,
    /// Where logs have no numbers: as many as a user had statements at the same time.
    by_user: HashMap<(Name, Name), Vec<Known>>,
    connections: u32,
    names: HashMap<Vec<u8>, Name>,
    statements: u64,
    resolution_us: u64,
}

/// How a capture is made.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Replace literals by others of the same kind and length.
    pub mask: bool,
    /// The logs were put together, as from digests: nobody sent what they hold.
    pub synthetic: bool,
    /// What standard input, the file `-`, is called.
    pub stdin_name: Option<String>,
    /// Write a trace without statements where there are none: nobody used the server.
    pub may_be_empty: bool,
}

/// Reads logs and packets and writes one trace of them to `out`. What cannot be read is in the
/// footer; an error when nothing could be. `progress` is called with how far it has come.
pub fn capture(
    files: &[String],
    out: &Path,
    options: &Options,
    stop: &Stop,
    mut progress: impl FnMut(Progress),
) -> Result<(Header, Footer), Refused> {
    let mut capture = Capture::new(out, options.mask);
    let read_bytes = AtomicU64::new(0);
    let (mut skipped, mut sources) = (Vec::new(), Vec::new());
    let (mut kinds, mut version) = (Vec::new(), None);
    for path in files {
        let name = if path == "-" { options.stdin_name.as_ref().unwrap_or(path) } else { path };
        let before = capture.statements;
        let mut counted = |statements| {
            progress(Progress { read_bytes: read_bytes.load(Ordering::Relaxed), statements });
        };
        match begin(path, stop, &read_bytes) {
            Ok((file, kind)) => {
                version = version.or_else(|| server(file.head()));
                kinds.push(kind);
                let read = match kind {
                    Source::Packets => packets::read(file, &mut capture, stop, &mut counted),
                    Source::GeneralLog => general_log::read(file, &mut capture, stop, &mut counted),
                    _ => slow_log::read(file, &mut capture, stop, &mut counted),
                }?;
                let statements = capture.statements - before;
                sources.push(SourceFile { name: name.clone(), bytes: read.bytes, statements });
                skipped.extend(read.skipped(name));
            }
            Err((kind, says)) => {
                skipped.push(Skipped { kind, count: 1, file: name.clone(), at_byte: None, says });
                sources.push(SourceFile { name: name.clone(), bytes: 0, statements: 0 });
            }
        }
    }
    let start_us = capture.sorter.first_us();
    if start_us.is_none() && !options.may_be_empty {
        return Err(Refused::Nothing(why_nothing(skipped, &sources)));
    }
    kinds.dedup();
    let header = Header {
        source: match kinds[..] {
            _ if options.synthetic => Source::Synthetic,
            [kind] => kind,
            _ => Source::Several,
        },
        server: version,
        masked: options.mask,
        start_us,
        resolution_us: capture.resolution_us,
    };
    let footer = capture.sorter.finish(&header, start_us.unwrap_or(0), skipped, sources)?;
    Ok((header, footer))
}

/// A word for each source.
fn why_nothing(mut skipped: Vec<Skipped>, sources: &[SourceFile]) -> Vec<Skipped> {
    for source in sources {
        if !skipped.iter().any(|one| one.file == source.name) {
            skipped.push(Skipped {
                kind: word(ProblemKind::Empty),
                count: 1,
                file: source.name.clone(),
                at_byte: None,
                says: "it has no statement".to_owned(),
            });
        }
    }
    skipped
}

/// Why there is no trace.
#[derive(Debug)]
pub enum Refused {
    /// No source has a statement that can be read.
    Nothing(Vec<Skipped>),
    Failed(Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// What reading a source came to.
struct Read {
    /// Uncompressed.
    bytes: u64,
    problems: Problems,
    /// Whether the places of problems can be looked up in the file.
    has_places: bool,
    trouble: Option<Trouble>,
    /// Commands of the protocol without a statement.
    commands: u64,
    /// Where the first entry is whose time is not known, and how many there are.
    untimed: Option<(u64, u64)>,
    notes: packets::Notes,
}

impl Read {
    fn skipped(self, name: &str) -> Vec<Skipped> {
        let of = |kind: &str, count, at_byte, says: String| Skipped {
            kind: kind.to_owned(),
            count,
            file: name.to_owned(),
            at_byte,
            says,
        };
        let mut skipped: Vec<Skipped> = Vec::new();
        for problem in self.problems.iter() {
            let at_byte = Some(problem.at).filter(|_| self.has_places);
            skipped.push(of(&word(problem.kind), problem.count, at_byte, problem.says.clone()));
        }
        if let Some(trouble) = self.trouble {
            let (kind, says) = of_trouble(trouble);
            skipped.push(of(&kind, 1, Some(self.bytes).filter(|_| self.has_places), says));
        }
        if let Some((at, count)) = self.untimed {
            let says = "no time above it, nor above those before it".to_owned();
            skipped.push(of("no-time", count, Some(at).filter(|_| self.has_places), says));
        }
        skipped.extend(self.notes.skipped(name));
        if self.commands > 0 {
            let says = "commands of the protocol without a statement, as Ping".to_owned();
            skipped.push(of("command", self.commands, None, says));
        }
        skipped
    }
}

fn word(kind: ProblemKind) -> String {
    let word = serde_json::to_value(kind).expect("a kind is a word");
    word.as_str().unwrap_or_default().to_owned()
}

fn of_trouble(trouble: Trouble) -> (String, String) {
    match trouble {
        Trouble::Unreadable(why) => (word(ProblemKind::Unreadable), why),
        Trouble::Broken(how) => {
            (word(ProblemKind::BrokenCompression), format!("{how}; all before that was read"))
        }
        Trouble::Interrupted => (
            word(ProblemKind::Interrupted),
            "the reading was interrupted here; all before that was read".to_owned(),
        ),
    }
}

/// Opens a source and finds out what it is; else the kind of problem and what it is instead.
fn begin<'a>(
    name: &str,
    stop: &Stop,
    read_bytes: &'a AtomicU64,
) -> Result<(File<'a>, Source), (String, String)> {
    let not_a_log = |says: &str| (word(ProblemKind::NotASlowLog), says.to_owned());
    let file = File::open(name, stop, read_bytes).map_err(|refusal| match refusal {
        Refusal::Empty => (word(ProblemKind::Empty), "it is empty: nothing was logged".to_owned()),
        Refusal::NotASlowLog(what) => not_a_log(what),
        Refusal::Trouble(trouble) => of_trouble(trouble),
    })?;
    if packets::is_packets(file.head()) {
        return Ok((file, Source::Packets));
    }
    match recognise(file.head()) {
        Recognised::Other(_) if file.format.is_none() && is_general_log(file.head()) => {
            Ok((file, Source::GeneralLog))
        }
        Recognised::Other(_) if file.format.is_some() => {
            Err(not_a_log("an export without an entry of a slow log"))
        }
        Recognised::Other(what) => Err(not_a_log(&what)),
        _ => Ok((file, Source::SlowLog)),
    }
}

/// How a source ended, as a trouble.
fn trouble_of(end: Option<End>) -> Option<Trouble> {
    match end {
        Some(End::Before(trouble)) => Some(trouble),
        _ => None,
    }
}

impl Capture {
    fn new(out: &Path, is_masked: bool) -> Self {
        Self {
            sorter: Sorter::new(out),
            mask: is_masked.then(Mask::default),
            by_id: HashMap::new(),
            by_user: HashMap::new(),
            connections: 0,
            names: HashMap::new(),
            statements: 0,
            resolution_us: 1,
        }
    }

    fn name(&mut self, name: &[u8]) -> Name {
        if let Some(known) = self.names.get(name) {
            return Arc::clone(known);
        }
        let shared: Name = name.into();
        self.names.insert(name.to_vec(), Arc::clone(&shared));
        shared
    }

    /// `number` is unique among the connections of all captures.
    fn event(&mut self, number: u64, event: Event) -> Result<(), Error> {
        match event {
            Event::Opened { at_us, user, schema } => self.open(at_us, number, &user, &schema),
            Event::Closed { at_us } => self.close(at_us, number),
            Event::Statement(sent) => self.statement(&Met {
                id: Some(number),
                user: &sent.user,
                host: b"",
                schema: &sent.schema,
                start_us: sent.start_us,
                duration_us: sent.duration_us,
                rows_sent: sent.rows_sent,
                rows_examined: None,
                rows_affected: sent.rows_affected,
                error: sent.error,
                prepared: sent.prepared,
                sql: &sent.sql,
            }),
        }
    }

    /// A connection that is seen to begin. One with this number before it has ended unseen.
    fn open(&mut self, at_us: i64, id: u64, user: &[u8], schema: &[u8]) -> Result<(), Error> {
        self.close(at_us, id)?;
        let user = self.name(user);
        let schema = self.name(schema);
        let known = self.begin(at_us, Some(id), user, schema)?;
        self.by_id.insert(id, known);
        Ok(())
    }

    fn close(&mut self, at_us: i64, id: u64) -> Result<(), Error> {
        let Some(known) = self.by_id.remove(&id) else { return Ok(()) };
        let at_us = at_us.max(known.start_us);
        self.sorter.push(at_us, Record::Closed(Closed { connection: known.number, at_us: 0 }))
    }

    fn begin(
        &mut self,
        at_us: i64,
        server_id: Option<u64>,
        user: Name,
        schema: Name,
    ) -> Result<Known, Error> {
        let connection = self.connections;
        self.connections += 1;
        let known =
            Known { number: connection, user: Arc::clone(&user), start_us: at_us, end_us: at_us };
        let opened = Opened { connection, at_us: 0, server_id, user, schema };
        self.sorter.push(at_us, Record::Opened(opened))?;
        Ok(known)
    }

    fn statement(&mut self, met: &Met<'_>) -> Result<(), Error> {
        let schema = self.name(met.schema);
        let mut known = self.connection_of(met, &schema)?;
        // The order within a connection is that of the log, whatever its times are rounded to.
        let start_us = met.start_us.max(known.start_us);
        known.start_us = start_us;
        known.end_us = start_us.saturating_add_unsigned(met.duration_us.unwrap_or(0));
        let connection = known.number;
        match met.id {
            Some(id) => drop(self.by_id.insert(id, known)),
            None => {
                let user = (self.name(met.user), self.name(met.host));
                self.by_user.entry(user).or_default().push(known);
            }
        }
        self.statements += 1;
        let mut sql = if passwords::may_be_masked(met.sql) {
            passwords::masked(met.sql)
        } else {
            met.sql.to_vec()
        };
        if let Some(mask) = &mut self.mask {
            sql = mask.masked(&sql);
        }
        let statement = Statement {
            connection,
            at_us: 0,
            duration_us: met.duration_us,
            schema,
            sql,
            rows_sent: met.rows_sent,
            rows_examined: met.rows_examined,
            rows_affected: met.rows_affected,
            error: met.error,
            prepared: met.prepared,
        };
        self.sorter.push(start_us, Record::Statement(statement))
    }

    /// The connection that sent it, taken out of where it is kept.
    fn connection_of(&mut self, met: &Met<'_>, schema: &Name) -> Result<Known, Error> {
        let user = self.name(met.user);
        if let Some(id) = met.id {
            if let Some(known) = self.by_id.remove(&id) {
                // A number comes again after the server was restarted.
                if user.is_empty() || known.user == user || known.user.is_empty() {
                    return Ok(known);
                }
                let at_us = met.start_us.max(known.end_us);
                let closed = Closed { connection: known.number, at_us: 0 };
                self.sorter.push(at_us, Record::Closed(closed))?;
            }
            return self.begin(met.start_us, Some(id), user, Arc::clone(schema));
        }
        let host = self.name(met.host);
        let free = self.by_user.get_mut(&(Arc::clone(&user), host)).and_then(|known| {
            let at = known.iter().position(|one| one.end_us <= met.start_us)?;
            Some(known.swap_remove(at))
        });
        match free {
            Some(known) => Ok(known),
            None => self.begin(met.start_us, None, user, Arc::clone(schema)),
        }
    }
}

fn begins_with(sql: &[u8], word: &[u8]) -> bool {
    sql.get(..word.len()).is_some_and(|first| first.eq_ignore_ascii_case(word))
        && sql.get(word.len()).is_none_or(u8::is_ascii_whitespace)
}

/// The database behind USE.
fn used(sql: &[u8]) -> Option<&[u8]> {
    begins_with(sql, b"use").then(|| sql[3..].trim_ascii()).map(|name| {
        name.strip_prefix(b"`").and_then(|name| name.strip_suffix(b"`")).unwrap_or(name)
    })
}
