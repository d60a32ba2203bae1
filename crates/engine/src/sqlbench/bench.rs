//! What a test program is written against: statements on one connection, inside timed operations.

use std::collections::BTreeSet;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use super::cpu::Meter;
use super::link::{Answer, Expected, Link};
use super::options::Options;
use super::record::{Ending, Record};
use super::running::Running;
use crate::clock::Clock;
use crate::os::signals;
use crate::protocol::{ServerError, code};
use crate::random::Random;
use crate::report::messages::Message;

/// Tries of one connect, as in the suite; the pause grows by this much from one to the next.
const CONNECT_TRIES: u32 = 20;
const CONNECT_PAUSE: Duration = Duration::from_millis(50);
/// The kind under which statements outside any operation are counted.
pub(super) const SET_UP: &str = "set-up";

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
    pub(super) link: Box<dyn Link>,
    pub(super) options: Options,
    seed: u64,
    pub(super) clock: Clock,
    pub(super) meter: Meter,
    messages: Sender<Message>,
    pub(super) record: Record,
    pub(super) running: Option<Running>,
    tables: BTreeSet<String>,
    pub(super) last_elapsed_ns: u64,
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

    pub(super) fn run(&mut self, sql: &str, expected: &Expected<'_>) -> Result<Answer, Stop> {
        self.send(sql, expected)?.map_err(|error| {
            self.record.refused(&error, self.running.is_none().then_some(SET_UP));
            const SHOWN: usize = 200;
            let shown: String = sql.chars().take(SHOWN).collect();
            Stop::Failed(format!("{error}; statement: {shown}"))
        })
    }

    pub(super) fn send(
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
            self.record.lost(error, self.running.is_none().then_some(SET_UP));
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

    /// Intervals are cut from here; gives the instant.
    pub(super) fn begin_measuring(&mut self) -> u64 {
        let now_ns = self.clock.now_ns();
        self.record.measure_from(now_ns);
        now_ns
    }

    /// Writes how the program ended.
    pub(super) fn finish(mut self, ending: Ending) {
        self.record.end();
        if let Some(interval) = self.record.last_interval() {
            self.say(Message::Interval(interval));
        }
        let messages = self.messages;
        let _ = messages.send(Message::PhaseEnd(Box::new(self.record.into_phase_end(ending))));
    }

    pub(super) fn say(&self, message: Message) {
        // The reader outlives the program; without one the message is lost.
        let _ = self.messages.send(message);
    }
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
