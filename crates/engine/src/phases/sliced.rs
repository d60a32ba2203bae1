//! What one server has had of a phase in slices.

use crate::load::recorder::IntervalPart;
use crate::os::usage::CpuSeconds;

/// What one server has had of its phase in slices.
#[derive(Default)]
pub(super) struct Sliced {
    /// The slice under way: which reactors have ended it, when the last one did, and its counts.
    pub over: Vec<bool>,
    pub drained_ns: u64,
    /// Statements that ended after the slice.
    pub drained_queries: u64,
    pub part: Option<IntervalPart>,
    /// Start of the first measured slice and end of the last one.
    pub span: Option<(u64, u64)>,
    pub measured_ns: u64,
    pub client_cpu: CpuSeconds,
    /// Of the slices of the warm-up.
    pub drains_ns: Vec<u64>,
}

impl Sliced {
    pub fn new(reactors: usize) -> Self {
        Self { over: vec![false; reactors], ..Self::default() }
    }

    pub fn ended(&mut self, reactor: usize, drained_ns: u64, drained_queries: u64) {
        self.over[reactor] = true;
        self.drained_ns = self.drained_ns.max(drained_ns);
        self.drained_queries += drained_queries;
    }

    pub fn begin(&mut self) {
        self.over.fill(false);
        self.drained_ns = 0;
        self.drained_queries = 0;
        self.part = None;
    }

    pub fn median_drain_ns(&mut self) -> u64 {
        self.drains_ns.sort_unstable();
        self.drains_ns.get(self.drains_ns.len() / 2).copied().unwrap_or(0)
    }
}
