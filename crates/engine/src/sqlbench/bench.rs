//! What a test program is written against: statements on one connection, inside timed operations.

use std::collections::BTreeSet;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use super::cpu::{Meter, Reading};
use super::link::{Answer, Expected, Link};
use super::options::Options;
use super::record::{Ending, Record};
use crate::clock::{Clock, nanoseconds};
use crate::os::signals;
use crate::protocol::{ServerError, code};
use crate::random::Random;
use crate::report::messages::{Message, Operation};

/// Tries of one connect, as in the suite; the pause grows by this much from one to the next.
const CONNECT_TRIES: u32 = 20;
const CONNECT_PAUSE: Duration = Duration::from_millis(50);
/// The kind under which statements outside any operation are counted.
const SET_UP: &str = "set-up";

/// Why a test program ends before its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A signal: nothing follows.
    Interrupted,
    /// The server is gone or does not answer: nothing follows.
    Lost(ServerError),
    /// The server refused a statement that the program needs. The next program can run.
    Failed(String),
}

/// One blocking connection, the options, and the operation under way.
pub struct Bench {
    link: Box<dyn Link>,
    options: Options,
    seed: u64,
    clock: Clock,
    meter: Meter,
    messages: Sender<Message>,
    pub(super) record: Record,
    running: Option<Running>,
    tables: BTreeSet<String>,
    last_elapsed_ns: u64,
}

/// The operation under way.
struct Running {
    started_ns: u64,
    cpu: Reading,
    statements: u64,
    rows: u64,
    failed: u64,
    warning: Option<String>,
    /// Of how many passes how many were made, when the time limit cut the rest.
    cut: Option<(u64, u64)>,
}

impl Bench {
    pub fn new(
        link: Box<dyn Link>,
        options: Options,
        seed: u64,
        clock: Clock,
        meter: Meter,
        messages: Sender<Message>,
        record: Record,
    ) -> Self {
        Self {
            link,
            options,
            seed,
            clock,
            meter,
            messages,
            record,
            running: None,
            tables: BTreeSet::new(),
            last_elapsed_ns: 0,
        }
    }

    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Draws that follow from the job's seed alone; each `stream` is independent of the others.
    pub fn random(&self, stream: u64) -> Random {
        Random::stream(self.seed, &[stream])
    }

    /// Sends a statement, fetches every row to the end, and gives their number, or the number of
    /// rows changed. An error of the server ends the program.
    pub fn query(&mut self, sql: &str) -> Result<u64, Stop> {
        Ok(self.run(sql, &Expected::Anything)?.rows)
    }

    /// The same, but an error of the server is a value, and counts neither as failed nor as an error.
    pub fn try_query(&mut self, sql: &str) -> Result<Result<u64, ServerError>, Stop> {
        Ok(self.send(sql, &Expected::Anything)?.map(|answer| answer.rows))
    }

    /// Sends a statement that must give or change exactly so many rows; any other number is a
    /// warning and a failed statement.
    pub fn expect(&mut self, sql: &str, rows: u64) -> Result<(), Stop> {
        let answer = self.run(sql, &Expected::Rows(rows))?;
        if answer.rows != rows {
            self.wrong(sql, &format!("{rows} rows expected, {} found", answer.rows));
        }
        Ok(())
    }

    /// Sends a query whose only row must have this text in its first column.
    pub fn expect_value(&mut self, sql: &str, value: &str) -> Result<(), Stop> {
        let answer = self.run(sql, &Expected::Value(value))?;
        if answer.rows != 1 || answer.first != value {
            let found = format!("{value} expected, {} found in {} rows", answer.first, answer.rows);
            self.wrong(sql, &found);
        }
        Ok(())
    }

    /// Sends a query whose only row must have a first column of so many bytes.
    pub fn expect_length(&mut self, sql: &str, length: u64) -> Result<(), Stop> {
        let answer = self.run(sql, &Expected::Length(length))?;
        if answer.rows != 1 || answer.first_length != length {
            self.wrong(sql, &format!("{length} bytes expected, {} found", answer.first_length));
        }
        Ok(())
    }

    /// Sends a statement that the server must refuse with this error.
    pub fn expect_error(&mut self, sql: &str, code: u16) -> Result<(), Stop> {
        match self.send(sql, &Expected::Error(code))? {
            Err(error) if error.code == code => {}
            Err(error) => self.wrong(sql, &format!("error {code} expected: {error}")),
            Ok(_) => self.wrong(sql, &format!("error {code} expected, but it was accepted")),
        }
        Ok(())
    }

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

    /// Tells something about the running operation that a reader of its numbers must know; the
    /// first warning of an operation is kept.
    pub fn warn(&mut self, text: String) {
        if let Some(running) = &mut self.running {
            running.warning.get_or_insert(text);
        }
    }

