//! General logs: every command with the instant at which it came, without what became of it.
//!
//! ```text
//! 2026-11-22T03:00:00.123456Z<tab>   12 Query<tab>SELECT 1
//! 261122  3:00:00<tab>   12 Query<tab>SELECT 1
//! <tab><tab>   12 Quit
//! ```
//! Sources: `File_query_log::write_general` of MySQL, `MYSQL_QUERY_LOG::write` of MariaDB.

use std::collections::HashMap;

use memchr::{memchr, memmem};
use mydyno_digest::clock;
use mydyno_digest::problem::{ProblemKind, Problems};
use mydyno_digest::source::Source;
use mydyno_digest::stop::Stop;

use super::instants::{SECOND, Spread};
use super::packets::Notes;
use super::{Capture, Met, Read, begins_with, trouble_of, used};
use crate::error::Error;

const BUFFER_BYTES: usize = 1 << 20;

/// One command, which may go on for lines.
struct Command {
    at: u64,
    id: u64,
    name: Vec<u8>,
    text: Vec<u8>,
}

/// What is known of a connection beside what a capture keeps.
#[derive(Default)]
struct Session {
    user: Vec<u8>,
    schema: Vec<u8>,
    /// Its last statement was EXECUTE or PREPARE, which is followed by what it executes or prepares.
    executes: bool,
}

struct Reading<'c> {
    capture: &'c mut Capture,
    spread: Spread<Command>,
    sessions: HashMap<u64, Session>,
    /// The last time that the log has.
    time: Option<i64>,
    is_exact: bool,
    commands: u64,
    untimed: Option<(u64, u64)>,
}

pub fn read(
    mut source: Source<'_>,
    capture: &mut Capture,
    stop: &Stop,
    progress: &mut impl FnMut(u64),
) -> Result<Read, Error> {
    let mut reading = Reading {
        capture,
        spread: Spread::default(),
        sessions: HashMap::new(),
        time: None,
        is_exact: false,
        commands: 0,
        untimed: None,
    };
    let (mut problems, mut bytes) = (Problems::default(), 0_u64);
    let mut command: Option<Command> = None;
    let mut pending = Vec::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    let trouble = loop {
        let filled = source.fill(&mut buffer, stop);
        pending.extend_from_slice(&buffer[..filled.bytes]);
        let mut from = 0;
        while let Some(length) = memchr(b'\n', &pending[from..]) {
            let line = &pending[from..from + length];
            reading.line(line, bytes + from as u64, &mut command)?;
            from += length + 1;
        }
        pending.drain(..from);
        bytes += from as u64;
        progress(reading.capture.statements);
        if let Some(end) = filled.end {
            break trouble_of(Some(end));
        }
    };
    // A line without its end was cut, and so may be the command that it belongs to.
    if pending.is_empty() {
        reading.push(command)?;
    } else {
        let at = command.map_or(bytes, |command| command.at);
        problems.note(ProblemKind::BrokenTail, at, None, || {
            "the log ends in the middle of a line: its command is left out".into()
        });
    }
    for (instant, command) in reading.spread.take() {
        reading.give(instant, &command)?;
    }
    Ok(Read {
        bytes: bytes + pending.len() as u64,
        problems,
        has_places: true,
        trouble,
        commands: reading.commands,
        untimed: reading.untimed,
        notes: Notes::default(),
    })
}

impl Reading<'_> {
    /// A line that begins a command ends the one before; any other goes on with it.
    fn line(&mut self, line: &[u8], at: u64, command: &mut Option<Command>) -> Result<(), Error> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Some((time, id, name, text)) = head(line) else {
            if let Some(command) = command {
                command.text.push(b'\n');
                command.text.extend_from_slice(line);
            }
            return Ok(());
        };
        self.push(command.take())?;
        if let Some((time, is_exact)) = time {
            (self.time, self.is_exact) = (Some(time), is_exact);
        }
        *command = Some(Command { at, id, name: name.to_vec(), text: text.to_vec() });
        Ok(())
    }

    fn push(&mut self, command: Option<Command>) -> Result<(), Error> {
        let Some(command) = command else { return Ok(()) };
        let Some(time) = self.time else {
            self.untimed.get_or_insert((command.at, 0)).1 += 1;
            return Ok(());
        };
        if self.is_exact {
            return self.give(time, &command);
        }
        self.capture.resolution_us = SECOND as u64;
        for (instant, command) in self.spread.push(time - time.rem_euclid(SECOND), command) {
            self.give(instant, &command)?;
        }
        Ok(())
    }

    fn give(&mut self, instant: i64, command: &Command) -> Result<(), Error> {
        let text = &command.text[..];
        let session = self.sessions.entry(command.id).or_default();
        let executes = std::mem::take(&mut session.executes);
        match &command.name[..] {
            b"Connect" | b"Change user" => {
                if let Some((user, schema)) = login(text) {
                    (session.user, session.schema) = (user.to_vec(), schema.to_vec());
                    self.capture.open(instant, command.id, user, schema)?;
                } else {
                    self.commands += 1;
                }
            }
            b"Init DB" => session.schema = text.to_vec(),
            b"Quit" => {
                self.sessions.remove(&command.id);
                self.capture.close(instant, command.id)?;
            }
            b"Query" | b"Execute" => {
                let sql = statement(text);
                // EXECUTE is there already, by itself.
                if sql.is_empty() || executes && command.name == b"Execute" {
                    return Ok(());
                }
                session.executes = begins_with(sql, b"execute") || begins_with(sql, b"prepare");
                let met = Met {
                    id: Some(command.id),
                    user: &session.user,
                    host: b"",
                    schema: &session.schema,
                    start_us: instant,
                    duration_us: None,
                    rows_sent: None,
                    rows_examined: None,
                    rows_affected: None,
                    error: None,
                    prepared: command.name == b"Execute",
                    sql,
                };
                self.capture.statement(&met)?;
                if let Some(schema) = used(sql) {
                    session.schema = schema.to_vec();
                }
            }
            _ => {
                session.executes = executes;
                self.commands += 1;
            }
        }
        Ok(())
    }
}

type Head<'a> = (Option<(i64, bool)>, u64, &'a [u8], &'a [u8]);

/// The time (and whether it has a fraction), the connection, the command and its text.
fn head(line: &[u8]) -> Option<Head<'_>> {
    let (time, rest) = match line.strip_prefix(b"\t\t") {
        Some(rest) => (None, rest),
        None => {
            let tab = memchr(b'\t', line).filter(|tab| *tab >= 15)?;
            let time = clock::read(&line[..tab])?;
            (Some((time, line[4] == b'-')), &line[tab + 1..])
        }
    };
    let rest = rest.trim_ascii_start();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let id = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
    let command = rest[digits..].strip_prefix(b" ")?;
    let (name, text) = match memchr(b'\t', command) {
        Some(tab) => (&command[..tab], &command[tab + 1..]),
        None => (command, &b""[..]),
    };
    let is_name = name.first().is_some_and(u8::is_ascii_uppercase)
        && name.iter().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b' ' | b'_'));
    is_name.then_some((time, id, name.trim_ascii_end(), text))
}

/// `user@host on schema using TCP/IP`; None for a login that was refused.
fn login(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let on = memmem::rfind(text, b" on ")?;
    let user = &text[..memchr::memrchr(b'@', &text[..on])?];
    let schema = &text[on + 4..];
    let end = memmem::rfind(schema, b" using ").unwrap_or(schema.len());
    Some((user, schema[..end].trim_ascii()))
}

fn statement(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii();
    text.strip_suffix(b";").unwrap_or(text).trim_ascii_end()
}
