//! One thread, one epoll set, a share of the phase's connections.
//!
//! Each readiness is answered by one read, one write and, in between, one look at the clock. One
//! read buffer and one write buffer serve all connections; they stay in the CPU's cache, and a
//! thousand connections need little more memory than ten.
//!
//! Readiness is level-triggered. Edges would save the kernel a look at every socket that was just
//! read, yet measured on two CPUs they cost 5 to 15 % of the queries per second: without that look
//! the thread falls asleep sooner, and waking it is dearer. Yielding before sleeping, sending only
//! at the end of a batch, smaller batches and recv/send made no difference beyond noise.

mod opening;
mod running;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use rustix::io::Errno;

use super::arrival::Backlog;
use super::connection::{Connection, Stage};
use super::gate::Gate;
use super::recorder::Recorder;
use super::{Event, Opened};
use crate::clock::Clock;
use crate::histogram::Latencies;
use crate::job::{Phase, Work};
use crate::os::address::Address;
use crate::os::cpus;
use crate::os::poll::{EventFlags, Poll, Ready, WAKE, Waker, events, ready};
use crate::protocol::handshake::Login;
use crate::protocol::template::Template;
use crate::protocol::values::Values;
use crate::protocol::{ServerError, code, commands};
use crate::random::Random;
use crate::workload::Workload;

/// Most events taken from one wait.
const BATCH: usize = 256;
/// Read buffer shared by all connections of a reactor.
const INBOX: usize = 256 * 1024;
/// How long statements under way may take after the end of a phase, and after an interruption.
const DRAIN_NS: u64 = 10_000_000_000;
const DRAIN_INTERRUPTED_NS: u64 = 1_000_000_000;

/// What all reactors of a phase share.
pub struct Plan {
    pub phase_index: usize,
    pub phase: Phase,
    pub seed: u64,
    pub interval_ns: u64,
    pub clock: Clock,
    pub address: Address,
    pub login: Login,
    pub workload: Arc<dyn Workload>,
    pub gate: Gate,
    pub reactors: usize,
    /// CPU for each reactor, or none to leave them to the scheduler.
    pub pins: Option<Vec<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stretch {
    Opening,
    /// All connections are open or failed; the conductor has the word.
    Ready,
    Running,
    /// No statement is sent any more; those under way may end until the given instant.
    Draining {
        until_ns: u64,
    },
    Over,
}

pub struct Reactor<'a> {
    index: usize,
    plan: &'a Plan,
    tell: Sender<Event>,
    poll: Poll,
    waker: Waker,
    stretch: Stretch,
    connections: Vec<Connection>,
    templates: Vec<Template>,
    kinds: Vec<usize>,
    values: Values,
    outbox: Vec<u8>,
    recorder: Recorder,
    connects: Latencies,
    opened: Opened,
    open: u32,
    /// How the server ends result sets; the same for all its connections.
    no_eof: bool,
    lost_any: bool,
    /// When the last statement had ended or was given up; closing sockets comes after it.
    drained_ns: u64,
    /// Connections that have an event under way or may still begin one.
    active: usize,
    /// The open loop's arrivals; none in a closed loop.
    backlog: Option<Backlog>,
    idle: VecDeque<usize>,
}

impl<'a> Reactor<'a> {
    /// A reactor for every `plan.reactors`-th connection, beginning with number `index`.
    pub fn new(plan: &'a Plan, index: usize, tell: Sender<Event>) -> io::Result<Self> {
        let poll = Poll::new()?;
        let waker = poll.waker()?;
        let rounds = match plan.phase.work {
            Work::Rounds { rounds } => rounds,
            Work::Timed { .. } => u64::MAX,
        };
        let connections: Vec<_> = (index..plan.phase.connections as usize)
            .step_by(plan.reactors)
            .map(|number| {
                let path = [plan.phase_index as u64, number as u64];
                let cursor = plan.workload.cursor(number as u32 + 1, plan.phase.connections);
                Connection::new(Random::stream(plan.seed, &path), cursor, rounds)
            })
            .collect();
        let statements = plan.workload.statements();
        let kinds = plan.workload.kinds().len();
        let idle = VecDeque::with_capacity(connections.len());
        Ok(Self {
            index,
            plan,
            recorder: Recorder::new(index, kinds, plan.interval_ns, tell.clone()),
            tell,
            poll,
            waker,
            stretch: Stretch::Opening,
            connections,
            templates: statements.iter().map(|statement| statement.template.clone()).collect(),
            kinds: statements.iter().map(|statement| statement.kind).collect(),
            values: Values::default(),
            outbox: Vec::with_capacity(4096),
            connects: Latencies::default(),
            opened: Opened::default(),
            open: 0,
            no_eof: false,
            lost_any: false,
            drained_ns: 0,
            active: 0,
            backlog: None,
            idle,
        })
    }

    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// Opens the connections, waits for the gate, drives the load, and tells the conductor.
    pub fn run(mut self) {
        if let Some(pins) = &self.plan.pins {
            cpus::pin_to(pins[self.index % pins.len()]);
        }
        let mut inbox = vec![0u8; INBOX];
        let mut batch = events(BATCH);
        self.dial_all();
        while self.stretch != Stretch::Over {
            if let Err(error) = self.poll.wait(&mut batch, self.timeout()) {
                panic!("waiting for sockets failed: {error}");
            }
            for event in &batch {
                self.on_ready(ready(event), &mut inbox);
            }
            self.on_clock();
        }
        let backlog_max = self.backlog.as_ref().map_or(0, Backlog::largest);
        let part = self.recorder.finish(self.drained_ns, self.connects, backlog_max);
        // The conductor waits for exactly this message.
        let _ = self.tell.send(Event::Finished { reactor: self.index, part: Box::new(part) });
    }

