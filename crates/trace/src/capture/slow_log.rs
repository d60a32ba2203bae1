//! Slow logs of all dialects, by the reader of digests.

use memchr::memmem;
use mydyno_digest::attribute::Attribute;
use mydyno_digest::chunk::{Chunks, Sizes};
use mydyno_digest::clock;
use mydyno_digest::context::Context;
use mydyno_digest::entry::{Entry, Kind};
use mydyno_digest::import::Format;
use mydyno_digest::problem::{ProblemKind, Problems};
use mydyno_digest::read::read as read_entries;
use mydyno_digest::source::{End, Source, Trouble};
use mydyno_digest::stop::Stop;

use super::instants::{SECOND, Spread};
use super::packets::Notes;
use super::{Capture, Met, Read, trouble_of};
use crate::error::Error;

/// An entry that waits for its second to end.
struct Held {
    id: Option<u64>,
    user: Vec<u8>,
    host: Vec<u8>,
    schema: Vec<u8>,
    sql: Vec<u8>,
    is_quit: bool,
    /// Its second is that of its start, as in MariaDB's logs.
    starts_then: bool,
    second_us: i64,
    met: Numbers,
}

#[derive(Clone, Copy)]
struct Numbers {
    took: Option<u64>,
    rows_sent: Option<u64>,
    rows_examined: Option<u64>,
    rows_affected: Option<u64>,
    error: Option<u16>,
}

struct Reading<'c> {
    capture: &'c mut Capture,
    spread: Spread<Held>,
    /// An export of mysql.slow_log.
    is_table: bool,
    commands: u64,
    /// Where the first entry without a time is, and how many there are.
    untimed: Option<(u64, u64)>,
    failure: Option<Error>,
}

pub fn read(
    source: Source<'_>,
    capture: &mut Capture,
    stop: &Stop,
    progress: &mut impl FnMut(u64),
) -> Result<Read, Error> {
    let is_table =
        matches!(source.format, Some(Format::TableCsv | Format::TableDump | Format::TableText));
    let has_places = source.format.is_none();
    let mut chunks = Chunks::new(source, Sizes::default());
    let (mut context, mut problems) = (Context::default(), Problems::default());
    let spread = Spread::default();
    let mut reading =
        Reading { capture, spread, is_table, commands: 0, untimed: None, failure: None };
    let mut buffer = Vec::new();
    let mut trouble = None;
    while let Some(chunk) = chunks.next(&mut buffer, stop) {
        let is_whole = chunk.beyond.bytes == 0;
        let is_last = is_whole
            && chunk
                .end
                .as_ref()
                .is_some_and(|end| !matches!(end, End::Before(Trouble::Interrupted)));
        let text = &buffer[..chunk.bytes];
        // Of the last entry it is known only behind it whether it is whole.
        let broken_at = if is_last { broken_tail(text, &context) } else { None };
        let mut long = None;
        read_entries(text, &mut context, &mut problems, is_last, |entry| {
            if is_whole && broken_at != Some(entry.at) {
                reading.entry(entry);
            } else if !is_whole {
                let bytes = entry.statement.len() as u64 + chunk.beyond.bytes;
                long = Some((entry.at, entry.line, bytes));
            }
        });
        if let Some((at, line, bytes)) = long {
            problems.note(ProblemKind::LongStatement, at, Some(line), || {
                format!("a statement of {bytes} bytes, longer than what is kept of one")
            });
        }
        context.at += chunk.beyond.bytes;
        context.lines += chunk.beyond.newlines;
        trouble = trouble_of(chunk.end);
        if let Some(error) = reading.failure.take() {
            return Err(error);
        }
        progress(reading.capture.statements);
    }
    reading.end_second();
    match reading.failure.take() {
        Some(error) => Err(error),
        None => Ok(Read {
            bytes: context.at,
            problems,
            has_places,
            trouble,
            commands: reading.commands,
            untimed: reading.untimed,
            notes: Notes::default(),
        }),
    }
}

/// Where the last entry begins, when the log ends in its statement.
fn broken_tail(text: &[u8], context: &Context) -> Option<u64> {
    let (mut problems, mut last) = (Problems::default(), None);
    let begin = mydyno_digest::cut::cut(text).unwrap_or(0);
    let mut context = Context { at: context.at + begin as u64, ..context.clone() };
    read_entries(&text[begin..], &mut context, &mut problems, true, |entry| last = Some(entry.at));
    let tail = problems.iter().find(|problem| problem.kind == ProblemKind::BrokenTail)?;
    last.filter(|&at| at == tail.at)
}

