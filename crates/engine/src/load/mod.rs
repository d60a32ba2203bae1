//! The load itself: reactors that drive connections, and what they report to the conductor.

pub mod arrival;
mod connection;
pub mod gate;
pub mod reactor;
pub mod recorder;
mod timers;

use std::collections::BTreeMap;

use crate::histogram::Latencies;
use crate::protocol::ServerError;

/// An event with the number of its server.
pub type ServerEvent = (usize, Event);

/// What a reactor, or the watcher of signals, reports to the conductor.
pub enum Event {
    /// Every connection of the reactor is open or has failed.
    Opened {
        reactor: usize,
        opened: Opened,
    },
    Interval {
        reactor: usize,
        part: Box<recorder::IntervalPart>,
    },
    /// A connection was lost, or could not be opened; reported at most once a second.
    Lost {
        error: ServerError,
    },
    /// The slice is over, and no event of the reactor is under way any more.
    SliceOver {
        reactor: usize,
        drained_ns: u64,
        drained_queries: u64,
    },
    /// The reactor has carried all its events and keeps its connections until it is released.
    WorkOver,
    /// No statement of the reactor is under way any more; it closes its connections next.
    Drained,
    Finished {
        reactor: usize,
        part: Box<PhasePart>,
    },
    Interrupted,
    /// The load of the phase under way starts at this instant.
    Start {
        at_ns: u64,
    },
    NoMoreStarts,
}

/// How opening a reactor's connections went.
#[derive(Clone, Debug, Default)]
pub struct Opened {
    pub reached: u32,
    pub failed: u32,
    /// Connections that will carry events, with those that open later.
    pub carriers: u32,
    pub errors: ErrorLog,
}

/// One reactor's part of a phase's results.
#[derive(Default)]
pub struct PhasePart {
    pub recorded: recorder::Recorded,
    pub connects: Latencies,
    pub backlog_max: u64,
    /// Connections that were open at some time.
    pub reached: u32,
    /// Of those that carry events: still there at the end, and lost for good.
    pub alive: u32,
    pub lost: u32,
    /// Lost connections that were opened again.
    pub reconnects: u64,
    /// Statements without an answer when the phase was closed.
    pub unanswered: u64,
}

/// Codes of errors whose message is kept; there are 65,536, and a server could send them all.
const MOST_EXAMPLES: usize = 64;

/// Errors by code, with the first message of each.
#[derive(Clone, Debug, Default)]
pub struct ErrorLog {
    pub counts: BTreeMap<u16, u64>,
    pub examples: BTreeMap<u16, String>,
}

impl ErrorLog {
    pub fn add(&mut self, error: &ServerError) {
        *self.counts.entry(error.code).or_default() += 1;
        if self.examples.len() < MOST_EXAMPLES {
            self.examples.entry(error.code).or_insert_with(|| error.message.clone());
        }
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
