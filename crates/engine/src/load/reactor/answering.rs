//! Answers that mean more than success: errors, rows that are read, ends of transactions.

use super::Reactor;
use super::running::EMPTY_EVENT_NS;
use crate::load::connection::{Stage, Then};
use crate::protocol::capture::MOST_READ;
use crate::protocol::frames::Packet;
use crate::protocol::response::{Outcome, Part, Response};
use crate::protocol::{ServerError, code, commands};
use crate::workload::{Boundary, Captured};

impl Reactor<'_> {
    /// Keeps what a packet holds of the row that the workload reads.
    pub(super) fn read_along(&mut self, index: usize, packet: Packet<'_>) {
        let connection = &mut self.connections[index];
        let Some(capture) = &mut connection.capture else { return };
        match connection.response.part(packet) {
            Part::Definition => capture.definition(packet),
            Part::Row => capture.row(packet),
            Part::Other => {}
        }
    }

    /// The answer to a statement that is read, expects an error, or begins or ends a transaction.
    pub(super) fn on_special(&mut self, index: usize, outcome: Outcome, now: u64) {
        let statement = &self.statements[self.connections[index].statement];
        let outcome = match statement.expect_error {
            Some(expected) => as_expected(expected, outcome),
            None => outcome,
        };
        let rows = match outcome {
            Outcome::Done { rows } => rows,
            Outcome::Failed(error) => return self.on_error(index, &error, now),
            Outcome::Prepared { .. } => unreachable!("nothing is being prepared"),
        };
        let connection = &mut self.connections[index];
        match statement.boundary {
            Boundary::Begin => connection.in_transaction = true,
            Boundary::End => connection.in_transaction = false,
            Boundary::None => {}
        }
        if statement.read.is_some()
            && let Err(error) = self.hand_over_row(index)
        {
            return self.on_error(index, &error, now);
        }
        // Bytes that a client does not wait for are no part of its time.
        let answered_ns = self.connections[index].unread_ns.unwrap_or(now);
        self.succeeded(index, answered_ns, rows);
    }

    /// Keeps when the first packet of a result set came, to a statement whose result is left unread.
    pub(super) fn note_result_set(&mut self, index: usize, packet: Packet<'_>) {
        if self.connections[index].response.part(packet) == Part::Definition {
            let now = self.now();
            self.connections[index].unread_ns.get_or_insert(now);
        }
    }

    /// Fails a statement as the C client does while a result set is unread: nothing is sent.
    #[cold]
    pub(super) fn out_of_sync(&mut self, index: usize, statement: usize) {
        let now = self.now();
        let message = "Commands out of sync; you can't run this command now";
        let error = ServerError::new(code::OUT_OF_SYNC, message);
        self.connections[index].statement = statement;
        self.recorder.failure(self.statements[statement].kind, now, &error, false);
        // Without a rest, events that send nothing would hold the reactor.
        self.rest(index, now + EMPTY_EVENT_NS, Then::Next);
    }

    /// Gives the workload the row that it reads.
    fn hand_over_row(&mut self, index: usize) -> Result<(), ServerError> {
        let connection = &mut self.connections[index];
        let Some(capture) = &connection.capture else { return Ok(()) };
        let mut space = [None; MOST_READ];
        let row = capture.finish(&mut space)?;
        match self.plan.workload.capture(&mut connection.cursor, row) {
            Captured::GoOn => Ok(()),
            Captured::GiveUp => {
                Err(ServerError::new(code::NO_DATA, "the row that the workload needs is not there"))
            }
        }
    }

    #[cold]
    pub(super) fn on_error(&mut self, index: usize, error: &ServerError, now: u64) {
        if code::ends_connection(error.code) {
            return self.lost(index, error.code, &error.message);
        }
        let connection = &mut self.connections[index];
        if error.code == code::DEADLOCK {
            connection.in_transaction = false;
        }
        let kind = self.statements[connection.statement].kind;
        let again = self.policy.retry.contains(&error.code);
        self.recorder.failure(kind, now, error, again);
        self.roll_back(index, if again { Then::Again } else { Then::Next }, now);
    }

    /// Leaves the transaction, if one is open, and goes on.
    pub(super) fn roll_back(&mut self, index: usize, then: Then, now: u64) {
        let connection = &mut self.connections[index];
        if !connection.in_transaction {
            return self.rolled_back(index, then, now);
        }
        self.outbox.clear();
        commands::query(b"ROLLBACK", &mut self.outbox);
        connection.statement_ns = now;
        connection.response = Response::to_query(self.no_eof);
        connection.stage = Stage::RollingBack(then);
        self.send(index);
    }

    /// Starts the event again (its latency goes on counting from its first start), or goes on to
    /// the next one.
    pub(super) fn rolled_back(&mut self, index: usize, then: Then, now: u64) {
        self.connections[index].in_transaction = false;
        match then {
            Then::Again => self.proceed(index, then, now),
            _ => self.end_event(index, now),
        }
    }
}

/// The one error that is expected is success, and success is an error.
fn as_expected(expected: u16, outcome: Outcome) -> Outcome {
    let reason = match outcome {
        Outcome::Failed(error) if error.code == expected => return Outcome::Done { rows: 0 },
        Outcome::Failed(error) if code::ends_connection(error.code) => {
            return Outcome::Failed(error);
        }
        Outcome::Failed(error) => error.to_string(),
        _ => "the statement succeeded".to_owned(),
    };
    let message = format!("error {expected} was expected: {reason}");
    Outcome::Failed(ServerError::new(code::UNKNOWN, message))
}
