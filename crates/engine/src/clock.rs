//! The engine's one clock: nanoseconds since the engine started, monotonic.

use std::time::{Duration, Instant};

/// Every time in every message is read from this clock, so that load, samples and phases line up.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// Starts the clock at zero, now.
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }

    /// Nanoseconds since [`Clock::start`]; about 25 ns a call through the vdso.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// How long until the clock shows `at_ns`; zero when that has passed.
    pub fn until(&self, at_ns: u64) -> Duration {
        Duration::from_nanos(at_ns.saturating_sub(self.now_ns()))
    }
}

/// Seconds, as the job gives them, to whole nanoseconds.
pub fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}
