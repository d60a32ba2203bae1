//! The engine's one clock: nanoseconds since the engine started, monotonic.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

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

    /// The wall clock and this one, read within the shortest time of a few tries: a thread may lose its
    /// CPU between the two.
    pub fn with_wall_clock(&self) -> BothClocks {
        let read = || {
            let before_ns = self.now_ns();
            let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let unix_ns = since_epoch.as_nanos() as u64;
            (self.now_ns() - before_ns, BothClocks { unix_ns, monotonic_ns: before_ns })
        };
        let tries = [read(), read(), read()];
        let (_, best) = tries.into_iter().min_by_key(|(took_ns, _)| *took_ns).expect("three");
        best
    }

    /// How long until the clock shows `at_ns`; zero when that has passed.
    pub fn until(&self, at_ns: u64) -> Duration {
        Duration::from_nanos(at_ns.saturating_sub(self.now_ns()))
    }
}

/// One instant on the wall clock (since 1970) and on the engine's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BothClocks {
    pub unix_ns: u64,
    pub monotonic_ns: u64,
}

/// How far the wall clock went ahead of the monotonic one between two instants, in ns; negative when it
/// was set back. NTP slews both clocks alike, so what is more than the error of reading them (some
/// microseconds) is a clock that was set, or a machine that was suspended.
pub fn wall_clock_step_ns(from: BothClocks, to: BothClocks) -> i64 {
    let wall_ns = i128::from(to.unix_ns) - i128::from(from.unix_ns);
    let monotonic_ns = i128::from(to.monotonic_ns) - i128::from(from.monotonic_ns);
    (wall_ns - monotonic_ns).clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// Seconds, as the job gives them, to whole nanoseconds.
pub fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(unix_ns: u64, monotonic_ns: u64) -> BothClocks {
        BothClocks { unix_ns, monotonic_ns }
    }

    #[test]
    fn a_wall_clock_that_was_set_is_ahead_or_behind_by_as_much() {
        let from = at(1_700_000_000_000_000_000, 5_000);
        let hour_ns = 3_600_000_000_000;
        assert_eq!(wall_clock_step_ns(from, at(from.unix_ns + 900, 5_900)), 0);
        assert_eq!(
            wall_clock_step_ns(from, at(from.unix_ns + 900 + hour_ns, 5_900)),
            hour_ns as i64
        );
        assert_eq!(
            wall_clock_step_ns(from, at(from.unix_ns + 900 - hour_ns, 5_900)),
            -(hour_ns as i64)
        );
        assert_eq!(wall_clock_step_ns(from, at(0, 5_900)), -1_700_000_000_000_000_900);
    }

    #[test]
    fn on_a_machine_whose_clock_nobody_sets_there_is_no_step() {
        let clock = Clock::start();
        let from = clock.with_wall_clock();
        let to = clock.with_wall_clock();
        assert!(wall_clock_step_ns(from, to).abs() < 500_000_000);
    }
}
