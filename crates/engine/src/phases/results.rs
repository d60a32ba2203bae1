//! The results of a phase, summed over its reactors.

use std::collections::BTreeMap;

use super::watch::Watch;
use crate::clock::wall_clock_step_ns;
use crate::histogram::Latencies;
use crate::job::{Arrival, Work};
use crate::load::PhasePart;
use crate::load::reactor::DRAIN_NS;
use crate::load::recorder::{Recorded, Share, StatementPart};
use crate::os::usage::CpuSeconds;
use crate::report::messages::{
    CountedLatency, Exit, Fairness, LatencyKind, Message, PhaseEnd, StatementResult,
};

impl Watch<'_> {
    /// Writes the results and how the phase ended.
    pub(super) fn end(mut self) -> Exit {
        let parts: Vec<PhasePart> =
            self.finished.iter_mut().filter_map(Option::take).map(|part| *part).collect();
        let sum = sum(self.plan.workload.kinds().len() + 1, &parts);
        if self.aborted.is_none() && !self.interrupted {
            self.aborted = reason_to_abort(&sum);
        }
        let exit = match (&self.aborted, self.interrupted) {
            (_, true) => Exit::Interrupted,
            (Some(_), false) => Exit::Aborted,
            (None, false) => Exit::Ok,
        };
        let result = self.result(sum);
        self.say(Message::PhaseEnd(Box::new(result)));
        exit
    }

    fn result(&self, mut sum: PhasePart) -> PhaseEnd {
        let plan = self.plan;
        let ended = plan.clock.with_wall_clock();
        let measured = self.measured(sum.recorded.last_ns);
        let open_loop = plan.phase.arrival != Arrival::Closed;
        // A trace's connections come and go: it has all of them once the first is open.
        let reached = match plan.phase.work {
            Work::Trace if sum.reached > 0 => plan.phase.connections,
            _ => sum.reached,
        };
        sum.recorded.errors.merge(&self.opened_in_all().errors);
        let kinds = plan.workload.kinds();
        PhaseEnd {
            server: plan.server,
            phase: plan.phase_index,
            connections_asked: plan.phase.connections,
            connections_reached: reached,
            started_ns: self.started.monotonic_ns,
            measured_from_ns: measured.map(|(from, _)| from),
            measured_to_ns: measured.map(|(_, to)| to),
            measured_s: measured.map(|(from, to)| match self.window {
                Some(_) => (to - from) as f64 / 1e9,
                None => self.sliced.measured_ns as f64 / 1e9,
            }),
            ended_ns: ended.monotonic_ns,
            interrupted: self.interrupted,
            aborted: self.aborted.clone(),
            latency_kind: match open_loop || plan.is_paced {
                false => LatencyKind::Service,
                true => LatencyKind::Response,
            },
            queries: CountedLatency::from(&all_kinds(&sum.recorded.statements[..kinds.len()])),
            queries_by_class: Some(sum.recorded.classes),
            statements: by_kind(kinds, &sum.recorded.statements),
            transactions: CountedLatency::from(&together(&sum.recorded.transactions)),
            transactions_by_name: by_name(plan.workload.transactions(), &sum.recorded.transactions),
            fairness: fairness(&sum.recorded.shares),
            connects: CountedLatency::from(&sum.connects),
            errors: sum.recorded.errors.counts,
            error_examples: sum.recorded.errors.examples,
            unanswered: sum.unanswered,
            reconnects: sum.reconnects,
            retries: sum.recorded.retries,
            client_cpu: self.client_cpu(),
            machine_busy: self
                .cpu_from
                .zip(self.cpu_to)
                .and_then(|(from, to)| to.machine_busy(&from)),
            backlog_max: open_loop.then_some(sum.backlog_max),
            wall_clock_step_ns: wall_clock_step_ns(self.started, ended),
        }
    }

    /// The measured part: as planned, or to the last statement of the rounds, or to the stop; the
    /// measured slices; `None` when there was none.
    fn measured(&self, last_ns: Option<u64>) -> Option<(u64, u64)> {
        let Some(window) = self.window else { return self.sliced.span };
        let from = window.measured_from_ns;
        let last = last_ns.unwrap_or(from);
        let to = match self.stopped_ns {
            Some(stopped_ns) => stopped_ns.min(window.measured_to_ns).max(last),
            None if window.measured_to_ns == u64::MAX => last,
            None => window.measured_to_ns,
        };
        (to > from).then_some((from, to))
    }

    fn client_cpu(&self) -> CpuSeconds {
        match (self.cpu_from, self.cpu_to) {
            (Some(from), Some(to)) => to.own.since(from.own),
            _ => self.sliced.client_cpu,
        }
    }
}

