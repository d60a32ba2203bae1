//! One thread, one epoll set, a share of the phase's connections.
//!
//! Each readiness is answered by one read, one write and, in between, one look at the clock. One
//! read buffer and one write buffer serve all connections; they stay in the CPU's cache, and a
//! thousand connections need little more memory than ten.
//!
//! Readiness is level-triggered. Edges would save the kernel a look at every socket that was just
//! read, yet measured on two CPUs they cost 5 to 15% of the queries per second: without that look
//! the thread falls asleep sooner, and waking it is dearer. Yielding before sleeping, sending only
//! at the end of a batch, smaller batches and recv/send made no difference beyond noise.

mod answering;
mod deadlines;
mod opening;
mod replaying;
mod resting;
mod running;
mod sockets;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use super::arrival::Backlog;
use super::connection::{Connection, Stage};
use super::gate::Gate;
use super::recorder::{Kinds, Recorder};
use super::timers::Timers;
use super::{Event, Opened, PhasePart, ServerEvent};
use crate::clock::Clock;
use crate::histogram::Latencies;
use crate::job::{MOST_REACTORS, Phase, Work};
use crate::os::address::Address;
use crate::os::cpus;
use crate::os::poll::{Poll, Waker, events, ready};
use crate::protocol::capture::Read;
use crate::protocol::compression::Unpacker;
use crate::protocol::handshake::Login;
use crate::protocol::template::Template;
use crate::protocol::values::Values;
use crate::random::Random;
use crate::replay::feed::Lane;
use crate::workload::{Boundary, Class, Policy, Statement, Workload};
use replaying::Replay;
use resting::Thinking;
use sockets::Wrapper;

/// Most events taken from one wait.
const BATCH: usize = 256;
/// Read buffer shared by all connections of a reactor.
const INBOX: usize = 256 * 1024;
/// How long statements under way may take after the end of a phase, and after an interruption.
pub const DRAIN_NS: u64 = 8_000_000_000;
const DRAIN_INTERRUPTED_NS: u64 = 1_000_000_000;

/// How many threads drive the connections of a phase.
#[derive(Clone, Copy, Debug)]
pub struct Reactors {
    /// By the job.
    pub asked: Option<usize>,
    pub cpus: usize,
}

impl Reactors {
    /// One for each CPU, or up to `SMOOTH` if each has at least `LEAST_CONNECTIONS`. A reactor that waits
    /// for a CPU holds up all of its connections, so with few reactors slices differ more; with few
    /// connections each, every answer has to wake a thread (docs/reference/performance.md has the figures).
    pub fn of(self, connections: u32) -> usize {
        const SMOOTH: usize = 8;
        const LEAST_CONNECTIONS: usize = 8;
        let connections = connections as usize;
        let several = (connections / LEAST_CONNECTIONS).min(SMOOTH);
        self.asked.unwrap_or(self.cpus.max(several)).min(connections)
    }
}

/// What all reactors of a phase share.
pub struct Plan {
    /// Number of the server that is driven.
    pub server: usize,
    pub phase_index: usize,
    pub phase: Phase,
    pub seed: u64,
    /// Length of the intervals; none where the load comes in slices.
    pub interval_ns: Option<u64>,
    /// A statement without an answer for so long is given up.
    pub answer_within_ns: u64,
    pub clock: Clock,
    pub address: Address,
    pub login: Login,
    pub workload: Arc<dyn Workload>,
    /// Statements have intended starts, those of a trace.
    pub is_paced: bool,
    pub gate: Gate,
    pub reactors: usize,
    /// CPU for each reactor, or none to leave them to the scheduler.
    pub pins: Option<Vec<usize>>,
}