    fn now(&self) -> u64 {
        self.plan.clock.now_ns()
    }

    #[inline]
    fn on_ready(&mut self, ready: Ready, inbox: &mut [u8]) {
        if ready.token == WAKE {
            self.waker.clear();
            return;
        }
        let index = ready.token as usize;
        if ready.flags.contains(EventFlags::OUT) {
            self.on_writable(index);
        }
        // The end of the stream is readable too, after what came before it.
        if ready.flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) {
            self.read(index, inbox);
        }
    }

    #[inline]
    fn read(&mut self, index: usize, inbox: &mut [u8]) {
        let Some(socket) = &self.connections[index].socket else { return };
        match rustix::io::read(socket, &mut *inbox) {
            Ok(0) => self.lost(index, code::SERVER_LOST, "the server closed it"),
            Ok(count) => self.on_bytes(index, &inbox[..count]),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => self.lost(index, code::SERVER_LOST, &error.to_string()),
        }
    }

    /// Sends the outbox over a connection; what the socket does not take waits for its turn.
    #[inline]
    fn send(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        let Some(socket) = &connection.socket else {
            return;
        };
        match rustix::io::write(socket, &self.outbox) {
            Ok(count) if count == self.outbox.len() => {}
            Ok(count) => self.send_later(index, count),
            Err(Errno::AGAIN) => self.send_later(index, 0),
            Err(error) => self.lost(index, code::SERVER_GONE, &error.to_string()),
        }
    }

    #[cold]
    fn send_later(&mut self, index: usize, sent: usize) {
        self.connections[index].unsent.extend_from_slice(&self.outbox[sent..]);
        self.watch(index, EventFlags::IN | EventFlags::OUT);
    }

    #[cold]
    fn on_writable(&mut self, index: usize) {
        if matches!(self.connections[index].stage, Stage::Dialing) {
            self.dialled(index);
        }
        let connection = &mut self.connections[index];
        let Some(socket) = &connection.socket else {
            return;
        };
        if !connection.unsent.is_empty() {
            match rustix::io::write(socket, &connection.unsent) {
                Ok(count) => drop(connection.unsent.drain(..count)),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return self.lost(index, code::SERVER_GONE, &error.to_string()),
            }
        }
        if self.connections[index].unsent.is_empty() {
            self.watch(index, EventFlags::IN);
        }
    }

    fn watch(&mut self, index: usize, interest: EventFlags) {
        let Some(socket) = &self.connections[index].socket else {
            return;
        };
        if let Err(error) = self.poll.modify(socket, index as u64, interest) {
            self.lost(index, code::SERVER_GONE, &error.to_string());
        }
    }

    /// The server has ended a connection that was open.
    #[cold]
    fn lost(&mut self, index: usize, code: u16, reason: &str) {
        if self.connections[index].is_opening() {
            let message = format!("lost connection while connecting: {reason}");
            return self.failed_to_open(index, &ServerError::new(code, message));
        }
        let connection = &mut self.connections[index];
        // In a closed loop a connection without a statement has done all its rounds.
        let was_active = self.backlog.is_some() || connection.in_flight();
        let kind = matches!(connection.stage, Stage::Busy).then_some(connection.kind);
        let error = ServerError::new(code, format!("lost connection to the server: {reason}"));
        connection.socket = None;
        connection.stage = Stage::Closed;
        self.idle.retain(|&other| other != index);
        self.open -= 1;
        self.active -= usize::from(was_active && self.active > 0);
        self.recorder.lost(kind, &error, self.open);
        if !std::mem::replace(&mut self.lost_any, true) {
            let _ = self.tell.send(Event::Lost { error });
        }
    }

    fn on_clock(&mut self) {
        match self.stretch {
            Stretch::Opening => self.go_on_opening(),
            Stretch::Ready => {
                if self.plan.gate.stopped() {
                    self.close_all();
                } else if let Some(start) = self.plan.gate.start().cloned() {
                    self.start(start);
                }
            }
            Stretch::Running => self.go_on_running(),
            Stretch::Draining { until_ns } => self.close_when_drained(until_ns),
            Stretch::Over => {}
        }
    }

    fn timeout(&self) -> Option<Duration> {
        let until = |at_ns| Some(self.plan.clock.until(at_ns));
        match self.stretch {
            Stretch::Opening => Some(self.opening_timeout()),
            Stretch::Ready => None,
            Stretch::Running => {
                let due = self.backlog.as_ref().and_then(Backlog::next_due_ns);
                until(self.recorder.boundary_ns().min(due.unwrap_or(u64::MAX)))
            }
            Stretch::Draining { until_ns } => until(until_ns),
            Stretch::Over => Some(Duration::ZERO),
        }
    }

    /// Sends nothing more, and closes once no statement is under way or the time is over.
    fn drain(&mut self, limit_ns: u64) {
        let until_ns = self.now() + limit_ns;
        self.stretch = Stretch::Draining { until_ns };
        self.close_when_drained(until_ns);
    }

    fn close_when_drained(&mut self, until_ns: u64) {
        let in_flight = self.connections.iter().any(Connection::in_flight);
        if !in_flight || self.now() >= until_ns {
            self.close_all();
        }
    }

    /// Takes leave of the server and closes every socket.
    fn close_all(&mut self) {
        self.drained_ns = self.now();
        let _ = self.tell.send(Event::Drained);
        self.outbox.clear();
        commands::quit(&mut self.outbox);
        for connection in &mut self.connections {
            if let Some(socket) = connection.socket.take() {
                let _ = rustix::io::write(&socket, &self.outbox);
            }
            connection.stage = Stage::Closed;
        }
        self.stretch = Stretch::Over;
    }
}