impl Reading<'_> {
    fn entry(&mut self, entry: &Entry<'_>) {
        let is_quit = entry.kind == Kind::AdministratorCommand && entry.statement == b"Quit";
        if entry.kind == Kind::AdministratorCommand && !is_quit {
            self.commands += 1;
            return;
        }
        let Some(time) = entry.time else {
            self.untimed.get_or_insert((entry.at, 0)).1 += 1;
            return;
        };
        let took = entry.values.get(Attribute::QueryTime);
        let header = entry.raw.header;
        let numbers = Numbers {
            took,
            rows_sent: entry.values.get(Attribute::RowsSent),
            rows_examined: entry.values.get(Attribute::RowsExamined),
            rows_affected: entry.values.get(Attribute::RowsAffected),
            error: entry
                .values
                .get(Attribute::Failed)
                .map(|_| u16::try_from(entry.error).unwrap_or(u16::MAX)),
        };
        let exact = iso_time(header);
        // The text that mydyno makes of the rows of mysql.slow_log has the start, and no SET below it. Exports
        // of the table have what the server wrote: MySQL the end, MariaDB, which has rows_affected, the start.
        let is_start = exact.is_some()
            && if self.is_table {
                numbers.rows_affected.is_some()
            } else {
                memmem::find(entry.raw.preamble, b"SET ").is_none()
            };
        let held = Held {
            id: connection_of(header),
            user: entry.user.to_vec(),
            host: entry.host.to_vec(),
            schema: entry.database.to_vec(),
            sql: entry.statement.to_vec(),
            is_quit,
            starts_then: is_start || memmem::find(header, b"QC_hit: ").is_some(),
            second_us: time,
            met: numbers,
        };
        match exact {
            Some(instant) => self.give(instant, held),
            None => {
                self.capture.resolution_us = SECOND as u64;
                for (instant, held) in self.spread.push(time - time.rem_euclid(SECOND), held) {
                    self.give(instant, held);
                }
            }
        }
    }

    fn end_second(&mut self) {
        for (instant, held) in self.spread.take() {
            self.give(instant, held);
        }
    }

    fn give(&mut self, instant: i64, held: Held) {
        let took = held.met.took.unwrap_or(0);
        let start_us = match held.starts_then {
            // A long statement is logged seconds behind its start.
            true if took >= SECOND as u64 => held.second_us,
            true => instant,
            false => instant.saturating_sub_unsigned(took),
        };
        let outcome = match held.id {
            Some(id) if held.is_quit => self.capture.close(start_us, id),
            None if held.is_quit => {
                self.commands += 1;
                Ok(())
            }
            id => self.capture.statement(&Met {
                id,
                user: &held.user,
                host: &held.host,
                schema: &held.schema,
                start_us,
                duration_us: held.met.took,
                rows_sent: held.met.rows_sent,
                rows_examined: held.met.rows_examined,
                rows_affected: held.met.rows_affected,
                error: held.met.error,
                // Logs do not show it.
                prepared: false,
                sql: &held.sql,
            }),
        };
        if let Err(error) = outcome {
            self.failure.get_or_insert(error);
        }
    }
}

/// What MySQL 5.7 and later write above each entry, with microseconds.
fn iso_time(header: &[u8]) -> Option<i64> {
    let time = header.strip_prefix(b"# Time: ")?;
    let line = &time[..memchr::memchr(b'\n', time).unwrap_or(time.len())];
    (line.get(4) == Some(&b'-')).then(|| clock::read(line.trim_ascii_end()))?
}

/// `Thread_id: 12` or, behind the user, `Id: 12`.
fn connection_of(header: &[u8]) -> Option<u64> {
    const THREAD: &[u8] = b"# Thread_id: ";
    const ID: &[u8] = b"  Id: ";
    let digits = match memmem::find(header, THREAD) {
        Some(at) => &header[at + THREAD.len()..],
        None => {
            let user = &header[memmem::find(header, b"# User@Host: ")?..];
            let line = &user[..memchr::memchr(b'\n', user).unwrap_or(user.len())];
            &line[memmem::rfind(line, ID)? + ID.len()..]
        }
    };
    let digits = digits.trim_ascii_start();
    let end = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    std::str::from_utf8(&digits[..end]).ok()?.parse().ok()
}
