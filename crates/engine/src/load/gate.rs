//! How the conductor starts and stops all reactors at once.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The instants of a phase or of one slice, on the engine's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub start_ns: u64,
    pub measured_from_ns: u64,
    /// `u64::MAX` where the number of rounds decides.
    pub measured_to_ns: u64,
}

impl Window {
    /// A slice of a phase: warm-up or measured as a whole.
    pub fn slice(from_ns: u64, to_ns: u64, warmup: bool) -> Self {
        let measured_from_ns = if warmup { to_ns } else { from_ns };
        Self { start_ns: from_ns, measured_from_ns, measured_to_ns: to_ns }
    }

    /// Nothing in it is measured.
    pub fn is_warmup(&self) -> bool {
        self.measured_from_ns == self.measured_to_ns
    }
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
    /// The last start, with its number: 1 unless the load comes in slices.
    start: Mutex<(u64, Option<Start>)>,
    stop: AtomicBool,
    release: AtomicBool,
    /// Events that no connection has taken yet, where all connections share them.
    events: AtomicU64,
}

impl Gate {
    /// A gate to a phase of so many events in all.
    pub fn sharing(events: u64) -> Self {
        Self { events: AtomicU64::new(events), ..Self::default() }
    }

    /// Takes one of the shared events; false when none is left.
    pub fn take_event(&self) -> bool {
        let less = |left: u64| left.checked_sub(1);
        self.events.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    /// Starts the load: once a phase, or for each slice.
    pub fn open(&self, start: Start) {
        let mut last = self.start.lock().unwrap_or_else(PoisonError::into_inner);
        *last = (last.0 + 1, Some(start));
    }

    /// The start after number `seen`, once the conductor has given it.
    pub fn start_after(&self, seen: u64) -> Option<Start> {
        let last = self.start.lock().unwrap_or_else(PoisonError::into_inner);
        last.1.clone().filter(|_| last.0 > seen)
    }

    pub fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }

    /// All reactors have carried their events: connections may close.
    pub fn release(&self) {
        self.release.store(true, Ordering::SeqCst);
    }

    pub fn released(&self) -> bool {
        self.release.load(Ordering::SeqCst)
    }

    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}

/// How many of the first `events` arrivals belong to a reactor.
pub fn share(owners: &[usize], reactor: usize, events: u64) -> u64 {
    let mine = |part: &[usize]| part.iter().filter(|&&owner| owner == reactor).count() as u64;
    let turns = events / owners.len() as u64;
    let rest = (events % owners.len() as u64) as usize;
    turns * mine(owners) + mine(&owners[..rest])
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

    #[test]
    fn the_shares_of_the_reactors_add_up_to_all_events() {
        let owners = deal(&[3, 1]);
        for events in 0..20usize {
            let expected = (0..events).filter(|at| owners[at % owners.len()] == 0).count() as u64;
            assert_eq!(share(&owners, 0, events as u64), expected);
            assert_eq!(share(&owners, 1, events as u64), events as u64 - expected);
        }
    }

    #[test]
    fn shared_events_are_given_out_exactly_once() {
        let gate = Gate::sharing(2);
        assert_eq!([(); 4].map(|()| gate.take_event()), [true, true, false, false]);
    }

    #[test]
    fn each_start_is_seen_once() {
        let gate = Gate::default();
        assert!(gate.start_after(0).is_none());
        for number in 0..2 {
            gate.open(Start { window: Window::slice(5, 9, true), owners: deal(&[1]) });
            assert!(gate.start_after(number).is_some());
            assert!(gate.start_after(number + 1).is_none());
        }
    }
}
