//! The measured work: send a statement, follow its answer, go on.

use super::{DRAIN_INTERRUPTED_NS, DRAIN_NS, Reactor, Stretch};
use crate::clock::nanoseconds;
use crate::job::Work;
use crate::load::Event;
use crate::load::arrival::{Backlog, Schedule};
use crate::load::connection::{Connection, Handle, Stage, Then};
use crate::load::gate::{Start, share};
use crate::protocol::capture::Capture;
use crate::protocol::response::{Outcome, Response};
use crate::protocol::{compression, tls};
use crate::random::Random;
use crate::workload::{Action, Open};

/// Keeps the stream of arrivals apart from those of the connections.
const ARRIVALS: u64 = u64::MAX;
/// Rest after an event that did nothing at all, so that such events cannot hold the reactor.
pub(super) const EMPTY_EVENT_NS: u64 = 1_000;

impl Reactor<'_> {
    /// Begins the load, or a slice of it, on every connection that carries events.
    pub(super) fn start(&mut self, start: Start) {
        self.stretch = Stretch::Running;
        self.recorder.start(start.window, self.open);
        self.starts += 1;
        if self.starts > 1 {
            return self.start_again();
        }
        if let Some(replay) = &mut self.replay {
            replay.begin(start.window.measured_from_ns);
        }
        let carriers: Vec<usize> =
            (0..self.connections.len()).filter(|&index| self.will_carry(index)).collect();
        self.active = carriers.len();
        self.schedule_arrivals(&start, &carriers);
        for &index in &carriers {
            self.connections[index].active = true;
        }
        if self.plan.phase.ramp_s > 0.0 {
            self.ramp(start.window.start_ns);
        } else {
            for index in carriers {
                let now = self.now();
                self.next_event(index, now);
            }
        }
        let now = self.now();
        self.go_on_running(now);
    }

    /// Begins another slice. Connections that rest, even beyond their time, are woken by their timers.
    fn start_again(&mut self) {
        for index in 0..self.connections.len() {
            let connection = &self.connections[index];
            if connection.active && matches!(connection.stage, Stage::Idle) {
                let now = self.now();
                self.next_event(index, now);
            }
        }
    }

    /// What is left of a slice: reports once every event has ended.
    pub(super) fn go_on_finishing(&mut self) {
        if self.plan.gate.stopped() {
            self.drain(DRAIN_INTERRUPTED_NS);
        } else if !self.connections.iter().any(Connection::is_in_event) {
            self.stretch = Stretch::Ready;
            self.report(Event::SliceOver { reactor: self.index, drained_ns: self.now() });
        }
    }

    fn schedule_arrivals(&mut self, start: &Start, carriers: &[usize]) {
        if carriers.is_empty() {
            return;
        }
        let reactor = self.plan.number_in_all(self.index);
        let path = [self.plan.phase_index as u64, ARRIVALS, reactor];
        let random = Random::stream(self.plan.seed, &path);
        let arrival = self.plan.phase.arrival;
        let begin = start.window.start_ns + nanoseconds(self.plan.phase.first_s);
        let events = match self.plan.phase.work {
            Work::Events { events } => share(&start.owners, self.index, events),
            _ => self.connections[carriers[0]].events_left.saturating_mul(carriers.len() as u64),
        };
        self.backlog = Schedule::new(arrival, begin, &start.owners, self.index, random)
            .map(|schedule| Backlog::new(schedule, events));
    }

    /// Lets the connections begin one after the other.
    fn ramp(&mut self, start_ns: u64) {
        let ramp_ns = nanoseconds(self.plan.phase.ramp_s) as u128;
        let all = u128::from(self.plan.phase.connections);
        for index in 0..self.connections.len() {
            let number = (self.index + index * self.plan.reactors) as u128;
            let then = if self.connections[index].carries { Then::Next } else { Then::Idle };
            self.rest(index, start_ns + (ramp_ns * number / all) as u64, then);
        }
    }

    /// What the clock asks for: ends of intervals, arrivals, the end of the phase.
    pub(super) fn go_on_running(&mut self, now: u64) {
        if self.plan.gate.stopped() {
            return self.drain(DRAIN_INTERRUPTED_NS);
        }
        if now >= self.recorder.boundary_ns() && !self.recorder.cross(now) {
            if self.plan.interval_ns.is_some() {
                return self.drain(DRAIN_NS);
            }
            self.stretch = Stretch::Finishing;
            return self.go_on_finishing();
        }
        if self.replay.is_some() {
            self.take_steps(now);
            if self.is_replayed() {
                self.end_work();
            }
            return;
        }
        self.serve_arrivals(now);
        let arrivals_over = self.backlog.as_ref().is_some_and(Backlog::is_over);
        let all_idle = self.idle.len() >= self.active;
        if self.active == 0 || (arrivals_over && all_idle) {
            self.end_work();
        }
    }

    /// Closes, unless idle connections are to be kept until the other reactors are done as well.
    fn end_work(&mut self) {
        if self.plan.phase.active.is_none() || self.plan.gate.released() {
            self.drain(0);
        } else if !std::mem::replace(&mut self.told_over, true) {
            self.report(Event::WorkOver);
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
        while let Some(packet) = frames.next(&mut bytes, &mut self.connections[index].next_number) {
            let packet = match packet {
                Ok(packet) => packet,
                Err(disorder) => {
                    self.out_of_order(index, disorder);
                    break;
                }
            };
            let connection = &mut self.connections[index];
            match connection.stage {
                Stage::Busy | Stage::RollingBack(_) => {
                    if let Some(outcome) = connection.response.take(packet) {
                        self.on_outcome(index, outcome);
                    }
                }
                Stage::Replaying => {
                    self.sum_along(index, packet);
                    if let Some(outcome) = self.connections[index].response.take(packet) {
                        self.replayed(index, outcome);
                    }
                }
                Stage::Choosing => {
                    if let Some(outcome) = connection.response.take(packet) {
                        self.chosen(index, outcome);
                    }
                }
                Stage::Reading => {
                    self.read_along(index, packet);
                    if let Some(outcome) = self.connections[index].response.take(packet) {
                        self.on_outcome(index, outcome);
                    }
                }
                Stage::Leaving => {
                    self.note_result_set(index, packet);
                    if let Some(outcome) = self.connections[index].response.take(packet) {
                        self.on_outcome(index, outcome);
                    }
                }
                Stage::Session(number) => {
                    if let Some(outcome) = connection.response.take(packet) {
                        self.session_answered(index, number, outcome);
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
                    let before = connection.wraps();
                    self.greet(index, handshake, packet);
                    let (compressed, encrypted) = self.connections[index].wraps();
                    if !bytes.is_empty() && (compressed, encrypted) != before {
                        let error = match compressed {
                            true => compression::not_compressed(),
                            false => tls::not_encrypted(),
                        };
                        match self.connections[index].is_opening() {
                            true => self.failed_to_open(index, &error),
                            false => self.lost(index, error.code, &error.message),
                        }
                        break;
                    }
                }
                // The server says why before it closes a connection that waits for nothing.
                Stage::Idle | Stage::Resting(_) if connection.socket.is_some() => {
                    let error = packet.error();
                    self.lost(index, error.code, &error.message);
                }
                // What is left belongs to a connection that is closed by now.
                Stage::Idle
                | Stage::Resting(_)
                | Stage::Waiting
                | Stage::Dialing
                | Stage::Closed => break,
            }
        }
        self.connections[index].frames = frames;
    }

    /// A statement has been answered.
    #[inline]
    fn on_outcome(&mut self, index: usize, outcome: Outcome) {
        let now = self.now();
        let connection = &mut self.connections[index];
        if let Stage::RollingBack(then) = connection.stage {
            return self.rolled_back(index, then, now);
        }
        if self.statements[connection.statement].special {
            return self.on_special(index, outcome, now);
        }
        match outcome {
            Outcome::Done { rows } => self.succeeded(index, now, rows),
            Outcome::Failed(error) => self.on_error(index, &error, now),
            Outcome::Prepared { .. } => unreachable!("nothing is being prepared"),
        }
    }

    #[inline]
    pub(super) fn succeeded(&mut self, index: usize, now: u64, rows: u64) {
        let connection = &self.connections[index];
        let latency = now.saturating_sub(connection.statement_ns);
        let kind = self.statements[connection.statement].kind;
        self.recorder.statement(kind, now, latency, rows);
        self.go_on(index, now);
    }

    /// Begins the connection's next event, if there is one.
    #[inline]
    pub(super) fn next_event(&mut self, index: usize, now: u64) {
        if self.stretch != Stretch::Running {
            self.connections[index].stage = Stage::Idle;
            return;
        }
        if self.replay.is_some() {
            return self.replay_next(index, now);
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
        if connection.events_left == 0 || (self.shared && !self.plan.gate.take_event()) {
            connection.stage = Stage::Idle;
            return self.retire(index);
        }
        connection.events_left -= 1;
        self.begin_event(index, now);
    }

    #[inline]
    fn begin_event(&mut self, index: usize, intended_ns: u64) {
        let connection = &mut self.connections[index];
        connection.event_ns = intended_ns;
        self.plan.workload.rewind(&mut connection.cursor);
        self.enter_event(index, intended_ns);
    }

    /// Begins the same event again, with new values.
    pub(super) fn repeat_event(&mut self, index: usize, now: u64) {
        self.plan.workload.restart(&mut self.connections[index].cursor);
        self.enter_event(index, now);
    }

    /// Goes to the first step of the event, over a connection that may have to be opened.
    #[inline]
    fn enter_event(&mut self, index: usize, from_ns: u64) {
        if self.connections[index].socket.is_none() {
            return self.open_for_event(index, from_ns);
        }
        self.go_on(index, from_ns);
    }

    fn open_for_event(&mut self, index: usize, from_ns: u64) {
        self.connections[index].statement_ns = from_ns;
        let now = self.now();
        self.open(index, Then::Step, now);
    }

    /// Goes on after an event, however it ended.
    #[inline]
    pub(super) fn end_event(&mut self, index: usize, now: u64) {
        if self.policy.open == Open::Event {
            self.hang_up(index);
        }
        self.think(index, now);
    }

    pub(super) fn hang_up(&mut self, index: usize) {
        self.take_leave(index);
        if self.connections[index].close() {
            self.open -= 1;
            self.recorder.connections(self.open);
        }
    }

    /// Carries out the connection's next action, unless the phase is over. The latency of a statement
    /// counts from `from_ns`: the intended start of the event, or the end of the statement before.
    #[inline]
    pub(super) fn go_on(&mut self, index: usize, from_ns: u64) {
        if self.replay.is_some() {
            return self.replay_next(index, from_ns);
        }
        self.values.clear();
        let connection = &mut self.connections[index];
        let action = self.plan.workload.next(
            &mut connection.cursor,
            &mut connection.random,
            &mut self.values,
        );
        match action {
            Action::Send(statement) => self.send_statement(index, statement, from_ns),
            Action::End { counts } => self.leave_event(index, counts, from_ns),
            Action::Pause(_) | Action::Reconnect if !self.drives() => {
                self.stop(index);
            }
            Action::Pause(length_ns) => {
                let at_ns = self.now().saturating_add(length_ns);
                self.rest(index, at_ns, Then::Step);
            }
            Action::Reconnect => {
                self.hang_up(index);
                self.open_for_event(index, from_ns);
            }
        }
    }

    #[inline]
    fn leave_event(&mut self, index: usize, counts: Option<usize>, now: u64) {
        let latency = now.saturating_sub(self.connections[index].event_ns);
        if let Some(number) = counts {
            self.recorder.transaction(index, number, now, latency);
        }
        if latency == 0 {
            self.rest(index, self.now() + EMPTY_EVENT_NS, Then::Next);
        } else if counts.is_some() {
            self.end_event(index, now);
        } else {
            self.roll_back(index, Then::Next, now);
        }
    }

    /// Ends the connection's work within an event, as the phase is over. An open transaction goes with
    /// the connection: its locks would keep statements of others from being answered.
    pub(super) fn stop(&mut self, index: usize) {
        self.connections[index].stage = Stage::Idle;
        if self.connections[index].in_transaction {
            self.hang_up(index);
        }
    }

    #[inline]
    fn send_statement(&mut self, index: usize, statement: usize, from_ns: u64) {
        if !self.drives() {
            return self.stop(index);
        }
        if self.connections[index].unread_ns.is_some() {
            return self.out_of_sync(index, statement);
        }
        let connection = &mut self.connections[index];
        self.outbox.clear();
        let compiled = &self.statements[statement];
        let template = &compiled.template;
        let mut binary = false;
        match connection.handles.get(statement) {
            Some(&Handle::Prepared(id)) => {
                binary = true;
                template.write_execute(id, &self.values, &mut self.outbox);
            }
            Some(Handle::Text) | None => template.write_query(&self.values, &mut self.outbox),
        }
        connection.statement = statement;
        connection.statement_ns = from_ns;
        connection.response = Response::to_query(self.no_eof);
        connection.stage = if compiled.unread { Stage::Leaving } else { Stage::Busy };
        if let Some(read) = compiled.read {
            let capture = connection.capture.get_or_insert_with(|| Box::new(Capture::new(read)));
            capture.begin(read, binary);
            connection.stage = Stage::Reading;
        }
        self.send(index);
    }
}