impl Plan {
    /// The number of a reactor among those of all engines that share the load.
    fn number_in_all(&self, reactor: usize) -> u64 {
        (self.phase.part.number as usize * MOST_REACTORS + reactor) as u64
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stretch {
    Opening,
    /// All connections are open or failed, or a slice is over; waits for the gate.
    Ready,
    Running,
    /// The slice is over: events under way go on to their end, and none begins.
    Finishing,
    /// No statement is sent any more; those under way may end until the given instant.
    Draining {
        until_ns: u64,
    },
    Over,
}

/// A statement as it is sent, and what its answer means.
struct Compiled {
    template: Template,
    kind: usize,
    boundary: Boundary,
    read: Option<Read>,
    expect_error: Option<u16>,
    unread: bool,
    /// Its answer means more than success or failure.
    special: bool,
}

impl Compiled {
    fn new(statement: &Statement) -> Self {
        let Statement { kind, ref template, read, expect_error, unread, boundary, .. } = *statement;
        let special =
            read.is_some() || expect_error.is_some() || unread || boundary != Boundary::None;
        Self { template: template.clone(), kind, boundary, read, expect_error, unread, special }
    }
}

pub struct Reactor<'a> {
    index: usize,
    plan: &'a Plan,
    policy: &'a Policy,
    events: Sender<ServerEvent>,
    poll: Poll,
    waker: Waker,
    stretch: Stretch,
    /// How often the gate has opened.
    starts: u64,
    connections: Vec<Connection>,
    statements: Vec<Compiled>,
    values: Values,
    outbox: Vec<u8>,
    wrapper: Wrapper,
    unpacker: Unpacker,
    /// What TLS makes of the inbox.
    unsealed: Vec<u8>,
    recorder: Recorder,
    connects: Latencies,
    opened: Opened,
    /// When the server last let a connection in.
    opened_ns: u64,
    /// Connections that open before the clock starts.
    first: usize,
    open: u32,
    reconnects: u64,
    /// How the server ends result sets; the same for all its connections.
    no_eof: bool,
    timers: Timers,
    /// Connections to be dialled once the bytes at hand have been taken.
    dials: VecDeque<usize>,
    /// When statements without an answer are looked for next.
    sweep_ns: u64,
    /// When a lost connection was last reported to the conductor.
    reported_ns: Option<u64>,
    told_over: bool,
    /// When the last statement had ended or was given up; closing sockets comes after it.
    drained_ns: u64,
    unanswered: u64,
    /// Connections that have an event under way or may still begin one.
    active: usize,
    /// The open loop's arrivals; none in a closed loop.
    backlog: Option<Backlog>,
    idle: VecDeque<usize>,
    /// Events are taken from the gate.
    shared: bool,
    thinking: Option<Thinking>,
    /// Its part of a trace, in place of a program.
    replay: Option<Box<Replay>>,
}

impl<'a> Reactor<'a> {
    /// A reactor for every `plan.reactors`-th connection, beginning with number `index`; or for those of
    /// a trace that come through `lane`.
    pub fn new(
        plan: &'a Plan,
        index: usize,
        events: Sender<ServerEvent>,
        lane: Option<Lane>,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        let waker = poll.waker()?;
        let planned = if lane.is_some() { 0 } else { plan.phase.connections as usize };
        let connections: Vec<_> = (index..planned)
            .step_by(plan.reactors)
            .map(|number| connection(plan, number))
            .collect();
        let idle = VecDeque::with_capacity(connections.len());
        let kinds = Kinds {
            statements: classes(&*plan.workload),
            transactions: plan.workload.transactions().len(),
            connections: connections.len(),
        };
        Ok(Self {
            index,
            plan,
            policy: plan.workload.policy(),
            recorder: Recorder::new(plan.server, index, kinds, plan.interval_ns, events.clone()),
            events,
            poll,
            waker,
            stretch: Stretch::Opening,
            starts: 0,
            connections,
            statements: plan.workload.statements().iter().map(Compiled::new).collect(),
            values: Values::default(),
            outbox: Vec::with_capacity(4096),
            wrapper: Wrapper::default(),
            unpacker: Unpacker::default(),
            unsealed: Vec::new(),
            connects: Latencies::default(),
            opened: Opened::default(),
            opened_ns: 0,
            first: 0,
            open: 0,
            reconnects: 0,
            no_eof: false,
            timers: Timers::default(),
            dials: VecDeque::new(),
            sweep_ns: 0,
            reported_ns: None,
            told_over: false,
            drained_ns: 0,
            unanswered: 0,
            active: 0,
            backlog: None,
            idle,
            shared: matches!(plan.phase.work, Work::Events { .. }),
            thinking: Thinking::new(plan, index),
            replay: lane.map(Replay::new),
        })
    }

    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// Opens the connections, waits for the gate, drives the load, and reports to the conductor.
    pub fn run(mut self) {
        if let Some(pins) = &self.plan.pins {
            cpus::pin_to(pins[self.index % pins.len()]);
        }
        let mut inbox = vec![0u8; INBOX];
        let mut batch = events(BATCH);
        self.open_all();
        while self.stretch != Stretch::Over {
            if let Err(error) = self.poll.wait(&mut batch, self.timeout()) {
                panic!("waiting for sockets failed: {error}");
            }
            for event in &batch {
                self.on_ready(ready(event), &mut inbox);
                self.dial_waiting();
            }
            self.on_clock();
            self.dial_waiting();
        }
        // The conductor waits for exactly this message.
        let (events, server, reactor) = (self.events.clone(), self.plan.server, self.index);
        let part = Box::new(self.into_part());
        let _ = events.send((server, Event::Finished { reactor, part }));
    }

    fn into_part(mut self) -> PhasePart {
        self.hand_over_records();
        let count = |wanted: fn(&&Connection) -> bool| {
            self.connections.iter().filter(wanted).count() as u32
        };
        let mut recorded = self.recorder.finish(self.drained_ns);
        let mut carriers = self.connections.iter().map(|one| one.carries && one.reached);
        recorded.shares.retain(|_| carriers.next().unwrap_or_default());
        PhasePart {
            reached: count(|one| one.reached),
            alive: count(|one| one.carries && one.reached && !one.lost),
            lost: count(|one| one.carries && one.lost),
            backlog_max: self.backlog.as_ref().map_or(0, Backlog::largest),
            reconnects: self.reconnects,
            unanswered: self.unanswered,
            recorded,
            connects: self.connects,
        }
    }

