//! Opening connections without blocking: all at once before the clock starts, one by one later.

use rustix::net::sockopt;

use super::{Reactor, Stretch};
use crate::load::Event;
use crate::load::connection::{Handle, Stage, Then};
use crate::os::address::Dial;
use crate::os::poll::EventFlags;
use crate::protocol::frames::{Frames, Packet};
use crate::protocol::handshake::{Handshake, Step, answer_to};
use crate::protocol::response::{Outcome, Response};
use crate::protocol::{ServerError, code, commands};
use crate::replay::checksum::LONGEST_ROW;
use crate::workload::Open;

/// Time after which a full queue of the listening socket is tried again.
const REDIAL_NS: u64 = 1_000_000;

impl Reactor<'_> {
    /// Begins to open every connection that is to be open before the clock starts.
    pub(super) fn open_all(&mut self) {
        let now = self.now();
        self.sweep_ns = now + self.sweep_step_ns();
        for index in 0..self.connections.len() {
            if !self.opens_later(index) {
                self.first += 1;
                self.open(index, Then::Start, now);
            }
        }
        self.dial_waiting();
        self.report_when_settled();
    }

    /// Opens within the measured time, or while the load ramps up.
    pub(super) fn opens_later(&self, index: usize) -> bool {
        let on_demand = self.policy.open != Open::Phase && self.connections[index].carries;
        on_demand || self.plan.phase.ramp_s > 0.0
    }

    /// Opens a connection, and then goes on.
    pub(super) fn open(&mut self, index: usize, then: Then, now: u64) {
        let connection = &mut self.connections[index];
        connection.then = then;
        connection.dialled_ns = now;
        connection.stage = Stage::Waiting;
        self.dials.push_back(index);
    }

    /// Dials where that was put off: never while bytes of the old connection are at hand.
    #[inline]
    pub(super) fn dial_waiting(&mut self) {
        while let Some(index) = self.dials.pop_front() {
            self.dial(index);
        }
    }

    pub(super) fn dial(&mut self, index: usize) {
        if matches!(self.stretch, Stretch::Draining { .. } | Stretch::Over) {
            self.connections[index].stage = Stage::Closed;
            return;
        }
        let (socket, stage, interest) = match self.plan.address.dial() {
            Dial::QueueFull => {
                let at_ns = self.now() + REDIAL_NS;
                return self.set_timer(index, at_ns);
            }
            Dial::Failed(error) => return self.failed_to_open(index, &error),
            Dial::Connected(socket) => (socket, Stage::Greeting(Box::default()), EventFlags::IN),
            Dial::UnderWay(socket) => (socket, Stage::Dialing, EventFlags::OUT),
        };
        if let Err(error) = self.poll.add(&socket, index as u64, interest) {
            let error = self.plan.address.refused(error);
            return self.failed_to_open(index, &error);
        }
        let connection = &mut self.connections[index];
        connection.socket = Some(socket);
        connection.stage = stage;
        let longest = if self.replay.is_some() { LONGEST_ROW } else { 0 };
        connection.frames = Frames::keeping(longest);
        connection.next_number = 0;
        connection.handles.clear();
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
        if self.plan.gate.stopped() {
            return self.close_all();
        }
        self.report_when_settled();
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
                    self.connections[index].next_number = answer_to(&self.outbox);
                    self.transmit(index);
                }
            }
            Step::Encrypt => self.encrypt(index, handshake),
            Step::Failed(error) => self.failed_to_open(index, &error),
            Step::Done => {
                let waited = self.now().saturating_sub(self.connections[index].dialled_ns);
                self.connects.record(waited);
                let session = handshake.into_session();
                self.no_eof = session.no_eof;
                if session.compression.is_some() {
                    let wrapping = self.connections[index].wrapping.get_or_insert_default();
                    wrapping.compression = session.compression;
                }
                self.set_up(index, 0);
            }
        }
    }

    /// Asks for TLS, in clear, and goes on with it.
    fn encrypt(&mut self, index: usize, mut handshake: Box<Handshake>) {
        self.transmit(index);
        let connection = &mut self.connections[index];
        if connection.socket.is_none() {
            return;
        }
        match self.plan.login.tls.as_ref().expect("the handshake wants it").session() {
            Err(error) => self.failed_to_open(index, &error),
            Ok(session) => {
                connection.wrapping.get_or_insert_default().tls = Some(session);
                self.outbox = handshake.login();
                connection.stage = Stage::Greeting(handshake);
                connection.next_number = answer_to(&self.outbox);
                self.transmit(index);
            }
        }
    }

    /// Sends the session statements from number `next` on, then prepares.
    fn set_up(&mut self, index: usize, next: usize) {
        let Some(sql) = self.policy.session.get(next) else {
            return self.prepare(index, 0);
        };
        self.outbox.clear();
        commands::query(sql.as_bytes(), &mut self.outbox);
        self.connections[index].response = Response::to_query(self.no_eof);
        self.connections[index].stage = Stage::Session(next);
        self.send(index);
    }

    /// Takes the answer to a session statement.
    pub(super) fn session_answered(&mut self, index: usize, number: usize, outcome: Outcome) {
        match outcome {
            Outcome::Failed(error) => self.failed_to_open(index, &error),
            _ => self.set_up(index, number + 1),
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
        self.prepare(index, number + 1);
    }

    /// Prepares the statements from number `next` on; then the connection is open.
    fn prepare(&mut self, index: usize, next: usize) {
        if !self.plan.workload.prepared() || next == self.statements.len() {
            return self.is_open(index);
        }
        self.outbox.clear();
        commands::prepare(self.statements[next].template.sql(), &mut self.outbox);
        self.connections[index].response = Response::to_prepare(self.no_eof);
        self.connections[index].stage = Stage::Preparing(next);
        self.send(index);
    }

    fn is_open(&mut self, index: usize) {
        let now = self.now();
        self.open += 1;
        self.recorder.connections(self.open);
        let connection = &mut self.connections[index];
        connection.stage = Stage::Idle;
        connection.reached = true;
        if std::mem::take(&mut connection.lost) {
            self.reconnects += 1;
            self.recorder.reconnected();
        }
        match connection.then {
            Then::Start => {
                self.opened.reached += 1;
                self.opened_ns = now;
            }
            Then::Step => {
                let latency = now.saturating_sub(connection.statement_ns);
                self.recorder.connect(self.connect_kind(), now, latency);
                self.go_on(index, now);
            }
            then => self.proceed(index, then, now),
        }
    }

    /// The kind under which events count the opening of their connection.
    pub(super) fn connect_kind(&self) -> usize {
        self.plan.workload.kinds().len()
    }

    #[cold]
    pub(super) fn failed_to_open(&mut self, index: usize, error: &ServerError) {
        self.connections[index].close();
        let error = &self.with_number(index, error);
        match (self.stretch, self.connections[index].then) {
            (_, Then::Start) => {
                self.opened.failed += 1;
                self.opened.errors.add(error);
            }
            (Stretch::Running | Stretch::Finishing | Stretch::Ready, then) => {
                self.failed_again(index, then, error)
            }
            _ => self.recorder.connection_error(error),
        }
    }

    fn report_when_settled(&mut self) {
        if (self.opened.reached + self.opened.failed) as usize == self.first {
            let carriers =
                (0..self.connections.len()).filter(|&index| self.will_carry(index)).count();
            // Those of a trace open while it is replayed.
            self.opened.carriers = if self.replay.is_some() { 1 } else { carriers as u32 };
            self.stretch = Stretch::Ready;
            let opened = self.opened.clone();
            self.report(Event::Opened { reactor: self.index, opened });
        }
    }

    /// Carries events once the load begins: it is open, or will be.
    pub(super) fn will_carry(&self, index: usize) -> bool {
        let connection = &self.connections[index];
        connection.carries && (matches!(connection.stage, Stage::Idle) || self.opens_later(index))
    }
}
