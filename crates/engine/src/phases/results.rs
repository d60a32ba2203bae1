//! The results of a phase, summed over its reactors.

use super::Watch;
use crate::histogram::Latencies;
use crate::job::Arrival;
use crate::load::recorder::StatementPart;
use crate::load::{ErrorLog, PhasePart};
use crate::os::usage::CpuSeconds;
use crate::report::messages::{
    CountedLatency, Exit, LatencyKind, Message, PhaseEnd, StatementResult,
};

impl Watch<'_> {
    /// Tells the results and how the phase ended.
    pub(super) fn end(mut self) -> Exit {
        let parts: Vec<PhasePart> = self.finished.iter_mut().filter_map(Option::take).collect();
        let all_lost = self.lost_all(&parts);
        if self.aborted.is_none() && !self.interrupted && all_lost {
            self.aborted = Some("all connections were lost".to_owned());
        }
        let exit = match (&self.aborted, self.interrupted) {
            (_, true) => Exit::Interrupted,
            (Some(_), false) => Exit::Aborted,
            (None, false) => Exit::Ok,
        };
        let result = self.result(parts);
        self.say(Message::PhaseEnd(Box::new(result)));
        exit
    }

    fn lost_all(&self, parts: &[PhasePart]) -> bool {
        let lost: u64 = parts.iter().map(|part| u64::from(part.lost)).sum();
        lost > 0 && lost >= u64::from(self.opened_in_all().reached)
    }

    fn result(&self, parts: Vec<PhasePart>) -> PhaseEnd {
        let plan = self.plan;
        let ended_ns = plan.clock.now_ns();
        let measured = self.measured(&parts);
        let open_loop = plan.phase.arrival != Arrival::Closed;
        let opened = self.opened_in_all();
        let mut sum = sum(plan.workload.kinds().len(), parts);
        sum.errors.merge(&opened.errors);
        let statements = plan.workload.kinds().iter().zip(&sum.statements);
        PhaseEnd {
            phase: plan.phase_index,
            connections_asked: plan.phase.connections,
            connections_reached: opened.reached,
            started_ns: self.started_ns,
            measured_from_ns: measured.map(|(from, _)| from),
            measured_to_ns: measured.map(|(_, to)| to),
            ended_ns,
            interrupted: self.interrupted,
            aborted: self.aborted.clone(),
            latency_kind: match open_loop {
                false => LatencyKind::Service,
                true => LatencyKind::Response,
            },
            queries: counted(&all_kinds(&sum.statements)),
            statements: statements
                .map(|(kind, part)| ((*kind).to_owned(), statement(part)))
                .collect(),
            transactions: counted(&sum.transactions),
            connects: counted(&sum.connects),
            errors: sum.errors.counts,
            error_examples: sum.errors.examples,
            ignored_errors: sum.ignored_errors,
            client_cpu: self.client_cpu(),
            backlog_max: open_loop.then_some(sum.backlog_max),
        }
    }

    /// The measured part: as planned, or to the last statement of the rounds, or to the stop;
    /// `None` when there was none.
    fn measured(&self, parts: &[PhasePart]) -> Option<(u64, u64)> {
        let window = self.window?;
        let from = window.measured_from_ns;
        let last = parts.iter().filter_map(|part| part.last_ns).max().unwrap_or(from);
        let to = match self.stopped_ns {
            Some(stopped_ns) => stopped_ns.min(window.measured_to_ns).max(last),
            None if window.measured_to_ns == u64::MAX => last,
            None => window.measured_to_ns,
        };
        (to > from).then_some((from, to))
    }

    fn client_cpu(&self) -> CpuSeconds {
        match (self.cpu_from, self.cpu_to) {
            (Some(from), Some(to)) => to.since(from),
            _ => CpuSeconds::default(),
        }
    }
}

fn sum(kinds: usize, parts: Vec<PhasePart>) -> PhasePart {
    let mut sum = PhasePart {
        statements: vec![StatementPart::default(); kinds],
        transactions: Latencies::default(),
        connects: Latencies::default(),
        errors: ErrorLog::default(),
        ignored_errors: 0,
        backlog_max: 0,
        last_ns: None,
        lost: 0,
    };
    for part in parts {
        for (total, one) in sum.statements.iter_mut().zip(&part.statements) {
            total.errors += one.errors;
            total.rows += one.rows;
            total.latencies.merge(&one.latencies);
        }
        sum.transactions.merge(&part.transactions);
        sum.connects.merge(&part.connects);
        sum.errors.merge(&part.errors);
        sum.ignored_errors += part.ignored_errors;
        // Backlogs of different reactors need not peak together: this is an upper bound.
        sum.backlog_max += part.backlog_max;
    }
    sum
}

fn all_kinds(statements: &[StatementPart]) -> Latencies {
    let mut all = Latencies::default();
    statements.iter().for_each(|part| all.merge(&part.latencies));
    all
}

fn statement(part: &StatementPart) -> StatementResult {
    StatementResult {
        count: part.latencies.count(),
        errors: part.errors,
        rows: part.rows,
        latency: part.latencies.summary(),
    }
}

fn counted(latencies: &Latencies) -> CountedLatency {
    CountedLatency { count: latencies.count(), latency: latencies.summary() }
}
