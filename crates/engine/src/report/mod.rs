//! Messages to standard output: one JSON object a line, or a table of the results.

pub mod messages;
pub mod table;
pub mod visible;

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;

use crate::clock::Clock;
use messages::Message;
use table::Table;

/// Exit status when nobody reads the messages any more.
pub const UNREAD_STATUS: i32 = 3;

/// After how long a silence the engine says that it is alive.
const ALIVE_EVERY: Duration = Duration::from_secs(5);

/// Writes messages from any thread. The reactors never do: a slow reader must not slow the load.
pub struct Reporter {
    clock: Clock,
    out: Mutex<Out>,
}

struct Out {
    lines: Box<dyn Write + Send>,
    /// Instead of the messages themselves.
    table: Option<Table>,
    /// When the last line was written.
    last_ns: u64,
}

/// A message as one line, at `t_ns` on the engine's clock.
pub fn line(message: &Message, t_ns: u64) -> Vec<u8> {
    let text = serde_json::to_string(&Line { message, t_ns }).expect("every message is plain data");
    (visible::json(text) + "\n").into_bytes()
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    message: &'a Message,
    t_ns: u64,
}

impl Reporter {
    pub fn to_stdout(clock: Clock) -> Self {
        Self::new(clock, Box::new(io::stdout()))
    }

    pub fn new(clock: Clock, out: Box<dyn Write + Send>) -> Self {
        Self { clock, out: Mutex::new(Out { lines: out, table: None, last_ns: 0 }) }
    }

    /// Writes this table instead of the messages.
    pub fn with_table(self, table: Table) -> Self {
        self.out.lock().unwrap_or_else(PoisonError::into_inner).table = Some(table);
        self
    }

    /// Writes one line. Ends the process when the other side has closed the pipe.
    pub fn send(&self, message: &Message) {
        self.write(&mut self.out.lock().unwrap_or_else(PoisonError::into_inner), message);
    }

    /// Says that the engine is alive whenever nothing was said for some seconds, until `ended` is closed:
    /// so a reader distinguishes an engine at work from a stopped one.
    pub fn say_alive(&self, ended: &Receiver<()>) {
        while ended.recv_timeout(ALIVE_EVERY) == Err(RecvTimeoutError::Timeout) {
            let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
            let silent_ns = self.clock.now_ns().saturating_sub(out.last_ns);
            if u128::from(silent_ns) >= ALIVE_EVERY.as_nanos() {
                self.write(&mut out, &Message::Alive);
            }
        }
    }

    fn write(&self, out: &mut Out, message: &Message) {
        // The time is read under the lock so that it never goes back from one line to the next.
        out.last_ns = self.clock.now_ns();
        let text = match &mut out.table {
            Some(table) => table.lines(message).into_bytes(),
            None => line(message, out.last_ns),
        };
        if out.lines.write_all(&text).and_then(|()| out.lines.flush()).is_err() {
            std::process::exit(UNREAD_STATUS);
        }
    }
}
