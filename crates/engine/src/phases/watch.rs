//! What the conductor knows of one server's part of a phase, and what it does about it.

use std::time::Duration;

use super::Conductor;
use super::intervals::{self, Intervals};
use super::sliced::Sliced;
use crate::admin::Admin;
use crate::clock::{BothClocks, nanoseconds};
use crate::job::Work;
use crate::load::gate::{Start, Window, deal};
use crate::load::reactor::Plan;
use crate::load::recorder::IntervalPart;
use crate::load::{Event, Opened, PhasePart};
use crate::os::poll::Waker;
use crate::os::signals;
use crate::os::usage::{CpuSeconds, Usage};
use crate::protocol::handshake::Login;
use crate::protocol::{ServerError, code};
use crate::report::messages::{HostCpu, Message};
use crate::sample;
use crate::starts;

/// How long a server may take to answer whether it is still there.
const PROBE_LIMIT: Duration = Duration::from_secs(2);

/// From the start of a replay to the start of its trace.
const TRACE_LEAD_NS: u64 = 300_000_000;

/// Time between two such questions.
const PROBE_EVERY_NS: u64 = 1_000_000_000;

/// CPU time that was used up to an instant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spent {
    /// By this process.
    pub(super) own: CpuSeconds,
    machine: Option<HostCpu>,
}

impl Spent {
    fn now() -> Self {
        Self { own: Usage::now().cpu, machine: sample::machine_cpu() }
    }

    /// The share of the machine's CPU time since `earlier` that was busy.
    pub(super) fn machine_busy(&self, earlier: &Spent) -> Option<f64> {
        let (from, to) = (earlier.machine?, self.machine?);
        let all = to.all_s() - from.all_s();
        (all > 0.0).then(|| 1.0 - (to.unused_s() - from.unused_s()) / all)
    }
}

