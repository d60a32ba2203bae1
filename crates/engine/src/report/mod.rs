//! Messages to standard output, one JSON object a line.

pub mod messages;

use std::io::{self, Write};
use std::sync::Mutex;

use serde::Serialize;

use crate::clock::Clock;
use messages::Message;

/// Exit status when nobody reads the messages any more.
pub const UNREAD_STATUS: i32 = 3;

/// Writes messages from any thread. The reactors never do: a slow reader must not slow the load.
pub struct Reporter {
    clock: Clock,
    out: Mutex<Box<dyn Write + Send>>,
}

/// A message as one line, at `t_ns` on the engine's clock.
pub fn line(message: &Message, t_ns: u64) -> Vec<u8> {
    let mut text =
        serde_json::to_vec(&Line { message, t_ns }).expect("every message is plain data");
    text.push(b'\n');
    text
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
        Self { clock, out: Mutex::new(out) }
    }

    /// Writes one line. Ends the process when the other side has closed the pipe.
    pub fn send(&self, message: &Message) {
        let mut out = self.out.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        // The time is read under the lock so that it never goes back from one line to the next.
        let line = Line { message, t_ns: self.clock.now_ns() };
        let mut text = serde_json::to_vec(&line).expect("every message is plain data");
        text.push(b'\n');
        if out.write_all(&text).and_then(|()| out.flush()).is_err() {
            std::process::exit(UNREAD_STATUS);
        }
    }
}
