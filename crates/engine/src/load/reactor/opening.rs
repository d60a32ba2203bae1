//! Opening connections: all at once, without blocking.

use std::time::Duration;

use rustix::net::sockopt;

use super::{Reactor, Stretch};
use crate::load::Event;
use crate::load::connection::{Handle, Stage};
use crate::os::address::Dial;
use crate::os::poll::EventFlags;
use crate::protocol::frames::Packet;
use crate::protocol::handshake::{Handshake, Step};
use crate::protocol::response::{Outcome, Response};
use crate::protocol::{ServerError, code, commands};

/// Time after which a full queue of the listening socket is tried again.
const REDIAL: Duration = Duration::from_millis(1);
/// A server that has not let a connection in after this long is not going to.
const OPEN_LIMIT_NS: u64 = 30_000_000_000;

impl Reactor<'_> {
    pub(super) fn dial_all(&mut self) {
        let now = self.now();
        for index in 0..self.connections.len() {
            self.connections[index].dialled_ns = now;
            self.dial(index);
        }
        self.report_when_settled();
    }

    fn dial(&mut self, index: usize) {
        let (socket, stage, interest) = match self.plan.address.dial() {
            Dial::QueueFull => return,
            Dial::Failed(error) => return self.failed_to_open(index, &error),
            Dial::Connected(socket) => (socket, Stage::Greeting(Box::default()), EventFlags::IN),
            Dial::UnderWay(socket) => (socket, Stage::Dialing, EventFlags::OUT),
        };
        if let Err(error) = self.poll.add(&socket, index as u64, interest) {
            let error = self.plan.address.refused(error);
            return self.failed_to_open(index, &error);
        }
        self.connections[index].socket = Some(socket);
        self.connections[index].stage = stage;
    }

    /// A TCP connection is made, or has failed.
    pub(super) fn dialled(&mut self, index: usize) {
        let Some(socket) = &self.connections[index].socket else {
            return;
        };
        match sockopt::socket_error(socket) {
            Ok(Ok(())) => self.connections[index].stage = Stage::Greeting(Box::default()),
            Ok(Err(error)) | Err(error) => {
                let error = self.plan.address.refused(error.into());
                self.failed_to_open(index, &error);
            }
        }
    }

    pub(super) fn go_on_opening(&mut self) {
        let now = self.now();
        for index in 0..self.connections.len() {
            let connection = &self.connections[index];
            if connection.is_opening() && now > connection.dialled_ns + OPEN_LIMIT_NS {
                let message = "no connection within 30 seconds";
                self.failed_to_open(index, &ServerError::new(code::SERVER_LOST, message));
            } else if matches!(connection.stage, Stage::Waiting) {
                self.dial(index);
            }
        }
        if self.plan.gate.stopped() {
            return self.close_all();
        }
        self.report_when_settled();
    }

    pub(super) fn opening_timeout(&self) -> Duration {
        match self.connections.iter().any(|one| matches!(one.stage, Stage::Waiting)) {
            true => REDIAL,
            false => Duration::from_nanos(OPEN_LIMIT_NS),
        }
    }

    /// Takes a packet of the handshake.
    pub(super) fn greet(
        &mut self,
        index: usize,
        mut handshake: Box<Handshake>,
        packet: Packet<'_>,
    ) {
        self.outbox.clear();
        match handshake.take(&self.plan.login, packet, &mut self.outbox) {
            Step::Continue => {
                self.connections[index].stage = Stage::Greeting(handshake);
                if !self.outbox.is_empty() {
                    self.send(index);
                }
            }
            Step::Failed(error) => self.failed_to_open(index, &error),
            Step::Done => {
                let waited = self.now() - self.connections[index].dialled_ns;
                self.connects.record(waited);
                self.no_eof = handshake.into_session().no_eof;
                if self.plan.workload.prepared() {
                    self.prepare(index, 0);
                } else {
                    self.is_open(index);
                }
            }
        }
    }

    /// Takes the answer to the preparation of a statement.
    pub(super) fn prepared(&mut self, index: usize, number: usize, outcome: Outcome) {
        let handle = match outcome {
            Outcome::Prepared { statement_id } => Handle::Prepared(statement_id),
            Outcome::Failed(error) if error.code == code::UNSUPPORTED_PREPARE => Handle::Text,
            Outcome::Failed(error) => return self.failed_to_open(index, &error),
            Outcome::Done { .. } => unreachable!("the answer to a prepare is never rows"),
        };
        self.connections[index].handles.push(handle);
        if number + 1 < self.templates.len() {
            self.prepare(index, number + 1);
        } else {
            self.is_open(index);
        }
    }

    fn prepare(&mut self, index: usize, number: usize) {
        self.outbox.clear();
        commands::prepare(self.templates[number].sql(), &mut self.outbox);
        self.connections[index].response = Response::to_prepare(self.no_eof);
        self.connections[index].stage = Stage::Preparing(number);
        self.send(index);
    }

    fn is_open(&mut self, index: usize) {
        self.connections[index].stage = Stage::Idle;
        self.opened.reached += 1;
        self.open += 1;
    }

    pub(super) fn failed_to_open(&mut self, index: usize, error: &ServerError) {
        self.connections[index].socket = None;
        self.connections[index].stage = Stage::Closed;
        self.opened.failed += 1;
        self.opened.errors.add(error);
    }

    fn report_when_settled(&mut self) {
        if (self.opened.reached + self.opened.failed) as usize == self.connections.len() {
            self.stretch = Stretch::Ready;
            let opened = self.opened.clone();
            let _ = self.tell.send(Event::Opened { reactor: self.index, opened });
        }
    }
}
