//! Connections that rest: between events, within one, or before they are tried again.

use super::{Plan, Reactor, Stretch};
use crate::clock::nanoseconds;
use crate::job::{Think, ThinkKind};
use crate::load::connection::{Stage, Then};
use crate::random::Random;
use crate::workload::Open;

/// Keeps the stream of think times apart from those of the connections.
const THINK_TIMES: u64 = u64::MAX - 1;

/// Draws the rests between events.
pub(super) struct Thinking {
    think: Think,
    random: Random,
}

impl Thinking {
    pub fn new(plan: &Plan, reactor: usize) -> Option<Self> {
        let path = [plan.phase_index as u64, THINK_TIMES, plan.number_in_all(reactor)];
        let think = plan.phase.think?;
        Some(Self { think, random: Random::stream(plan.seed, &path) })
    }

    fn draw_ns(&mut self) -> u64 {
        let times = match self.think.kind {
            ThinkKind::Constant => 1.0,
            ThinkKind::Exponential => -(1.0 - self.random.unit()).ln(),
            ThinkKind::Uniform => 2.0 * self.random.unit(),
        };
        nanoseconds(self.think.mean_s * times)
    }
}

impl Reactor<'_> {
    /// Leaves the connection alone until `at_ns`.
    pub(super) fn rest(&mut self, index: usize, at_ns: u64, then: Then) {
        self.connections[index].stage = Stage::Resting(then);
        self.set_timer(index, at_ns);
    }

    pub(super) fn set_timer(&mut self, index: usize, at_ns: u64) {
        self.connections[index].wake_ns = at_ns;
        self.timers.set(at_ns, index);
    }

    /// Goes on with every connection whose time has come.
    #[cold]
    pub(super) fn wake_rested(&mut self, now: u64) {
        while let Some((at_ns, index)) = self.timers.take(now) {
            let connection = &self.connections[index];
            match connection.stage {
                _ if connection.wake_ns != at_ns => {}
                Stage::Waiting => self.dial(index),
                Stage::Resting(then) => self.wake_up(index, then, now),
                _ => {}
            }
        }
    }

    /// A connection that was lost, or that opens while the load ramps up, is opened first.
    fn wake_up(&mut self, index: usize, then: Then, now: u64) {
        let connection = &self.connections[index];
        let first = !connection.reached && (self.policy.open == Open::Phase || !connection.carries);
        if connection.socket.is_none() && (connection.lost || first) {
            self.open(index, then, now);
        } else {
            self.proceed(index, then, now);
        }
    }

    pub(super) fn proceed(&mut self, index: usize, then: Then, now: u64) {
        if !self.drives() {
            self.connections[index].stage = Stage::Idle;
            return;
        }
        match then {
            Then::Step => self.go_on(index, now),
            Then::Again => self.repeat_event(index, now),
            Then::Next => self.next_event(index, now),
            Then::Start | Then::Idle => self.connections[index].stage = Stage::Idle,
        }
    }

    /// Rests between two events, if the phase has think times.
    #[inline]
    pub(super) fn think(&mut self, index: usize, now: u64) {
        match &mut self.thinking {
            Some(thinking) if matches!(self.stretch, Stretch::Running | Stretch::Finishing) => {
                let at_ns = now + thinking.draw_ns();
                self.rest(index, at_ns, Then::Next);
            }
            _ => self.next_event(index, now),
        }
    }
}
