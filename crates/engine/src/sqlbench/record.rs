//! The numbers of one test program: latencies by operation, errors, and the interval under way.

use std::collections::BTreeMap;

use crate::clock::{BothClocks, Clock, wall_clock_step_ns};
use crate::histogram::Latencies;
use crate::load::ErrorLog;
use crate::load::recorder::StatementPart;
use crate::os::usage::CpuSeconds;
use crate::protocol::{ServerError, code};
use crate::report::messages::{CountedLatency, Interval, LatencyKind, PhaseEnd, StatementResult};

/// The kind under which connects are timed.
const CONNECT: &str = "connect";

pub struct Record {
    phase: usize,
    program: &'static str,
    clock: Clock,
    interval_ns: u64,
    /// By operation; the operation under way is in `current`.
    kinds: BTreeMap<String, StatementPart>,
    current: Option<(String, StatementPart)>,
    connects: Latencies,
    errors: ErrorLog,
    /// When the interval under way began: none before the measured part.
    interval_from_ns: Option<u64>,
    interval_latencies: Latencies,
    interval_errors: u64,
    started: BothClocks,
    last_ns: Option<u64>,
    /// Statements that were sent and never answered.
    unanswered: u64,
}

/// How a program ended.
#[derive(Clone, Debug, Default)]
pub struct Ending {
    pub interrupted: bool,
    pub aborted: Option<String>,
    pub client_cpu: CpuSeconds,
    pub connected: bool,
    pub measured_from_ns: Option<u64>,
}

impl Record {
    pub fn new(phase: usize, program: &'static str, clock: Clock, interval_ns: u64) -> Self {
        Self {
            phase,
            program,
            clock,
            interval_ns,
            kinds: BTreeMap::new(),
            current: None,
            connects: Latencies::default(),
            errors: ErrorLog::default(),
            interval_from_ns: None,
            interval_latencies: Latencies::default(),
            interval_errors: 0,
            started: clock.with_wall_clock(),
            last_ns: None,
            unanswered: 0,
        }
    }

    pub fn phase(&self) -> usize {
        self.phase
    }

