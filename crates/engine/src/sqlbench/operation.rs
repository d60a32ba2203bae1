//! Timed operations: what the suite reports of each, and what was measured.

use super::bench::{Bench, Stop};
use super::cpu::Reading;
use super::running::Running;
use crate::clock::nanoseconds;
use crate::report::messages::{Message, Operation};

/// How the suite's figures of an operation differ from what was measured.
#[derive(Clone, Copy, Default)]
struct Shown {
    unsummed: bool,
    /// Time of earlier work that the suite's timer includes.
    before_ns: u64,
}

impl Bench {
    /// Times `work` and reports it as the suite does: `name`, and how many `tests` it counts.
    pub fn operation<T>(
        &mut self,
        name: &str,
        tests: u64,
        work: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        self.timed(name, tests, Shown::default(), work)
    }

    /// The same for an operation that the suite prints and leaves out of its totals.
    pub fn unsummed_operation<T>(
        &mut self,
        name: &str,
        tests: u64,
        work: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        self.timed(name, tests, Shown { unsummed: true, ..Shown::default() }, work)
    }

    /// The same for an operation whose time in the suite includes that of the one before.
    pub fn operation_with_the_one_before<T>(
        &mut self,
        name: &str,
        tests: u64,
        work: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let before_ns = self.last_elapsed_ns;
        self.timed(name, tests, Shown { before_ns, ..Shown::default() }, work)
    }

    /// Records something about the running operation that a reader of its numbers must know; the
    /// first warning of an operation is kept.
    pub fn warn(&mut self, text: String) {
        if let Some(running) = &mut self.running {
            running.warning.get_or_insert(text);
        }
    }

    /// Asks in a loop of reads, before pass `done` of `of`: true when the operation has lasted
    /// longer than the time limit. The loop must then end, and the time is extrapolated.
    pub fn past_limit(&mut self, done: u64, of: u64) -> bool {
        let limit_ns = nanoseconds(self.options.time_limit_s);
        let Some(running) = &mut self.running else { return false };
        if done == 0 || self.clock.now_ns() - running.started_ns < limit_ns {
            return false;
        }
        running.cut = Some((done, of));
        true
    }

    fn timed<T>(
        &mut self,
        name: &str,
        tests: u64,
        shown: Shown,
        work: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        self.record.begin(name);
        let cpu = self.meter.read();
        self.running = Some(Running::new(self.clock.now_ns(), cpu));
        let worked = work(self);
        let ended_ns = self.clock.now_ns();
        let cpu = self.meter.read();
        self.record.end();
        let running = self.running.take().expect("an operation does not hold another one");
        let gives = worked?;
        let operation = self.result(name, tests, shown, running, ended_ns, cpu);
        self.last_elapsed_ns = operation.elapsed_ns;
        self.say(Message::Operation(operation));
        Ok(gives)
    }

    fn result(
        &self,
        name: &str,
        tests: u64,
        shown: Shown,
        running: Running,
        ended_ns: u64,
        cpu: Reading,
    ) -> Operation {
        let measured_ns = ended_ns - running.started_ns;
        let factor = running.cut.map_or(1.0, |(done, of)| of as f64 / done as f64);
        let elapsed_ns = (measured_ns as f64 * factor).round() as u64;
        let (client_cpu, server_cpu) = cpu.since(running.cpu);
        let cut = running.cut.map(|(done, of)| {
            let limit_s = self.options.time_limit_s;
            let measured_s = measured_ns as f64 / 1e9;
            format!(
                "stopped after {done} of {of} loops, {measured_s:.3} s, by the time limit of \
                 {limit_s} s; the times are extrapolated"
            )
        });
        Operation {
            phase: self.record.phase(),
            program: self.record.program(),
            name: name.to_owned(),
            tests,
            statements: running.statements,
            rows: running.rows,
            failed: running.failed,
            elapsed_ns,
            original_elapsed_ns: (shown.before_ns > 0).then(|| elapsed_ns + shown.before_ns),
            client_cpu: client_cpu.times(factor),
            server_cpu: server_cpu.map(|cpu| cpu.times(factor)),
            estimated: running.cut.is_some(),
            warning: match (running.warning, cut) {
                (Some(warning), Some(cut)) => Some(format!("{warning}; {cut}")),
                (warning, cut) => warning.or(cut),
            },
            in_totals: !shown.unsummed,
        }
    }
}
