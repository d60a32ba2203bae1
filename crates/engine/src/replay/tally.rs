//! What a replay came to: counts, fidelity and latencies, from its records.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::choice::Reason;
use super::fingerprints::Fingerprints;
use super::record::{Outcome, Record, UNKNOWN, flag};
use crate::histogram::{Latencies, LatencySummary};
use crate::job::ReplayJob;

/// Fingerprints that a summary names.
const MOST_NAMED: usize = 50;

/// The message `replay`, and `summary.json`.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub server: usize,
    pub trace: String,
    /// Where the trace comes from, as its header has it.
    pub source: mydyno_trace::Source,
    /// None: as fast as possible.
    pub speed: Option<f64>,
    pub reads_only: bool,
    /// That the replay has reached.
    pub statements: u64,
    pub replayed: u64,
    pub skipped: BTreeMap<Reason, u64>,
    pub lost: u64,
    /// Sent more than 5 ms after their intended start; null at full speed.
    pub late: Option<u64>,
    /// Failed now: had not failed in the trace, had failed as well, and where the trace does not say.
    pub failed_newly: u64,
    pub failed_again: u64,
    pub failed_unknown: u64,
    /// Had failed in the trace and have not now.
    pub failed_no_more: u64,
    /// Whose row count the trace has, and those of which it was another.
    pub rows_compared: u64,
    pub rows_differ: u64,
    pub warnings: u64,
    /// How late statements were sent; null at full speed.
    pub lateness: Option<LatencySummary>,
    pub latency: LatencySummary,
    pub service: LatencySummary,
    /// Durations in the trace of the statements that were replayed.
    pub trace_service: LatencySummary,
    /// From the first statement's sending to the last one's end, and the same in the trace.
    pub elapsed_us: u64,
    pub trace_elapsed_us: u64,
    pub fingerprint_count: u64,
    /// Those with the most service time, the most first.
    pub fingerprints: Vec<OfFingerprint>,
    /// Why the trace was not read to its end.
    pub problem: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct OfFingerprint {
    pub id: String,
    /// The beginning of its text.
    pub text: String,
    pub replayed: u64,
    pub errors: u64,
    pub service_us: u64,
    /// Of those whose duration the trace has: how many, their time now and then.
    pub compared: u64,
    pub compared_service_us: u64,
    pub trace_service_us: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    replayed: u64,
    errors: u64,
    service_us: u64,
    compared: u64,
    compared_service_us: u64,
    trace_service_us: u64,
}

/// Counts records as they come.
#[derive(Default)]
pub struct Tally {
    statements: u64,
    replayed: u64,
    skipped: BTreeMap<u8, u64>,
    lost: u64,
    late: u64,
    failed_newly: u64,
    failed_again: u64,
    failed_unknown: u64,
    failed_no_more: u64,
    rows_compared: u64,
    rows_differ: u64,
    warnings: u64,
    lateness: Latencies,
    latency: Latencies,
    service: Latencies,
    trace_service: Latencies,
    /// First sending, last end; the same in the trace.
    span: Option<(u64, u64, u64, u64)>,
    by_fingerprint: HashMap<u64, Counts>,
}

impl Tally {
    pub fn add(&mut self, record: &Record) {
        self.statements += 1;
        match record.outcome {
            Outcome::NotReached => {}
            Outcome::Skipped => *self.skipped.entry(record.reason).or_default() += 1,
            Outcome::Lost => self.lost += 1,
            Outcome::Replayed => self.add_replayed(record),
        }
    }

    fn add_replayed(&mut self, record: &Record) {
        self.replayed += 1;
        self.late += u64::from(record.flags & flag::LATE != 0);
        self.warnings += u64::from(record.warnings);
        let knows = record.flags & flag::TRACE_KNOWS_ERROR != 0;
        match (record.error != 0, knows, record.trace_error != 0) {
            (true, true, false) => self.failed_newly += 1,
            (true, true, true) => self.failed_again += 1,
            (true, false, _) => self.failed_unknown += 1,
            (false, true, true) => self.failed_no_more += 1,
            (false, _, _) => {}
        }
        if record.error == 0 && record.trace_rows != UNKNOWN {
            self.rows_compared += 1;
            self.rows_differ += u64::from(record.rows != record.trace_rows);
        }
        self.lateness.record(record.start_error_us.max(0).cast_unsigned() * 1000);
        self.latency.record(record.latency_us.saturating_mul(1000));
        self.service.record(record.service_us.saturating_mul(1000));
        let then_us = (record.trace_service_us != UNKNOWN).then_some(record.trace_service_us);
        if let Some(then_us) = then_us {
            self.trace_service.record(then_us.saturating_mul(1000));
        }
        self.widen(record, then_us);
        let counts = self.by_fingerprint.entry(record.fingerprint).or_default();
        counts.replayed += 1;
        counts.errors += u64::from(record.error != 0);
        counts.service_us += record.service_us;
        if let Some(then_us) = then_us {
            counts.compared += 1;
            counts.compared_service_us += record.service_us;
            counts.trace_service_us += then_us;
        }
    }