pub(super) struct Watch<'a> {
    pub(super) conductor: &'a Conductor<'a>,
    pub(super) plan: &'a Plan,
    wakers: Vec<Waker>,
    pub(super) started: BothClocks,
    opened: Vec<Option<Opened>>,
    /// When the load is to start, where a phase waits for that.
    start_at_ns: Option<u64>,
    /// When the load runs; none where it comes in slices.
    pub(super) window: Option<Window>,
    pub(super) sliced: Sliced,
    intervals: Intervals,
    pub(super) finished: Vec<Option<Box<PhasePart>>>,
    /// Reactors that have carried all their events and keep idle connections open.
    over: usize,
    /// When the server was last asked whether it is still there.
    probed_ns: Option<u64>,
    /// Reactors that have no statement under way any more.
    drained: usize,
    pub(super) cpu_from: Option<Spent>,
    pub(super) cpu_to: Option<Spent>,
    pub(super) stopped_ns: Option<u64>,
    pub(super) interrupted: bool,
    pub(super) aborted: Option<String>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(conductor: &'a Conductor<'a>, plan: &'a Plan, wakers: Vec<Waker>) -> Self {
        let reactors = plan.reactors;
        let mut watch = Self {
            conductor,
            plan,
            wakers,
            started: plan.clock.with_wall_clock(),
            opened: (0..reactors).map(|_| None).collect(),
            start_at_ns: None,
            window: None,
            sliced: Sliced::new(reactors),
            intervals: Intervals::new(reactors),
            finished: (0..reactors).map(|_| None).collect(),
            over: 0,
            probed_ns: None,
            drained: 0,
            cpu_from: None,
            cpu_to: None,
            stopped_ns: None,
            interrupted: false,
            aborted: None,
        };
        watch.say(Message::PhaseStart {
            server: plan.server,
            phase: plan.phase_index,
            connections: plan.phase.connections,
            label: None,
        });
        if signals::interrupted() {
            watch.interrupt();
        }
        watch
    }

    /// Every reactor has finished.
    pub(super) fn is_over(&self) -> bool {
        self.finished.iter().all(Option::is_some)
    }

    /// Its connections are open, as far as they can be, or it was stopped.
    pub(super) fn is_settled(&self) -> bool {
        self.stopped_ns.is_some() || self.opened.iter().all(Option::is_some)
    }

    /// When measuring begins or ends next.
    pub(super) fn next_instant(&self) -> Option<u64> {
        let Some(window) = self.window else {
            return self.start_at_ns.filter(|_| self.is_settled() && self.stopped_ns.is_none());
        };
        if self.cpu_from.is_none() {
            return Some(window.measured_from_ns);
        }
        (self.cpu_to.is_none() && window.measured_to_ns != u64::MAX)
            .then_some(window.measured_to_ns)
    }

    pub(super) fn on_clock(&mut self) {
        let now = self.plan.clock.now_ns();
        if self.next_instant().is_some_and(|at_ns| self.window.is_none() && now >= at_ns) {
            self.start();
        }
        let Some(window) = self.window else { return };
        if self.cpu_from.is_none() && now >= window.measured_from_ns {
            self.cpu_from = Some(Spent::now());
            self.say_measuring();
        }
        if self.cpu_to.is_none() && now >= window.measured_to_ns {
            self.cpu_to = Some(Spent::now());
        }
    }

    pub(super) fn say_measuring(&self) {
        let (server, phase) = (self.plan.server, self.plan.phase_index);
        self.say(Message::Measuring { server, phase });
    }

    pub(super) fn on_event(&mut self, event: Event) {
        match event {
            Event::Opened { reactor, opened } => {
                self.opened[reactor] = Some(opened);
                if self.opened.iter().all(Option::is_some) {
                    self.begin();
                }
            }
            Event::Interval { reactor, part } => {
                let parts = self.intervals.add(reactor, *part);
                self.take_intervals(parts);
            }
            Event::SliceOver { reactor, drained_ns, drained_queries } => {
                self.sliced.ended(reactor, drained_ns, drained_queries);
            }
            Event::Lost { error } => self.on_lost(&error),
            Event::WorkOver => {
                self.over += 1;
                if self.over == self.plan.reactors {
                    self.plan.gate.release();
                    self.wake();
                }
            }
            Event::Drained => {
                self.drained += 1;
                if self.drained == self.plan.reactors && self.cpu_from.is_some() {
                    self.cpu_to.get_or_insert_with(Spent::now);
                }
            }
            Event::Finished { reactor, part } => {
                self.finished[reactor] = Some(part);
                let parts = self.intervals.finish(reactor);
                self.take_intervals(parts);
            }
            Event::Interrupted => self.interrupt(),
            Event::Start { at_ns } => self.start_at_ns = Some(at_ns),
            Event::NoMoreStarts => self.wait_for_start(),
        }
        self.on_clock();
    }

    /// Whole intervals are messages; in slices they are slices, which wait for their drained end.
    fn take_intervals(&mut self, parts: Vec<IntervalPart>) {
        for part in parts {
            match self.plan.interval_ns {
                Some(_) => {
                    let percentile = self.conductor.job.percentile;
                    let message = intervals::message(self.plan.phase_index, &part, percentile);
                    self.say(Message::Interval(message));
                }
                None => self.sliced.part = Some(part),
            }
        }
    }

    /// All connections are open or have failed: the load starts, unless it comes in slices or waits for
    /// its start.
    fn begin(&mut self) {
        let opened = self.opened_in_all();
        self.say(Message::Connected {
            server: self.plan.server,
            phase: self.plan.phase_index,
            reached: opened.reached,
            failed: opened.failed,
            errors: opened.errors.counts.clone(),
        });
        if opened.carriers == 0 {
            let reason = opened.errors.examples.values().next().cloned().unwrap_or_default();
            return self.abort(format!("no connection could be opened: {reason}"));
        }
        if self.stopped_ns.is_some() || self.plan.interval_ns.is_none() {
            return;
        }
        if self.conductor.job.starts {
            return self.wait_for_start();
        }
        self.start();
    }

    /// A phase whose start never comes is ended.
    fn wait_for_start(&mut self) {
        if self.window.is_none() && self.start_at_ns.is_none() && starts::are_over() {
            self.interrupt();
        }
    }

    /// Sets the instants and opens the gate.
    fn start(&mut self) {
        let start_ns = self.plan.clock.now_ns();
        let window = match self.plan.phase.work {
            // Work that is counted is counted whole, even while connections are still opening.
            Work::Rounds { .. } | Work::Events { .. } | Work::Split { .. } => {
                Window { start_ns, measured_from_ns: start_ns, measured_to_ns: u64::MAX }
            }
            // Its first statements are due once their connections can be open.
            Work::Trace => {
                let lead_ns = if self.plan.is_paced { TRACE_LEAD_NS } else { 0 };
                let measured_from_ns = start_ns + lead_ns;
                Window { start_ns, measured_from_ns, measured_to_ns: u64::MAX }
            }
            Work::Timed { warmup_s, measure_s } => {
                let measured_from_ns = start_ns + nanoseconds(self.plan.phase.ramp_s + warmup_s);
                let measured_to_ns = measured_from_ns + nanoseconds(measure_s);
                Window { start_ns, measured_from_ns, measured_to_ns }
            }
        };
        self.window = Some(window);
        self.on_clock();
        self.open_gate(window);
    }

    pub(super) fn open_gate(&self, window: Window) {
        let carriers: Vec<u32> = self.opened.iter().flatten().map(|part| part.carriers).collect();
        self.plan.gate.open(Start { window, owners: deal(&carriers) });
        self.wake();
    }

    pub(super) fn opened_in_all(&self) -> Opened {
        let mut all = Opened::default();
        for part in self.opened.iter().flatten() {
            all.reached += part.reached;
            all.failed += part.failed;
            all.carriers += part.carriers;
            all.errors.merge(&part.errors);
        }
        all
    }

    /// A connection was lost: goes on if the server is still there, else ends the phase. A workload
    /// that opens its connections again finds out itself, unless other servers would wait for it.
    fn on_lost(&mut self, error: &ServerError) {
        let now = self.plan.clock.now_ns();
        let recently = self.probed_ns.is_some_and(|at_ns| now - at_ns < PROBE_EVERY_NS);
        let waits = self.plan.workload.policy().reopen && self.plan.interval_ns.is_some();
        if self.stopped_ns.is_some() || recently || waits {
            return;
        }
        let login = Login { database: None, ..self.plan.login.clone() };
        if let Err(probe) = Admin::connect_within(&self.plan.address, &login, PROBE_LIMIT) {
            // A server that is full is still there, and of this machine's lack of ports it knows nothing.
            if probe.code != code::TOO_MANY_CONNECTIONS && !code::is_local(probe.code) {
                self.abort(format!("the server is gone: {error}; {probe}"));
            }
        }
        self.probed_ns = Some(self.plan.clock.now_ns());
    }

    pub(super) fn interrupt(&mut self) {
        self.interrupted = true;
        self.stop();
    }

    pub(super) fn abort(&mut self, reason: String) {
        self.aborted.get_or_insert(reason);
        self.stop();
    }

    fn stop(&mut self) {
        self.stopped_ns.get_or_insert(self.plan.clock.now_ns());
        self.close();
    }

    /// Lets the reactors end: at once, or as soon as nothing is under way.
    pub(super) fn close(&self) {
        self.plan.gate.stop();
        self.wake();
    }

    fn wake(&self) {
        self.wakers.iter().for_each(Waker::wake);
    }

    pub(super) fn say(&self, message: Message) {
        self.conductor.reporter.send(&message);
    }
}
