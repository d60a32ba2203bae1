//! The measured work: send a statement, follow its answer, go on.

use super::{DRAIN_INTERRUPTED_NS, DRAIN_NS, Reactor, Stretch};
use crate::load::arrival::{Backlog, Schedule};
use crate::load::connection::{Handle, Stage};
use crate::load::gate::Start;
use crate::protocol::response::{Outcome, Response};
use crate::protocol::{ServerError, code, commands};
use crate::random::Random;
use crate::workload::Action;

/// Keeps the stream of arrivals apart from those of the connections.
const ARRIVALS: u64 = u64::MAX;

impl Reactor<'_> {
    /// Begins the load on every open connection.
    pub(super) fn start(&mut self, start: Start) {
        self.stretch = Stretch::Running;
        self.recorder.start(start.window, self.open);
        let open: Vec<usize> = (0..self.connections.len())
            .filter(|&index| matches!(self.connections[index].stage, Stage::Idle))
            .collect();
        self.active = open.len();
        if open.is_empty() {
            return self.go_on_running();
        }
        let path = [self.plan.phase_index as u64, ARRIVALS, self.index as u64];
        let random = Random::stream(self.plan.seed, &path);
        let begin = start.window.start_ns;
        let arrival = self.plan.phase.arrival;
        match Schedule::new(arrival, begin, &start.owners, self.index, random) {
            Some(schedule) => {
                let rounds = self.connections[open[0]].events_left;
                let events = rounds.saturating_mul(open.len() as u64);
                self.backlog = Some(Backlog::new(schedule, events));
                self.idle.extend(open);
            }
            None => {
                for index in open {
                    let now = self.now();
                    self.next_event(index, now);
                }
            }
        }
        self.go_on_running();
    }

    /// What the clock asks for: ends of intervals, arrivals, the end of the phase.
    pub(super) fn go_on_running(&mut self) {
        let now = self.now();
        if self.plan.gate.stopped() {
            return self.drain(DRAIN_INTERRUPTED_NS);
        }
        if now >= self.recorder.boundary_ns() && !self.recorder.cross(now) {
            return self.drain(DRAIN_NS);
        }
        self.serve_arrivals(now);
        let arrivals_over = self.backlog.as_ref().is_none_or(Backlog::is_over);
        let all_idle = self.idle.len() >= self.active;
        if self.active == 0 || (self.backlog.is_some() && arrivals_over && all_idle) {
            self.drain(0);
        }
    }

    /// Gives due events to free connections.
    fn serve_arrivals(&mut self, now: u64) {
        let Some(backlog) = &mut self.backlog else {
            return;
        };
        backlog.advance_to(now);
        while let Some(index) = self.idle.pop_front() {
            let Some(backlog) = &mut self.backlog else {
                return;
            };
            match backlog.take() {
                Some(intended) => self.begin_event(index, intended),
                None => {
                    self.idle.push_front(index);
                    break;
                }
            }
        }
        if let Some(backlog) = &mut self.backlog {
            backlog.note();
        }
    }

    /// Takes bytes from the server.
    #[inline]
    pub(super) fn on_bytes(&mut self, index: usize, mut bytes: &[u8]) {
        let mut frames = std::mem::take(&mut self.connections[index].frames);
        while let Some(packet) = frames.next(&mut bytes) {
            let connection = &mut self.connections[index];
            match connection.stage {
                Stage::Busy | Stage::RollingBack { .. } => {
                    if let Some(outcome) = connection.response.take(packet) {
                        self.on_outcome(index, outcome);
                    }
                }
                Stage::Preparing(number) => {
                    if let Some(outcome) = connection.response.take(packet) {
                        self.prepared(index, number, outcome);
                    }
                }
                Stage::Greeting(_) => {
                    let stage = std::mem::replace(&mut connection.stage, Stage::Closed);
                    let Stage::Greeting(handshake) = stage else { unreachable!("just matched") };
                    self.greet(index, handshake, packet);
                }
                // The server says why before it closes an idle connection.
                Stage::Idle => {
                    let error = ServerError::from_packet(packet.head);
                    self.lost(index, error.code, &error.message);
                }
                Stage::Waiting | Stage::Dialing | Stage::Closed => break,
            }
        }
        self.connections[index].frames = frames;
    }

    /// A statement has been answered.
    #[inline]
    fn on_outcome(&mut self, index: usize, outcome: Outcome) {
        let now = self.now();
        let connection = &mut self.connections[index];
        if let Stage::RollingBack { again } = connection.stage {
            return self.rolled_back(index, again, now);
        }
        match outcome {
            Outcome::Done { rows } => {
                let latency = now.saturating_sub(connection.statement_ns);
                self.recorder.statement(connection.kind, now, latency, rows);
                self.go_on(index, now);
            }
            Outcome::Failed(error) => self.on_error(index, &error, now),
            Outcome::Prepared { .. } => unreachable!("nothing is being prepared"),
        }
    }

    #[cold]
    fn on_error(&mut self, index: usize, error: &ServerError, now: u64) {
        let ignored = code::is_ignored(error.code);
        self.recorder.failure(self.connections[index].kind, now, error, ignored);
        let rolled_back_by_server = error.code == code::DEADLOCK;
        if self.plan.workload.transactional() && !rolled_back_by_server {
            self.outbox.clear();
            commands::query(b"ROLLBACK", &mut self.outbox);
            let connection = &mut self.connections[index];
            connection.response = Response::to_query(self.no_eof);
            connection.stage = Stage::RollingBack { again: ignored };
            self.send(index);
        } else {
            self.rolled_back(index, ignored, now);
        }
    }

    /// Starts the event again after an error that is ignored (its latency goes on counting from
    /// the first start), or gives it up.
    fn rolled_back(&mut self, index: usize, again: bool, now: u64) {
        if again {
            self.plan.workload.restart(&mut self.connections[index].cursor);
            self.go_on(index, now);
        } else {
            self.next_event(index, now);
        }
    }

    /// Begins the connection's next event, if there is one.
    #[inline]
    fn next_event(&mut self, index: usize, now: u64) {
        if self.stretch != Stretch::Running {
            self.connections[index].stage = Stage::Idle;
            return;
        }
        if let Some(backlog) = &mut self.backlog {
            backlog.advance_to(now);
            match backlog.take() {
                Some(intended) => self.begin_event(index, intended),
                None => {
                    self.connections[index].stage = Stage::Idle;
                    self.idle.push_back(index);
                }
            }
            return;
        }
        let connection = &mut self.connections[index];
        if connection.events_left == 0 {
            connection.stage = Stage::Idle;
            self.active -= 1;
            return;
        }
        connection.events_left -= 1;
        self.begin_event(index, now);
    }

    #[inline]
    fn begin_event(&mut self, index: usize, intended_ns: u64) {
        let connection = &mut self.connections[index];
        self.plan.workload.rewind(&mut connection.cursor);
        connection.event_ns = intended_ns;
        self.go_on(index, intended_ns);
    }

    /// Carries out the connection's next action, unless the phase is over. The latency of a statement
    /// counts from `from_ns`: the intended start of the event, or the end of the statement before.
    #[inline]
    fn go_on(&mut self, index: usize, from_ns: u64) {
        self.values.clear();
        let connection = &mut self.connections[index];
        let action = self.plan.workload.next(
            &mut connection.cursor,
            &mut connection.random,
            &mut self.values,
        );
        match action {
            Action::Send(statement) => self.send_statement(index, statement, from_ns),
            Action::End { counts } => {
                if counts {
                    let latency = from_ns.saturating_sub(connection.event_ns);
                    self.recorder.transaction(from_ns, latency);
                }
                self.next_event(index, from_ns);
            }
            Action::Pause(_) | Action::Reconnect => unreachable!("no workload asks for it yet"),
        }
    }

    #[inline]
    fn send_statement(&mut self, index: usize, statement: usize, from_ns: u64) {
        let connection = &mut self.connections[index];
        if self.stretch != Stretch::Running {
            connection.stage = Stage::Idle;
            return;
        }
        self.outbox.clear();
        let template = &self.templates[statement];
        match connection.handles.get(statement) {
            Some(&Handle::Prepared(id)) => {
                template.write_execute(id, &self.values, &mut self.outbox);
            }
            Some(Handle::Text) | None => template.write_query(&self.values, &mut self.outbox),
        }
        connection.kind = self.kinds[statement];
        connection.statement_ns = from_ns;
        connection.response = Response::to_query(self.no_eof);
        connection.stage = Stage::Busy;
        self.send(index);
    }
}