    /// Reports to the conductor, which outlives the reactors.
    fn report(&self, event: Event) {
        let _ = self.events.send((self.plan.server, event));
    }

    /// Events may go on: the load runs, or those under way in a slice are finished.
    #[inline]
    fn drives(&self) -> bool {
        matches!(self.stretch, Stretch::Running | Stretch::Finishing)
    }

    fn now(&self) -> u64 {
        self.plan.clock.now_ns()
    }

    fn on_clock(&mut self) {
        let now = self.now();
        if now >= self.timers.next_ns() {
            self.wake_rested(now);
        }
        if now >= self.sweep_ns {
            self.sweep(now);
        }
        match self.stretch {
            Stretch::Opening => self.go_on_opening(),
            Stretch::Ready => {
                if self.plan.gate.stopped() {
                    self.close_all();
                } else if let Some(start) = self.plan.gate.start_after(self.starts) {
                    self.start(start);
                }
            }
            Stretch::Running => self.go_on_running(now),
            Stretch::Finishing => self.go_on_finishing(),
            Stretch::Draining { until_ns } => self.close_when_drained(until_ns),
            Stretch::Over => {}
        }
    }

    fn timeout(&self) -> Option<Duration> {
        let next = self.timers.next_ns().min(self.sweep_ns);
        let at_ns = match self.stretch {
            // Between two slices nothing is timed: the conductor wakes the reactor.
            Stretch::Ready if self.plan.interval_ns.is_none() => return None,
            Stretch::Opening | Stretch::Ready | Stretch::Finishing => next,
            Stretch::Running => {
                let due = self.backlog.as_ref().and_then(Backlog::next_due_ns);
                next.min(self.recorder.boundary_ns()).min(due.unwrap_or(u64::MAX))
            }
            Stretch::Draining { until_ns } => until_ns.min(self.sweep_ns),
            Stretch::Over => 0,
        };
        Some(self.plan.clock.until(at_ns))
    }

    /// Sends nothing more, and closes once no statement is under way or the time is over.
    fn drain(&mut self, limit_ns: u64) {
        let until_ns = self.now() + limit_ns;
        self.stretch = Stretch::Draining { until_ns };
        for index in 0..self.connections.len() {
            if matches!(self.connections[index].stage, Stage::Resting(_)) {
                self.stop(index);
            }
        }
        self.close_when_drained(until_ns);
    }

    fn close_when_drained(&mut self, until_ns: u64) {
        let awaited = self.connections.iter().filter(|one| one.is_awaited()).count();
        if awaited == 0 || self.now() >= until_ns {
            self.unanswered = awaited as u64;
            self.close_all();
        }
    }

    /// Takes leave of the server and closes every socket.
    fn close_all(&mut self) {
        self.drained_ns = self.now();
        self.report(Event::Drained);
        self.give_up_replayed();
        for index in 0..self.connections.len() {
            self.take_leave(index);
            self.connections[index].close();
        }
        self.stretch = Stretch::Over;
    }
}

/// What the statements of each kind do.
fn classes(workload: &dyn Workload) -> Vec<Class> {
    let mut classes = vec![Class::Other; workload.kinds().len()];
    workload.statements().iter().for_each(|one| classes[one.kind] = one.class);
    classes
}

/// Connection number `number` of this engine's in the phase, from 0.
fn connection(plan: &Plan, number: usize) -> Connection {
    let events = match plan.phase.work {
        Work::Rounds { rounds } => rounds,
        Work::Split { events } => events / u64::from(plan.phase.carriers()),
        Work::Events { .. } | Work::Timed { .. } | Work::Trace => u64::MAX,
    };
    let in_all = plan.phase.part.number_in_all(number as u64);
    let random = Random::stream(plan.seed, &[plan.phase_index as u64, in_all]);
    let cursor = plan.workload.cursor(in_all as u32 + 1, plan.phase.connections_in_all());
    Connection::new(random, cursor, events, number < plan.phase.carriers() as usize)
}

#[cfg(test)]
mod tests {
    use super::Reactors;

    #[test]
    fn there_is_one_for_each_cpu_and_up_to_eight_where_each_has_eight_connections() {
        let counts = |asked, cpus| [1, 8, 16, 32, 400].map(|of| Reactors { asked, cpus }.of(of));
        assert_eq!(counts(None, 2), [1, 2, 2, 4, 8]);
        assert_eq!(counts(None, 16), [1, 8, 16, 16, 16]);
        assert_eq!(counts(Some(3), 2), [1, 3, 3, 3, 3]);
    }
}