    pub fn program(&self) -> &'static str {
        self.program
    }

    pub fn error_counts(&self) -> BTreeMap<u16, u64> {
        self.errors.counts.clone()
    }

    /// The statements that follow belong to this operation.
    pub fn begin(&mut self, name: &str) {
        let part = self.kinds.remove(name).unwrap_or_default();
        self.current = Some((name.to_owned(), part));
    }

    pub fn end(&mut self) {
        if let Some((name, part)) = self.current.take() {
            self.kinds.insert(name, part);
        }
    }

    /// The first interval begins here.
    pub fn measure_from(&mut self, now_ns: u64) {
        self.interval_from_ns = Some(now_ns);
        self.interval_latencies = Latencies::default();
        self.interval_errors = 0;
    }

    /// Counts a statement; `outside` names the kind when no operation is under way. Gives the
    /// intervals that ended meanwhile.
    pub fn statement(
        &mut self,
        outside: Option<&str>,
        rows: u64,
        started_ns: u64,
        ended_ns: u64,
    ) -> Vec<Interval> {
        let latency_ns = ended_ns - started_ns;
        let part = self.part(outside);
        part.rows += rows;
        part.latencies.record(latency_ns);
        self.last_ns = Some(ended_ns);
        let ended = self.intervals_until(ended_ns);
        self.interval_latencies.record(latency_ns);
        ended
    }

    /// Counts an error of the server that ends the program.
    pub fn refused(&mut self, error: &ServerError, outside: Option<&str>) {
        self.errors.add(error);
        self.wrong(outside);
    }

    /// Counts a statement after which the connection was lost.
    pub fn lost(&mut self, error: &ServerError, outside: Option<&str>) {
        self.unanswered += u64::from(error.code == code::SERVER_LOST);
        self.refused(error, outside);
    }

    /// Counts a statement that did not give what it must give.
    pub fn wrong(&mut self, outside: Option<&str>) {
        self.part(outside).errors += 1;
        self.interval_errors += 1;
    }

    pub fn connected(&mut self, elapsed_ns: u64, ended_ns: u64, error: Option<&ServerError>) {
        self.last_ns = Some(ended_ns);
        if let Some(error) = error {
            self.errors.add(error);
            self.interval_errors += 1;
            return;
        }
        self.connects.record(elapsed_ns);
    }

    /// The last, shorter interval.
    pub fn last_interval(&mut self) -> Option<Interval> {
        let (from_ns, to_ns) = (self.interval_from_ns?, self.last_ns?);
        (to_ns > from_ns).then(|| self.interval(from_ns, to_ns))
    }

    pub fn into_phase_end(mut self, ending: Ending) -> PhaseEnd {
        self.end();
        let ended = self.clock.with_wall_clock();
        let mut all = Latencies::default();
        self.kinds.values().for_each(|part| all.merge(&part.latencies));
        let measured_to_ns = ending.measured_from_ns.and(self.last_ns);
        if self.connects.count() > 0 {
            let part = self.kinds.entry(CONNECT.to_owned()).or_default();
            part.latencies.merge(&self.connects);
        }
        PhaseEnd {
            server: 0,
            phase: self.phase,
            connections_asked: 1,
            connections_reached: u32::from(ending.connected),
            started_ns: self.started.monotonic_ns,
            measured_from_ns: ending.measured_from_ns,
            measured_to_ns,
            measured_s: ending
                .measured_from_ns
                .zip(measured_to_ns)
                .map(|(from, to)| to.saturating_sub(from) as f64 / 1e9),
            ended_ns: ended.monotonic_ns,
            interrupted: ending.interrupted,
            aborted: ending.aborted,
            latency_kind: LatencyKind::Service,
            queries: CountedLatency::from(&all),
            queries_by_class: None,
            statements: self
                .kinds
                .iter()
                .map(|(kind, part)| (kind.clone(), StatementResult::from(part)))
                .collect(),
            transactions: CountedLatency::from(&Latencies::default()),
            transactions_by_name: BTreeMap::new(),
            fairness: None,
            connects: CountedLatency::from(&self.connects),
            errors: self.errors.counts,
            error_examples: self.errors.examples,
            unanswered: self.unanswered,
            reconnects: 0,
            retries: 0,
            client_cpu: ending.client_cpu,
            machine_busy: None,
            backlog_max: None,
            wall_clock_step_ns: wall_clock_step_ns(self.started, ended),
        }
    }

    fn part(&mut self, outside: Option<&str>) -> &mut StatementPart {
        match (outside, &mut self.current) {
            (None, Some((_, part))) => part,
            (outside, _) => self.kinds.entry(outside.unwrap_or_default().to_owned()).or_default(),
        }
    }

    /// Every interval that ended before `now_ns`: without statements for those that one long
    /// statement has outlasted.
    fn intervals_until(&mut self, now_ns: u64) -> Vec<Interval> {
        let mut ended = Vec::new();
        while let Some(from_ns) = self.interval_from_ns
            && now_ns - from_ns >= self.interval_ns
        {
            ended.push(self.interval(from_ns, from_ns + self.interval_ns));
        }
        ended
    }

    fn interval(&mut self, from_ns: u64, to_ns: u64) -> Interval {
        self.interval_from_ns = Some(to_ns);
        let latencies = std::mem::take(&mut self.interval_latencies);
        Interval {
            phase: self.phase,
            from_ns,
            to_ns,
            warmup: false,
            queries: latencies.count(),
            transactions: 0,
            errors: std::mem::take(&mut self.interval_errors),
            reconnects: 0,
            connections: 1,
            queries_by_class: None,
            p50_ns: latencies.quantile_ns(0.5),
            p95_ns: latencies.quantile_ns(0.95),
            p99_ns: latencies.quantile_ns(0.99),
            max_ns: latencies.max_ns(),
            transaction_p95_ns: None,
            transaction_percentile_ns: None,
            histogram: latencies.encoded_if_any(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_before_the_measured_part_is_in_no_interval() {
        let mut record = Record::new(0, "connect", Clock::start(), 100);
        assert!(record.statement(Some("set-up"), 1, 0, 1_000).is_empty());
        assert!(record.last_interval().is_none());
        record.measure_from(1_000);
        let done = record.statement(Some("set-up"), 1, 1_040, 1_120);
        let spans: Vec<_> = done.iter().map(|one| (one.from_ns, one.to_ns, one.queries)).collect();
        assert_eq!(spans, [(1_000, 1_100, 0)]);
        assert_eq!(record.last_interval().map(|one| (one.to_ns, one.queries)), Some((1_120, 1)));
    }
}