/// Why a phase that came to its end cannot be taken as it is.
fn reason_to_abort(sum: &PhasePart) -> Option<String> {
    if sum.unanswered > 0 {
        let (count, seconds) = (sum.unanswered, DRAIN_NS / 1_000_000_000);
        let noun = if count == 1 { "statement" } else { "statements" };
        return Some(format!(
            "{count} {noun} had no answer {seconds} s after the end of the phase"
        ));
    }
    if sum.lost > 0 && sum.alive == 0 {
        return Some("all connections were lost".to_owned());
    }
    if sum.reached == 0 {
        let examples = &sum.recorded.errors.examples;
        let reason = examples.values().next().cloned().unwrap_or_default();
        return Some(format!("no connection could be opened: {reason}"));
    }
    None
}

fn sum(kinds: usize, parts: &[PhasePart]) -> PhasePart {
    let mut sum = PhasePart::default();
    sum.recorded.statements = vec![StatementPart::default(); kinds];
    for part in parts {
        let Recorded { statements, classes, transactions, shares, errors, retries, last_ns } =
            &part.recorded;
        for (total, one) in sum.recorded.statements.iter_mut().zip(statements) {
            total.errors += one.errors;
            total.rows += one.rows;
            total.latencies.merge(&one.latencies);
        }
        sum.recorded.classes.add(*classes);
        sum.recorded.transactions.resize_with(transactions.len(), Latencies::default);
        for (total, one) in sum.recorded.transactions.iter_mut().zip(transactions) {
            total.merge(one);
        }
        sum.recorded.shares.extend(shares);
        sum.recorded.errors.merge(errors);
        sum.recorded.retries += retries;
        sum.recorded.last_ns = sum.recorded.last_ns.max(*last_ns);
        sum.connects.merge(&part.connects);
        sum.reached += part.reached;
        sum.alive += part.alive;
        sum.lost += part.lost;
        sum.reconnects += part.reconnects;
        sum.unanswered += part.unanswered;
        // Backlogs of different reactors need not peak together: this is an upper bound.
        sum.backlog_max += part.backlog_max;
    }
    sum
}

/// The results of each kind, and those of opening connections where events have done that.
fn by_kind(
    kinds: &[&'static str],
    statements: &[StatementPart],
) -> BTreeMap<String, StatementResult> {
    let (own, connect) = statements.split_at(kinds.len());
    let mut results: BTreeMap<String, StatementResult> =
        kinds.iter().zip(own).map(|(kind, part)| (kind.to_string(), part.into())).collect();
    for part in connect.iter().filter(|part| part.latencies.count() + part.errors > 0) {
        results.insert("connect".to_owned(), part.into());
    }
    results
}

fn together(transactions: &[Latencies]) -> Latencies {
    let mut all = Latencies::default();
    transactions.iter().for_each(|one| all.merge(one));
    all
}

/// The transactions by name; several of the same name are one.
fn by_name(names: &[&'static str], transactions: &[Latencies]) -> BTreeMap<String, CountedLatency> {
    let mut named: BTreeMap<&str, Latencies> = BTreeMap::new();
    for (name, latencies) in names.iter().zip(transactions) {
        named.entry(name).or_default().merge(latencies);
    }
    named.iter().map(|(name, latencies)| (name.to_string(), latencies.into())).collect()
}

fn fairness(shares: &[Share]) -> Option<Fairness> {
    let spread = |value: fn(&Share) -> f64| {
        let count = shares.len() as f64;
        let mean = shares.iter().map(value).sum::<f64>() / count;
        let variance = shares.iter().map(|one| (value(one) - mean).powi(2)).sum::<f64>() / count;
        (mean, variance.sqrt())
    };
    let (events_mean, events_stddev) = spread(|one| one.events as f64);
    let (busy_mean_s, busy_stddev_s) = spread(|one| one.busy_ns as f64 / 1e9);
    let connections = shares.len() as u64;
    (connections > 0).then_some(Fairness {
        connections,
        events_mean,
        events_stddev,
        busy_mean_s,
        busy_stddev_s,
    })
}

fn all_kinds(statements: &[StatementPart]) -> Latencies {
    let mut all = Latencies::default();
    statements.iter().for_each(|part| all.merge(&part.latencies));
    all
}

impl From<&StatementPart> for StatementResult {
    fn from(part: &StatementPart) -> Self {
        Self {
            count: part.latencies.count(),
            errors: part.errors,
            rows: part.rows,
            latency: part.latencies.summary(),
        }
    }
}

impl From<&Latencies> for CountedLatency {
    fn from(latencies: &Latencies) -> Self {
        Self { count: latencies.count(), latency: latencies.summary() }
    }
}
