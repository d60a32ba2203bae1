//! What the server does not answer, and connections that it ends.

use super::{Reactor, Stretch};
use crate::load::Event;
use crate::load::connection::{Stage, Then};
use crate::protocol::frames::OutOfOrder;
use crate::protocol::{ServerError, code};
use crate::workload::Open;

/// A server that has not let a connection in after this long is not going to.
const OPEN_LIMIT_NS: u64 = 30_000_000_000;
/// What connecting is given at least: it takes longer than an answer.
const LEAST_OPEN_LIMIT_NS: u64 = 1_000_000_000;
/// Rest before a lost connection is opened again.
const REOPEN_NS: u64 = 100_000_000;
/// Rest of a connection that found the server full.
const FULL_NS: u64 = 10_000_000;
/// Lost connections are reported to the conductor at most this often.
const REPORT_EVERY_NS: u64 = 1_000_000_000;

impl Reactor<'_> {
    /// Time between two sweeps: a statement is given up at most so much later than asked. Statements
    /// carry no timers of their own, which would cost each one of them.
    pub(super) fn sweep_step_ns(&self) -> u64 {
        (self.plan.answer_within_ns / 10).clamp(10_000_000, 1_000_000_000)
    }

    /// Gives up connections whose statement, or whose opening, has taken too long.
    pub(super) fn sweep(&mut self, now: u64) {
        self.sweep_ns = now + self.sweep_step_ns();
        for index in 0..self.connections.len() {
            let connection = &mut self.connections[index];
            if connection.in_flight() {
                let (statement_ns, since_ns) = connection.seen;
                if statement_ns != connection.statement_ns {
                    connection.seen = (connection.statement_ns, now);
                } else if now - since_ns >= self.plan.answer_within_ns {
                    let seconds = self.plan.answer_within_ns as f64 / 1e9;
                    let reason = format!("no answer within {seconds} s");
                    self.lost(index, code::SERVER_LOST, &reason);
                }
            } else if connection.is_opening() {
                let (since_ns, limit_ns) = self.opening_since_ns(index);
                let whole_ns = now.saturating_sub(self.connections[index].dialled_ns);
                if now.saturating_sub(since_ns) >= limit_ns || whole_ns >= OPEN_LIMIT_NS {
                    let seconds = whole_ns.min(OPEN_LIMIT_NS).max(limit_ns) as f64 / 1e9;
                    let message = format!("no connection within {seconds:.1} s");
                    self.failed_to_open(index, &ServerError::new(code::SERVER_LOST, message));
                }
            }
        }
    }

    /// Since when a connection has been waiting for the server to let it in, and how long it may.
    /// Before the clock starts a server may have thousands to let in at once: each one that it lets in
    /// gives the others more time.
    fn opening_since_ns(&self, index: usize) -> (u64, u64) {
        let connection = &self.connections[index];
        let limit_ns = OPEN_LIMIT_NS.min(self.plan.answer_within_ns.max(LEAST_OPEN_LIMIT_NS));
        match connection.then {
            Then::Start => (connection.dialled_ns.max(self.opened_ns), limit_ns),
            _ => (connection.dialled_ns, limit_ns),
        }
    }

    /// The server has ended a connection, or is given up.
    #[cold]
    pub(super) fn lost(&mut self, index: usize, code: u16, reason: &str) {
        if self.connections[index].is_opening() {
            let message = format!("lost connection while connecting: {reason}");
            return self.failed_to_open(index, &ServerError::new(code, message));
        }
        let error = ServerError::new(code, format!("lost connection to the server: {reason}"));
        let error = self.with_number(index, &error);
        let connection = &mut self.connections[index];
        let in_transaction = connection.in_transaction;
        let stage = std::mem::replace(&mut connection.stage, Stage::Closed);
        connection.close();
        self.lose_replayed(index, &stage, in_transaction, &error);
        self.open -= 1;
        self.recorder.connections(self.open);
        self.recorder.connection_error(&error);
        self.report_lost(&error);
        let again = self.policy.retry.contains(&code);
        let then = match stage {
            Stage::Busy | Stage::Reading | Stage::Leaving | Stage::Replaying => {
                let kind = self.statements[self.connections[index].statement].kind;
                self.recorder.lost_statement(kind, again);
                if again { Then::Again } else { Then::Next }
            }
            Stage::RollingBack(then) => then,
            Stage::Resting(Then::Step) if again => Then::Again,
            Stage::Resting(Then::Step) => Then::Next,
            Stage::Resting(then) => then,
            _ if self.connections[index].active => Then::Next,
            _ => Then::Idle,
        };
        self.idle.retain(|&other| other != index);
        self.after_loss(index, then);
    }

    /// Of what cannot be understood, the number of its connection in the phase, from 1.
    pub(super) fn with_number(&self, index: usize, error: &ServerError) -> ServerError {
        if !error.is_malformed() {
            return error.clone();
        }
        let number = self.index + index * self.plan.reactors + 1;
        ServerError::new(error.code, format!("connection {number}: {}", error.message))
    }

    /// Nothing that comes over the connection can be understood any more.
    #[cold]
    pub(super) fn out_of_order(&mut self, index: usize, disorder: OutOfOrder) {
        // What was left of a connection that is closed already says nothing.
        if self.connections[index].socket.is_some() {
            let error = ServerError::from(disorder);
            self.lost(index, error.code, &error.message);
        }
    }

    /// Opens a lost connection again where the workload wants that; else it is out of the game.
    fn after_loss(&mut self, index: usize, then: Then) {
        let now = self.now();
        let connection = &mut self.connections[index];
        if matches!(self.stretch, Stretch::Draining { .. } | Stretch::Over) {
            connection.lost = true;
        } else if self.policy.open == Open::Event && then != Then::Idle {
            // The next event opens one of its own.
            self.rest(index, now + FULL_NS, then);
        } else {
            connection.lost = true;
            connection.lost_ns = now;
            match self.policy.reopen {
                true => self.rest(index, now + REOPEN_NS, then),
                false => self.retire(index),
            }
        }
    }

    /// A connection could not be opened while the load runs.
    pub(super) fn failed_again(&mut self, index: usize, then: Then, error: &ServerError) {
        let now = self.now();
        let full = error.code == code::TOO_MANY_CONNECTIONS;
        if !full {
            self.report_lost(error);
        }
        let connection = &mut self.connections[index];
        if connection.lost {
            self.recorder.connection_error(error);
            // Where the clock does not end the phase, a server that stays away must.
            let limit = self.plan.answer_within_ns;
            if !self.recorder.has_end() && now - connection.lost_ns >= limit {
                return self.retire(index);
            }
            self.rest(index, now + REOPEN_NS, then);
        } else if then == Then::Step {
            let again = self.policy.retry.contains(&error.code);
            self.recorder.failure(self.connect_kind(), now, error, again);
            if !full {
                self.skip_unopened(index, now);
            }
            let pause = if full { FULL_NS } else { REOPEN_NS };
            self.rest(index, now + pause, if again { Then::Again } else { Then::Next });
        } else {
            // It was to open while the load ramps up: as one that fails before the clock starts.
            self.recorder.connection_error(error);
            self.retire(index);
        }
    }

    /// The connection begins no event any more.
    pub(super) fn retire(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        self.active -= usize::from(std::mem::take(&mut connection.active));
    }

    fn report_lost(&mut self, error: &ServerError) {
        let now = self.now();
        if self.reported_ns.is_none_or(|reported_ns| now - reported_ns >= REPORT_EVERY_NS) {
            self.reported_ns = Some(now);
            self.report(Event::Lost { error: error.clone() });
        }
    }
}