    fn widen(&mut self, record: &Record, then_us: Option<u64>) {
        let end = record.sent_us + record.service_us;
        let (then, then_end) =
            (record.trace_start_us, record.trace_start_us.saturating_add(then_us.unwrap_or(0)));
        self.span = Some(match self.span {
            None => (record.sent_us, end, then, then_end),
            Some((from, to, then_from, then_to)) => {
                (from.min(record.sent_us), to.max(end), then_from.min(then), then_to.max(then_end))
            }
        });
    }

    /// Sums up what was replayed of a trace of this source.
    pub fn summary(
        &self,
        job: &ReplayJob,
        source: mydyno_trace::Source,
        fingerprints: &Fingerprints,
        problem: Option<String>,
    ) -> Summary {
        let (from, to, then_from, then_to) = self.span.unwrap_or_default();
        let reason = |number: u8| Reason::ALL.into_iter().find(|one| *one as u8 == number);
        Summary {
            server: 0,
            trace: job.trace.display().to_string(),
            source,
            speed: job.speed,
            reads_only: job.reads_only,
            statements: self.statements,
            replayed: self.replayed,
            skipped: self
                .skipped
                .iter()
                .filter_map(|(number, count)| Some((reason(*number)?, *count)))
                .collect(),
            lost: self.lost,
            late: job.speed.map(|_| self.late),
            failed_newly: self.failed_newly,
            failed_again: self.failed_again,
            failed_unknown: self.failed_unknown,
            failed_no_more: self.failed_no_more,
            rows_compared: self.rows_compared,
            rows_differ: self.rows_differ,
            warnings: self.warnings,
            lateness: job.speed.map(|_| self.lateness.summary()),
            latency: self.latency.summary(),
            service: self.service.summary(),
            trace_service: self.trace_service.summary(),
            elapsed_us: to - from,
            trace_elapsed_us: then_to - then_from,
            fingerprint_count: fingerprints.count() as u64,
            fingerprints: self.most_time(fingerprints),
            problem,
        }
    }

    fn most_time(&self, fingerprints: &Fingerprints) -> Vec<OfFingerprint> {
        let mut all: Vec<(&u64, &Counts)> = self.by_fingerprint.iter().collect();
        all.sort_by_key(|(id, counts)| (std::cmp::Reverse(counts.service_us), **id));
        let named = all.into_iter().take(MOST_NAMED);
        named
            .map(|(&id, counts)| OfFingerprint {
                id: format!("{id:016x}"),
                text: fingerprints.shown(id).to_owned(),
                replayed: counts.replayed,
                errors: counts.errors,
                service_us: counts.service_us,
                compared: counts.compared,
                compared_service_us: counts.compared_service_us,
                trace_service_us: counts.trace_service_us,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(error: u16, trace: Option<u16>) -> Record {
        Record {
            outcome: Outcome::Replayed,
            error,
            trace_error: trace.unwrap_or(0),
            flags: if trace.is_some() { flag::TRACE_KNOWS_ERROR } else { 0 },
            rows: 2,
            trace_rows: 3,
            trace_service_us: 50,
            service_us: 100,
            ..Record::default()
        }
    }

    #[test]
    fn errors_are_compared_with_those_of_the_trace() {
        let mut tally = Tally::default();
        for (now, then) in
            [(1, Some(0)), (1, Some(1)), (1, None), (0, Some(1)), (0, Some(0)), (0, None)]
        {
            tally.add(&record(now, then));
        }
        tally.add(&Record { outcome: Outcome::Skipped, reason: 1, ..Record::default() });
        let sum = tally.summary(
            &ReplayJob::default(),
            mydyno_trace::Source::SlowLog,
            &Fingerprints::default(),
            None,
        );
        let failed = [sum.failed_newly, sum.failed_again, sum.failed_unknown, sum.failed_no_more];
        assert_eq!(failed, [1, 1, 1, 1]);
        assert_eq!((sum.statements, sum.replayed), (7, 6));
        assert_eq!(sum.skipped[&Reason::Write], 1);
        assert_eq!((sum.rows_compared, sum.rows_differ), (3, 3));
        assert_eq!(sum.fingerprints[0].compared_service_us, 600);
    }
}
