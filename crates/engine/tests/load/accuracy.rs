//! Latencies and arrivals are as the server kept them: fixed and mixed delays, a stall, a queue that grows.
//!
//! The server writes down when each statement came and when its answer went. A latency is at least what lies between,
//! and at most what it had taken once the client's next statement came: both ends hold on a busy machine, too.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use mydyno_engine::workload::Policy;
use serde_json::{Value, json};

use super::server::{Reply, Seen, Server};
use super::workload::Script;
use super::{Outcome, drive, rounds};

/// The histogram's stated error: one part in a thousand.
const ERROR: f64 = 0.001;
const STALL: Duration = Duration::from_secs(1);
const LONG_NS: u64 = 500_000_000;

/// Answers each statement after a delay, by its number from 0.
fn delayed(delay: fn(usize) -> Duration) -> Server {
    let number = AtomicUsize::new(0);
    Server::start(usize::MAX, move |_, _| {
        thread::sleep(delay(number.fetch_add(1, Ordering::SeqCst)));
        Reply::Ok
    })
}

fn select() -> Arc<Script> {
    Arc::new(Script::of("SELECT 1", Policy::default()))
}

/// The least and the most that each latency can have been, each sorted.
struct Kept {
    least: Vec<u64>,
    most: Vec<u64>,
}

impl Kept {
    /// Where each statement of a connection began `begun` after the one before it had been answered.
    fn of(
        server: &Server,
        outcome: &Outcome,
        begun: impl Fn(usize, &Bounds) -> [Instant; 2],
    ) -> Self {
        let (mut least, mut most) = (Vec::new(), Vec::new());
        let seen = server.seen();
        let start = outcome.end()["measured_from_ns"].as_u64().unwrap();
        let start = outcome.zero.map(|zero| zero + Duration::from_nanos(start));
        let connections = seen.iter().map(|one| one.connection).max().unwrap_or(0);
        for connection in 1..=connections {
            let mine: Vec<&Seen> = seen.iter().filter(|one| one.connection == connection).collect();
            let mut before = start;
            for (number, pair) in mine[1..].windows(2).enumerate() {
                let (asked, answered) = (pair[0].at, pair[0].answered.unwrap());
                let bounds = Bounds { start, before, asked };
                // The client had the answer before it sent what came next.
                let got = pair[1].at;
                let [earliest, latest] = begun(number, &bounds);
                least.push(answered.saturating_duration_since(latest).as_nanos() as u64);
                most.push(got.saturating_duration_since(earliest).as_nanos() as u64);
                before = [answered, got];
            }
        }
        least.sort_unstable();
        most.sort_unstable();
        Self { least, most }
    }

    /// In a closed loop a statement begins when the answer before it has come.
    fn closed(server: &Server, outcome: &Outcome) -> Self {
        Self::of(server, outcome, |_, bounds| [bounds.before[0], bounds.asked])
    }

    /// At a fixed rate the instants are known; one connection.
    fn at_rate(server: &Server, outcome: &Outcome, rate: f64) -> Self {
        Self::of(server, outcome, |number, bounds| {
            bounds.start.map(|start| start + Duration::from_secs_f64(number as f64 / rate))
        })
    }

    /// Compares the percentiles of a summary with both ends.
    fn check(&self, latency: &Value) {
        assert_eq!(latency["count"], self.least.len(), "{latency}");
        for (name, quantile) in [
            ("p50", 0.5),
            ("p75", 0.75),
            ("p90", 0.9),
            ("p95", 0.95),
            ("p99", 0.99),
            ("p999", 0.999),
        ] {
            let reported = latency[format!("{name}_ns")].as_u64().unwrap() as f64;
            let rank = (quantile * self.least.len() as f64).ceil() as usize - 1;
            // One rank to either side: which of two neighbours is meant is a matter of rounding.
            let least = self.least[rank.saturating_sub(1)] as f64 * (1.0 - ERROR);
            let most = self.most[(rank + 1).min(self.most.len() - 1)] as f64 * (1.0 + ERROR);
            assert!(
                (least..=most).contains(&reported),
                "{name}: {reported} ns, the server kept {least} to {most} ns"
            );
        }
    }

