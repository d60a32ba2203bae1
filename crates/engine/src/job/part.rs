//! One engine's part of a load that several engines carry out together.
//!
//! Connections are dealt in turn, so the first engines have one more where they cannot be dealt evenly;
//! rates and shared events follow them. Each connection keeps the number that it has in the whole load,
//! and with it its random numbers: together the engines do what one of them would do alone.

use serde::Deserialize;

use super::{Arrival, Phase, Work};

/// Which of the engines this one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// From 0.
    pub number: u32,
    pub of: u32,
}

impl Default for Part {
    fn default() -> Self {
        Self { number: 0, of: 1 }
    }
}

impl Part {
    /// Its share of so many, dealt one by one.
    pub fn share(self, all: u64) -> u64 {
        all / u64::from(self.of) + u64::from(u64::from(self.number) < all % u64::from(self.of))
    }

    /// The number in the whole load of what is number `own` here; both from 0.
    pub fn number_in_all(self, own: u64) -> u64 {
        u64::from(self.number) + own * u64::from(self.of)
    }

    /// What this engine does of a phase of the whole load.
    pub fn of_phase(self, whole: &Phase) -> Phase {
        let share = |count: u32| self.share(count.into()) as u32;
        let (carriers, own) = (whole.carriers(), share(whole.carriers()));
        let part_of = |rate: f64| rate * f64::from(own) / f64::from(carriers);
        Phase {
            connections: share(whole.connections),
            active: whole.active.map(share),
            arrival: match whole.arrival {
                Arrival::Closed => Arrival::Closed,
                Arrival::Fixed { rate } => Arrival::Fixed { rate: part_of(rate) },
                Arrival::Poisson { rate } => Arrival::Poisson { rate: part_of(rate) },
            },
            first_s: match whole.arrival {
                Arrival::Fixed { rate } => f64::from(self.number) / rate,
                Arrival::Closed | Arrival::Poisson { .. } => 0.0,
            },
            work: match whole.work {
                Work::Events { events } => Work::Events { events: self.share(events) },
                // As many for each connection as in the whole load.
                Work::Split { events } => {
                    Work::Split { events: events / u64::from(carriers) * u64::from(own) }
                }
                same @ (Work::Rounds { .. } | Work::Timed { .. } | Work::Trace) => same,
            },
            part: self,
            in_all: Some(whole.connections),
            ..whole.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn phase(connections: u32, active: Option<u32>, arrival: Arrival, work: Work) -> Phase {
        let text = r#"{"connections": 1, "work": {"kind": "rounds", "rounds": 1}}"#;
        let one: Phase = serde_json::from_str(text).unwrap();
        Phase { connections, active, arrival, work, ..one }
    }

    fn parts(of: u32, whole: &Phase) -> Vec<Phase> {
        (0..of).map(|number| Part { number, of }.of_phase(whole)).collect()
    }

    proptest! {
        #[test]
        fn the_parts_are_the_whole_and_the_first_ones_take_what_is_left(
            of in 1u32..9, more in 0u32..500, idle in 0u32..50, events in 0u64..10_000,
        ) {
            let carriers = of + more;
            let work = Work::Events { events };
            let whole = phase(carriers + idle, Some(carriers), Arrival::Closed, work);
            let parts = parts(of, &whole);
            let counts: Vec<_> = parts.iter().map(|one| one.connections).collect();
            prop_assert_eq!(counts.iter().sum::<u32>(), whole.connections);
            prop_assert!(counts.windows(2).all(|pair| pair[0] >= pair[1]));
            prop_assert!(counts[0] - counts[counts.len() - 1] <= 1);
            prop_assert_eq!(parts.iter().map(Phase::carriers).sum::<u32>(), carriers);
            prop_assert!(parts.iter().all(|one| (1..=one.connections).contains(&one.carriers())));
            let shares = parts.iter().map(|one| match one.work {
                Work::Events { events } => events,
                _ => unreachable!("as in the whole"),
            });
            prop_assert_eq!(shares.sum::<u64>(), events);
        }

        #[test]
        fn every_connection_of_the_whole_is_in_one_part_and_carries_there_what_it_would(
            of in 1u32..9, more in 0u32..100, idle in 0u32..50,
        ) {
            let whole = phase(of + more + idle, Some(of + more), Arrival::Closed, Work::Rounds { rounds: 1 });
            let mut seen: Vec<(u64, bool)> = parts(of, &whole)
                .iter()
                .flat_map(|one| {
                    (0..one.connections)
                        .map(|own| (one.part.number_in_all(own.into()), own < one.carriers()))
                        .collect::<Vec<_>>()
                })
                .collect();
            seen.sort_unstable();
            let expected = (0..u64::from(whole.connections)).map(|at| (at, at < u64::from(of + more)));
            prop_assert_eq!(seen, expected.collect::<Vec<_>>());
        }

        #[test]
        fn rates_follow_the_connections_and_each_connection_has_the_work_that_it_would_have(
            of in 1u32..9, more in 0u32..100, rate in 0.1f64..1e6, events in 1u64..100_000,
        ) {
            let carriers = of + more;
            let events = events + u64::from(carriers);
            let arrival = Arrival::Poisson { rate };
            let parts = parts(of, &phase(carriers, None, arrival, Work::Split { events }));
            let mut sum = 0.0;
            for one in &parts {
                let Arrival::Poisson { rate: own } = one.arrival else { unreachable!("as in the whole") };
                prop_assert!((own / f64::from(one.connections) - rate / f64::from(carriers)).abs() < rate * 1e-12);
                sum += own;
                let Work::Split { events: own } = one.work else { unreachable!("as in the whole") };
                prop_assert_eq!(own / u64::from(one.connections), events / u64::from(carriers));
            }
            prop_assert!((sum - rate).abs() < rate * 1e-12);
        }
    }

    #[test]
    fn arrivals_at_even_steps_interleave() {
        let whole = phase(4, None, Arrival::Fixed { rate: 100.0 }, Work::Rounds { rounds: 1 });
        let parts = parts(2, &whole);
        assert_eq!(parts.iter().map(|one| one.first_s).collect::<Vec<_>>(), [0.0, 0.01]);
        assert!(parts.iter().all(|one| one.arrival == Arrival::Fixed { rate: 50.0 }));
    }
}
