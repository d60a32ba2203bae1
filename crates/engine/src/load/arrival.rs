//! When events are due in an open loop, and how many wait for a connection.
//!
//! The intended instants do not depend on how fast the server answers: an event that must wait for
//! a free connection keeps its instant, and its latency counts from there. That is what a closed
//! loop hides (coordinated omission).

use std::sync::Arc;

use crate::job::Arrival;
use crate::random::Random;

/// The intended instants of one reactor's events, in order.
#[derive(Clone, Debug)]
pub struct Schedule {
    start_ns: f64,
    /// Offset of the next arrival from the start.
    next_ns: f64,
    rhythm: Rhythm,
}

#[derive(Clone, Debug)]
enum Rhythm {
    /// Arrival k of the whole phase comes at k steps; this reactor takes those that it owns.
    Even { step_ns: f64, number: u64, owners: Arc<[usize]>, reactor: usize },
    /// Exponential gaps. Independent Poisson streams add up to one of the summed rate.
    Random { mean_gap_ns: f64, random: Random },
}

impl Schedule {
    /// The schedule of `reactor`, or `None` for a closed loop. `owners` deals the arrivals to the
    /// reactors; the reactor must own at least one.
    pub fn new(
        arrival: Arrival,
        start_ns: u64,
        owners: &Arc<[usize]>,
        reactor: usize,
        random: Random,
    ) -> Option<Self> {
        let rhythm = match arrival {
            Arrival::Closed => return None,
            Arrival::Fixed { rate } => {
                Rhythm::Even { step_ns: 1e9 / rate, number: 0, owners: owners.clone(), reactor }
            }
            Arrival::Poisson { rate } => {
                let mine = owners.iter().filter(|&&owner| owner == reactor).count() as f64;
                let share = mine / owners.len() as f64;
                Rhythm::Random { mean_gap_ns: 1e9 / (rate * share), random }
            }
        };
        let mut schedule = Self { start_ns: start_ns as f64, next_ns: 0.0, rhythm };
        schedule.settle();
        Some(schedule)
    }

    /// The intended start of the next event.
    pub fn next_ns(&self) -> u64 {
        (self.start_ns + self.next_ns) as u64
    }

    pub fn advance(&mut self) {
        if let Rhythm::Even { number, .. } = &mut self.rhythm {
            *number += 1;
        }
        self.settle();
    }

    /// Moves on to the next arrival of this reactor.
    fn settle(&mut self) {
        match &mut self.rhythm {
            Rhythm::Even { step_ns, number, owners, reactor } => {
                while owners[(*number % owners.len() as u64) as usize] != *reactor {
                    *number += 1;
                }
                self.next_ns = *number as f64 * *step_ns;
            }
            Rhythm::Random { mean_gap_ns, random } => {
                self.next_ns += -(1.0 - random.unit()).ln() * *mean_gap_ns;
            }
        }
    }
}

/// Events that are due and wait for a connection.
///
/// The waiting instants need no memory: a second copy of the schedule lags behind the first.
#[derive(Clone, Debug)]
pub struct Backlog {
    due: Schedule,
    oldest: Schedule,
    waiting: u64,
    largest: u64,
    /// Events that may still become due.
    left: u64,
}

impl Backlog {
    /// At most `events` arrivals; `u64::MAX` where the clock decides.
    pub fn new(schedule: Schedule, events: u64) -> Self {
        Self { due: schedule.clone(), oldest: schedule, waiting: 0, largest: 0, left: events }
    }

    /// Counts the arrivals up to and including `now_ns`.
    pub fn advance_to(&mut self, now_ns: u64) {
        while self.left > 0 && self.due.next_ns() <= now_ns {
            self.due.advance();
            self.left -= 1;
            self.waiting += 1;
        }
    }

    /// Takes the event that has waited longest: its intended start.
    pub fn take(&mut self) -> Option<u64> {
        if self.waiting == 0 {
            return None;
        }
        let intended = self.oldest.next_ns();
        self.oldest.advance();
        self.waiting -= 1;
        Some(intended)
    }

    /// Notes how many wait after all free connections have been given work.
    pub fn note(&mut self) {
        self.largest = self.largest.max(self.waiting);
    }

    /// The most events that ever waited with no connection free.
    pub fn largest(&self) -> u64 {
        self.largest
    }

    /// When the next event becomes due; `None` when there will be none.
    pub fn next_due_ns(&self) -> Option<u64> {
        (self.left > 0).then(|| self.due.next_ns())
    }

    /// Nothing waits and nothing will come.
    pub fn is_over(&self) -> bool {
        self.left == 0 && self.waiting == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::gate::deal;
    use proptest::prelude::*;

    const START: u64 = 1_000_000;

    fn schedule(arrival: Arrival, connections: &[u32], reactor: usize) -> Schedule {
        let random = Random::stream(1, &[reactor as u64]);
        Schedule::new(arrival, START, &deal(connections), reactor, random).unwrap()
    }

    fn instants(mut schedule: Schedule, count: usize) -> Vec<u64> {
        (0..count)
            .map(|_| {
                let instant = schedule.next_ns();
                schedule.advance();
                instant
            })
            .collect()
    }

    proptest! {
        #[test]
        fn the_reactors_together_keep_an_even_rhythm(
            connections in proptest::collection::vec(1u32..5, 1..4),
            rate in 1.0f64..1e6,
        ) {
            let arrival = Arrival::Fixed { rate };
            let mut all: Vec<u64> = (0..connections.len())
                .flat_map(|reactor| instants(schedule(arrival, &connections, reactor), 200))
                .collect();
            all.sort_unstable();
            // Every reactor gave 200, so the first 200 of the union are complete.
            for (number, &instant) in all.iter().take(200).enumerate() {
                let expected = START as f64 + number as f64 * 1e9 / rate;
                prop_assert!((instant as f64 - expected).abs() <= 1.0, "arrival {}", number);
            }
        }

        #[test]
        fn poisson_arrivals_come_in_order_and_the_same_for_the_same_seed(rate in 1.0f64..1e6) {
            let arrival = Arrival::Poisson { rate };
            let first = instants(schedule(arrival, &[1, 1], 0), 100);
            prop_assert!(first.is_sorted());
            prop_assert_eq!(&first, &instants(schedule(arrival, &[1, 1], 0), 100));
        }
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_the_deviation_of_their_rate() {
        let instants = instants(schedule(Arrival::Poisson { rate: 1000.0 }, &[3, 1], 0), 50_001);
        let gaps: Vec<f64> = instants.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        // Three of four connections are here: 750 a second. Exponential: deviation = mean.
        assert!((mean / (1e9 / 750.0) - 1.0).abs() < 0.02, "mean gap {mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.03, "deviation {}", variance.sqrt());
    }

    #[test]
    fn an_event_that_waits_keeps_its_intended_start() {
        let mut backlog = Backlog::new(schedule(Arrival::Fixed { rate: 1e9 / 100.0 }, &[1], 0), 5);
        backlog.advance_to(START + 250);
        backlog.note();
        assert_eq!(backlog.largest(), 3);
        assert_eq!(backlog.next_due_ns(), Some(START + 300));
        assert_eq!([backlog.take(), backlog.take()], [Some(START), Some(START + 100)]);
        backlog.advance_to(u64::MAX);
        let rest: Vec<u64> = std::iter::from_fn(|| backlog.take()).collect();
        assert_eq!(rest, [START + 200, START + 300, START + 400]);
        assert!(backlog.is_over());
    }
}
