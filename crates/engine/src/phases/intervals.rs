//! Puts the reactors' parts of each interval together.

use std::collections::BTreeMap;

use crate::load::recorder::IntervalPart;
use crate::report::messages::Interval;

/// Intervals of a phase for which not every reactor has given its part.
pub struct Intervals {
    /// Whether each reactor may still send parts.
    running: Vec<bool>,
    pending: BTreeMap<u64, Pending>,
}

struct Pending {
    sum: IntervalPart,
    given: Vec<bool>,
}

impl Intervals {
    pub fn new(reactors: usize) -> Self {
        Self { running: vec![true; reactors], pending: BTreeMap::new() }
    }

    /// Takes a part; gives the intervals that are complete now, in order.
    pub fn add(&mut self, reactor: usize, part: IntervalPart) -> Vec<IntervalPart> {
        match self.pending.get_mut(&part.from_ns) {
            Some(pending) => {
                pending.given[reactor] = true;
                merge(&mut pending.sum, &part);
            }
            None => {
                let mut given = vec![false; self.running.len()];
                given[reactor] = true;
                self.pending.insert(part.from_ns, Pending { sum: part, given });
            }
        }
        self.complete()
    }

    /// No more parts will come from this reactor.
    pub fn finish(&mut self, reactor: usize) -> Vec<IntervalPart> {
        self.running[reactor] = false;
        self.complete()
    }

    fn complete(&mut self) -> Vec<IntervalPart> {
        let mut done = Vec::new();
        while let Some(first) = self.pending.first_entry() {
            let waiting = first.get().given.iter().zip(&self.running);
            if waiting.into_iter().any(|(given, running)| *running && !given) {
                break;
            }
            done.push(first.remove().sum);
        }
        done
    }
}

fn merge(sum: &mut IntervalPart, part: &IntervalPart) {
    sum.to_ns = sum.to_ns.max(part.to_ns);
    sum.transactions.merge(&part.transactions);
    sum.errors += part.errors;
    sum.reconnects += part.reconnects;
    sum.classes.add(part.classes);
    sum.connections += part.connections;
    sum.latencies.merge(&part.latencies);
    for (sum, part) in sum.tenths.iter_mut().zip(part.tenths) {
        *sum += part;
    }
}

/// `percentile`: what is wanted of the events besides their 95th, in percent.
pub fn message(phase: usize, sum: &IntervalPart, percentile: Option<f64>) -> Interval {
    Interval {
        phase,
        from_ns: sum.from_ns,
        to_ns: sum.to_ns,
        warmup: sum.warmup,
        queries: sum.latencies.count(),
        transactions: sum.transactions.count(),
        errors: sum.errors,
        reconnects: sum.reconnects,
        connections: sum.connections,
        queries_by_class: Some(sum.classes),
        p50_ns: sum.latencies.quantile_ns(0.5),
        p95_ns: sum.latencies.quantile_ns(0.95),
        p99_ns: sum.latencies.quantile_ns(0.99),
        max_ns: sum.latencies.max_ns(),
        transaction_p95_ns: sum.transactions.quantile_ns(0.95),
        transaction_percentile_ns: percentile
            .and_then(|percent| sum.transactions.quantile_ns(percent / 100.0)),
        histogram: sum.latencies.encoded_if_any(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::Latencies;
    use crate::load::recorder::Classes;

    fn part(from_ns: u64, to_ns: u64, latency: u64) -> IntervalPart {
        let mut latencies = Latencies::default();
        latencies.record(latency);
        let mut transactions = Latencies::default();
        transactions.record(3 * latency);
        IntervalPart {
            from_ns,
            to_ns,
            warmup: false,
            transactions,
            errors: 0,
            reconnects: 1,
            connections: 2,
            latencies,
            classes: Classes { read: 1, ..Classes::default() },
            tenths: [0; 10],
        }
    }

    #[test]
    fn an_interval_is_reported_once_all_reactors_have_given_their_part() {
        let mut intervals = Intervals::new(2);
        assert!(intervals.add(0, part(0, 10, 5)).is_empty());
        assert!(intervals.add(0, part(10, 20, 5)).is_empty());
        let ended = intervals.add(1, part(0, 10, 9));
        assert_eq!(ended.len(), 1);
        let sent = message(0, &ended[0], Some(50.0));
        assert_eq!((sent.queries, sent.transactions, sent.connections), (2, 2, 4));
        assert_eq!((sent.p50_ns, sent.max_ns), (Some(5), Some(9)));
        assert_eq!(sent.transaction_p95_ns, Some(27));
        assert_eq!(sent.transaction_percentile_ns, Some(15));
        assert_eq!((sent.reconnects, sent.queries_by_class.map(|one| one.read)), (2, Some(2)));
    }

    #[test]
    fn a_reactor_that_has_finished_is_not_waited_for() {
        let mut intervals = Intervals::new(2);
        intervals.add(0, part(0, 7, 5));
        assert!(intervals.finish(0).is_empty(), "the other one has not given its part");
        let ended = intervals.add(1, part(0, 10, 5));
        assert_eq!((ended[0].from_ns, ended[0].to_ns), (0, 10));
        assert_eq!(intervals.add(1, part(10, 20, 5)).len(), 1);
    }
}
