//! The load itself: reactors that drive connections, and what they tell the conductor.

pub mod arrival;
mod connection;
pub mod gate;
pub mod reactor;
pub mod recorder;

use std::collections::BTreeMap;

use crate::histogram::Latencies;
use crate::protocol::ServerError;

/// What a reactor, or the watcher of signals, tells the conductor.
pub enum Event {
    /// Every connection of the reactor is open or has failed.
    Opened {
        reactor: usize,
        opened: Opened,
    },
    Interval {
        reactor: usize,
        part: recorder::IntervalPart,
    },
    /// The first connection that the reactor lost in this phase.
    Lost {
        error: ServerError,
    },
    /// No statement of the reactor is under way any more; it closes its connections next.
    Drained,
    Finished {
        reactor: usize,
        part: Box<PhasePart>,
    },
    Interrupted,
}

/// How opening a reactor's connections went.
#[derive(Clone, Debug, Default)]
pub struct Opened {
    pub reached: u32,
    pub failed: u32,
    pub errors: ErrorLog,
}

/// One reactor's part of a phase's results.
pub struct PhasePart {
    pub statements: Vec<recorder::StatementPart>,
    pub transactions: Latencies,
    pub connects: Latencies,
    pub errors: ErrorLog,
    pub ignored_errors: u64,
    pub backlog_max: u64,
    /// Connections that were open and were lost.
    pub lost: u32,
    /// When the last statement that counts ended; `None` when none did.
    pub last_ns: Option<u64>,
}

/// Errors by code, with the first message of each.
#[derive(Clone, Debug, Default)]
pub struct ErrorLog {
    pub counts: BTreeMap<u16, u64>,
    pub examples: BTreeMap<u16, String>,
}

impl ErrorLog {
    pub fn add(&mut self, error: &ServerError) {
        *self.counts.entry(error.code).or_default() += 1;
        self.examples.entry(error.code).or_insert_with(|| error.message.clone());
    }

    pub fn merge(&mut self, other: &ErrorLog) {
        for (&code, count) in &other.counts {
            *self.counts.entry(code).or_default() += count;
        }
        for (&code, example) in &other.examples {
            self.examples.entry(code).or_insert_with(|| example.clone());
        }
    }
}