    /// Counts a statement of the running operation as failed, and warns.
    pub fn wrong(&mut self, sql: &str, what: &str) {
        const SHOWN: usize = 120;
        let shown: String = sql.chars().take(SHOWN).collect();
        self.record.wrong(self.running.is_none().then_some(SET_UP));
        if let Some(running) = &mut self.running {
            running.failed += 1;
        }
        self.warn(format!("{what}: {shown}"));
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

    /// Closes the connection, if any, and opens it anew; a refusal is tried again up to 20 times
    /// with growing pauses, which count in the running operation.
    pub fn connect(&mut self) -> Result<(), Stop> {
        self.link.close();
        for attempt in 1.. {
            let started_ns = self.clock.now_ns();
            let opened = self.link.open();
            let elapsed_ns = self.clock.now_ns() - started_ns;
            self.record.connected(elapsed_ns, started_ns + elapsed_ns, opened.as_ref().err());
            let Err(error) = opened else { break };
            if signals::interrupted() {
                return Err(Stop::Interrupted);
            }
            if attempt == CONNECT_TRIES {
                return Err(Stop::Lost(error));
            }
            self.warn(format!("a connect was tried again: {error}"));
            thread::sleep(CONNECT_PAUSE * attempt);
        }
        Ok(())
    }

    /// Closes the connection.
    pub fn disconnect(&mut self) {
        self.link.close();
    }

    /// Names of the tables that the program made and has not dropped.
    pub fn tables_made(&self) -> &BTreeSet<String> {
        &self.tables
    }

    pub fn connection_id(&self) -> Option<u32> {
        self.link.connection_id()
    }

    fn run(&mut self, sql: &str, expected: &Expected<'_>) -> Result<Answer, Stop> {
        self.send(sql, expected)?.map_err(|error| {
            self.record.refused(&error, self.running.is_none().then_some(SET_UP));
            const SHOWN: usize = 200;
            let shown: String = sql.chars().take(SHOWN).collect();
            Stop::Failed(format!("{error}; statement: {shown}"))
        })
    }

    fn send(
        &mut self,
        sql: &str,
        expected: &Expected<'_>,
    ) -> Result<Result<Answer, ServerError>, Stop> {
        if signals::interrupted() {
            return Err(Stop::Interrupted);
        }
        self.note_tables(sql);
        let started_ns = self.clock.now_ns();
        let answer = self.link.run(sql, expected);
        let ended_ns = self.clock.now_ns();
        if let Err(error) = &answer
            && is_lost(error)
        {
            if signals::interrupted() {
                return Err(Stop::Interrupted);
            }
            self.record.refused(error, self.running.is_none().then_some(SET_UP));
            return Err(Stop::Lost(error.clone()));
        }
        let rows = answer.as_ref().map_or(0, |answer| answer.rows);
        if let Some(running) = &mut self.running {
            running.statements += 1;
            running.rows += rows;
        }
        let outside = self.running.is_none().then_some(SET_UP);
        for interval in self.record.statement(outside, rows, started_ns, ended_ns) {
            self.say(Message::Interval(interval));
        }
        Ok(answer)
    }

    /// Remembers which tables there are, so that a program that is cut short leaves none behind.
    fn note_tables(&mut self, sql: &str) {
        if let Some(rest) = sql.strip_prefix("CREATE TABLE ") {
            let name = rest.split([' ', '(']).next().unwrap_or(rest);
            self.tables.insert(name.to_owned());
        } else if let Some(names) = sql.strip_prefix("DROP TABLE ") {
            for name in names.split(',') {
                self.tables.remove(name.trim());
            }
        }
    }

    fn timed<T>(
        &mut self,
        name: &str,
        tests: u64,
        shown: Shown,
        work: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        self.record.begin(name);
        self.running = Some(Running {
            cpu: self.meter.read(),
            started_ns: self.clock.now_ns(),
            statements: 0,
            rows: 0,
            failed: 0,
            warning: None,
            cut: None,
        });
        let worked = work(self);
        let ended_ns = self.clock.now_ns();
        let cpu = self.meter.read();
        self.record.end();
        let running = self.running.take().expect("an operation does not hold another one");
        let gives = worked?;
        let operation = self.told(name, tests, shown, running, ended_ns, cpu);
        self.last_elapsed_ns = operation.elapsed_ns;
        self.say(Message::Operation(operation));
        Ok(gives)
    }

    fn told(
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

    /// Intervals are cut from here; gives the instant.
    pub(super) fn begin_measuring(&mut self) -> u64 {
        let now_ns = self.clock.now_ns();
        self.record.measure_from(now_ns);
        now_ns
    }

    /// Tells how the program ended.
    pub(super) fn finish(mut self, ending: Ending) {
        self.record.end();
        if let Some(interval) = self.record.last_interval() {
            self.say(Message::Interval(interval));
        }
        let messages = self.messages;
        let _ = messages.send(Message::PhaseEnd(Box::new(self.record.into_phase_end(ending))));
    }

    pub(super) fn say(&self, message: Message) {
        // Whoever listens outlives the program; without a listener there is nobody to tell.
        let _ = self.messages.send(message);
    }
}

/// How the suite's figures of an operation differ from what was measured.
#[derive(Clone, Copy, Default)]
struct Shown {
    unsummed: bool,
    /// Time of earlier work that the suite's timer includes.
    before_ns: u64,
}

fn is_lost(error: &ServerError) -> bool {
    matches!(
        error.code,
        code::SOCKET_CONNECT
            | code::HOST_CONNECT
            | code::SERVER_GONE
            | code::SERVER_LOST
            | code::MALFORMED_PACKET
    )
}