    fn longer(values: &[u64]) -> usize {
        values.iter().filter(|&&latency| latency > LONG_NS).count()
    }
}

struct Bounds {
    /// Of the phase; the earliest and the latest that it can have been, as for all of them.
    start: [Instant; 2],
    /// The end of the statement before.
    before: [Instant; 2],
    /// When the server had the statement.
    asked: Instant,
}

fn longer(latency: &Value) -> u64 {
    let bytes = STANDARD.decode(latency["histogram"].as_str().unwrap()).unwrap();
    let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
    histogram.count_between(LONG_NS, histogram.high())
}

fn transactions(outcome: &Outcome) -> &Value {
    &outcome.end()["transactions"]["latency"]
}

#[test]
fn percentiles_of_a_fixed_delay_are_those_that_the_server_kept() {
    let server = delayed(|_| Duration::from_millis(2));
    let outcome = drive(&server, &select(), json!({"connections": 2, "work": rounds(150)}));
    let kept = Kept::closed(&server, &outcome);
    kept.check(&outcome.end()["queries"]["latency"]);
    kept.check(transactions(&outcome));
    assert_eq!(outcome.end()["latency_kind"], "service");
    assert!(transactions(&outcome)["min_ns"].as_u64().unwrap() >= 1_998_000);
}

#[test]
fn percentiles_of_one_slow_statement_in_ten_are_those_that_the_server_kept() {
    let server = delayed(|number| Duration::from_millis(if number % 10 == 9 { 20 } else { 1 }));
    let outcome = drive(&server, &select(), json!({"connections": 2, "work": rounds(150)}));
    Kept::closed(&server, &outcome).check(transactions(&outcome));
    assert!(transactions(&outcome)["p95_ns"].as_u64().unwrap() >= 19_980_000);
}

#[test]
fn a_stall_is_one_long_latency_in_a_closed_loop_and_all_arrivals_that_waited_in_an_open_one() {
    let stalled = || delayed(|number| if number == 100 { STALL } else { Duration::ZERO });
    let server = stalled();
    let outcome = drive(&server, &select(), json!({"connections": 1, "work": rounds(300)}));
    let kept = Kept::closed(&server, &outcome);
    kept.check(transactions(&outcome));
    assert_eq!(outcome.end()["latency_kind"], "service");
    let [least, most] = [&kept.least, &kept.most].map(|values| Kept::longer(values) as u64);
    assert!(least == 1 && (least..=most).contains(&longer(transactions(&outcome))));

    let server = stalled();
    const RATE: f64 = 200.0;
    let arrival = json!({"kind": "fixed", "rate": RATE});
    let work = json!({"kind": "events", "events": 400});
    let outcome =
        drive(&server, &select(), json!({"connections": 1, "arrival": arrival, "work": work}));
    let kept = Kept::at_rate(&server, &outcome, RATE);
    kept.check(transactions(&outcome));
    assert_eq!(outcome.end()["latency_kind"], "response");
    let [least, most] = [&kept.least, &kept.most].map(|values| Kept::longer(values) as u64);
    assert!(least >= 95, "100 arrivals waited for more than half a second: {least}");
    // The bucket of the limit counts as a whole.
    assert!((least..=most + 1).contains(&longer(transactions(&outcome))), "{least} to {most}");
    assert!(outcome.end()["backlog_max"].as_u64().unwrap() >= 190);
}

#[test]
fn latencies_of_a_queue_that_grows_count_from_the_intended_start() {
    let server = delayed(|_| Duration::from_millis(2));
    const RATE: f64 = 1000.0;
    let arrival = json!({"kind": "fixed", "rate": RATE});
    let work = json!({"kind": "events", "events": 300});
    let phase = json!({"connections": 1, "arrival": arrival, "work": work});
    let outcome = drive(&server, &select(), phase);
    Kept::at_rate(&server, &outcome, RATE).check(transactions(&outcome));
    // Half of those that have arrived when the last one does have not begun.
    assert!(outcome.end()["backlog_max"].as_u64().unwrap() >= 149);
    assert!(transactions(&outcome)["p50_ns"].as_u64().unwrap() >= 150_000_000);
}
