//! Entries as a slow log again: in the order of the sources, whichever worker has read them first.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use crate::clock;
use crate::entry::{Entry, Kind};

/// Takes what workers have written of their chunks.
pub struct OutLog(Mutex<State>);

struct State {
    file: Box<dyn Write + Send>,
    /// The number of the chunk whose turn it is.
    next: u64,
    /// Those of which it is not the turn yet.
    waiting: BTreeMap<u64, Vec<u8>>,
    outcome: io::Result<()>,
}

impl OutLog {
    pub fn new(file: impl Write + Send + 'static) -> Self {
        let waiting = BTreeMap::new();
        Self(Mutex::new(State { file: Box::new(file), next: 0, waiting, outcome: Ok(()) }))
    }

    /// The entries of a chunk; each chunk has to be given, also one of none.
    pub fn put(&self, chunk: u64, text: Vec<u8>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let State { file, next, waiting, outcome } = &mut *state;
        waiting.insert(chunk, text);
        while let Some(text) = waiting.remove(next) {
            *next += 1;
            if outcome.is_ok() {
                *outcome = file.write_all(&text);
            }
        }
    }

    /// Whether all could be written.
    pub fn finish(&self) -> io::Result<()> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut state.outcome, Ok(()))?;
        state.file.flush()
    }
}

impl std::fmt::Debug for OutLog {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("OutLog")
    }
}

/// The entry as it was logged, with the time and the database that it takes from those before it, which may not
/// be there any more.
pub fn push_entry(text: &mut Vec<u8>, entry: &Entry<'_>) {
    let raw = &entry.raw;
    if let Some(time) = entry.time.filter(|_| !raw.has_time) {
        text.extend_from_slice(format!("# Time: {}\n", clock::iso_text(time)).as_bytes());
    }
    push_lines(text, raw.header);
    if !raw.has_database && !entry.database.is_empty() {
        text.extend_from_slice(b"use ");
        text.extend_from_slice(entry.database);
        text.extend_from_slice(b";\n");
    }
    text.extend_from_slice(raw.preamble);
    if entry.kind == Kind::AdministratorCommand {
        text.extend_from_slice(b"# administrator command: ");
    }
    text.extend_from_slice(entry.statement);
    text.extend_from_slice(b";\n");
}

fn push_lines(text: &mut Vec<u8>, lines: &[u8]) {
    text.extend_from_slice(lines);
    if !lines.is_empty() && !lines.ends_with(b"\n") {
        text.push(b'\n');
    }
}
