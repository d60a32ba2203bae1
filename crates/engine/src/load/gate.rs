//! How the conductor starts and stops all reactors at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The instants of a phase, on the engine's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub start_ns: u64,
    pub measured_from_ns: u64,
    /// `u64::MAX` where the number of rounds decides.
    pub measured_to_ns: u64,
}

/// What the reactors learn once all connections are open.
#[derive(Clone, Debug)]
pub struct Start {
    pub window: Window,
    /// Arrival number k of an open loop belongs to reactor `owners[k % owners.len()]`; each has as
    /// many entries as it has connections.
    pub owners: Arc<[usize]>,
}

/// Set by the conductor, looked at by the reactors when they are woken.
#[derive(Debug, Default)]
pub struct Gate {
    start: OnceLock<Start>,
    stop: AtomicBool,
}

impl Gate {
    pub fn open(&self, start: Start) {
        // Only the conductor opens, once a phase.
        let _ = self.start.set(start);
    }

    pub fn start(&self) -> Option<&Start> {
        self.start.get()
    }

    pub fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }

    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}

/// Deals arrivals to reactors in proportion to their connections, taking turns.
pub fn deal(connections: &[u32]) -> Arc<[usize]> {
    let most = connections.iter().copied().max().unwrap_or(0);
    let turns = (0..most).flat_map(|turn| {
        connections.iter().enumerate().filter(move |(_, count)| turn < **count).map(|(at, _)| at)
    });
    turns.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_are_dealt_in_turn_and_in_proportion_to_connections() {
        assert_eq!(*deal(&[2, 2]), [0, 1, 0, 1]);
        assert_eq!(*deal(&[3, 1]), [0, 1, 0, 0]);
        assert_eq!(*deal(&[0, 2]), [1, 1]);
        assert_eq!(*deal(&[]), [] as [usize; 0]);
    }
}
