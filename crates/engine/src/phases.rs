//! The conductor: takes the load through its phases and tells what happened in each.

mod intervals;
mod results;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use crate::admin::Admin;
use crate::clock::{BothClocks, Clock, nanoseconds};
use crate::failure::{Fatal, FatalCode};
use crate::job::{Job, Work};
use crate::load::gate::{Gate, Start, Window, deal};
use crate::load::reactor::{Plan, Reactor};
use crate::load::{Event, Opened, PhasePart};
use crate::os::address::Address;
use crate::os::poll::Waker;
use crate::os::signals;
use crate::os::usage::{CpuSeconds, Usage};
use crate::protocol::handshake::Login;
use crate::protocol::{ServerError, code};
use crate::report::Reporter;
use crate::report::messages::{Exit, Message};
use crate::workload::Workload;
use intervals::Intervals;

/// How long a server may take to answer whether it is still there.
const PROBE_LIMIT: Duration = Duration::from_secs(2);

/// Time between two such questions.
const PROBE_EVERY_NS: u64 = 1_000_000_000;

/// What the phases need beside the job.
pub struct Conductor<'a> {
    pub job: &'a Job,
    pub clock: Clock,
    pub address: Address,
    pub login: Login,
    pub workload: Arc<dyn Workload>,
    pub reporter: &'a Reporter,
    pub events: (Sender<Event>, Receiver<Event>),
    pub reactors: usize,
    pub pins: Option<Vec<usize>>,
}

impl Conductor<'_> {
    /// Runs every phase in turn; stops after one that was interrupted or aborted.
    pub fn run(&self) -> Result<Exit, Fatal> {
        for (index, phase) in self.job.phases.iter().enumerate() {
            let plan = Plan {
                phase_index: index,
                phase: phase.clone(),
                seed: self.job.seed,
                interval_ns: nanoseconds(self.job.interval_s),
                answer_within_ns: nanoseconds(self.job.answer_within_s),
                clock: self.clock,
                address: self.address.clone(),
                login: self.login.clone(),
                workload: self.workload.clone(),
                gate: match phase.work {
                    Work::Events { events } => Gate::sharing(events),
                    _ => Gate::default(),
                },
                reactors: self.reactors.min(phase.connections as usize),
                pins: self.pins.clone(),
            };
            let exit = self.run_phase(&plan)?;
            if exit != Exit::Ok {
                return Ok(exit);
            }
            if self.pause(phase.pause_s) {
                return Ok(Exit::Interrupted);
            }
        }
        Ok(Exit::Ok)
    }

    fn run_phase(&self, plan: &Plan) -> Result<Exit, Fatal> {
        let reactors: Vec<Reactor<'_>> = (0..plan.reactors)
            .map(|index| Reactor::new(plan, index, self.events.0.clone()))
            .collect::<Result<_, _>>()
            .map_err(|error| internal("cannot make an epoll set", error))?;
        let wakers = reactors.iter().map(Reactor::waker).collect();
        let mut watch = Watch::new(self, plan, wakers);
        watch.say(Message::PhaseStart {
            phase: plan.phase_index,
            connections: plan.phase.connections,
            label: None,
        });
        thread::scope(|scope| {
            for (index, reactor) in reactors.into_iter().enumerate() {
                thread::Builder::new()
                    .name(format!("reactor-{index}"))
                    .spawn_scoped(scope, move || reactor.run())
                    .map_err(|error| internal("cannot start a thread", error))?;
            }
            watch.follow();
            Ok(())
        })?;
        Ok(watch.end())
    }

    /// Waits; gives true when interrupted.
    fn pause(&self, seconds: f64) -> bool {
        let until = self.clock.now_ns() + nanoseconds(seconds);
        while !signals::interrupted() && self.clock.now_ns() < until {
            // The only event outside a phase is an interruption.
            let _ = self.events.1.recv_timeout(self.clock.until(until));
        }
        signals::interrupted()
    }
}

/// What the conductor knows of the phase under way.
struct Watch<'a> {
    conductor: &'a Conductor<'a>,
    plan: &'a Plan,
    wakers: Vec<Waker>,
    started: BothClocks,
    opened: Vec<Option<Opened>>,
    window: Option<Window>,
    intervals: Intervals,
    finished: Vec<Option<Box<PhasePart>>>,
    /// Reactors that have carried all their events and keep idle connections open.
    over: usize,
    /// When the server was last asked whether it is still there.
    probed_ns: Option<u64>,
    /// Reactors that have no statement under way any more.
    drained: usize,
    cpu_from: Option<CpuSeconds>,
    cpu_to: Option<CpuSeconds>,
    stopped_ns: Option<u64>,
    interrupted: bool,
    aborted: Option<String>,
}

impl<'a> Watch<'a> {
    fn new(conductor: &'a Conductor<'a>, plan: &'a Plan, wakers: Vec<Waker>) -> Self {
        let reactors = plan.reactors;
        Self {
            conductor,
            plan,
            wakers,
            started: plan.clock.with_wall_clock(),
            opened: (0..reactors).map(|_| None).collect(),
            window: None,
            intervals: Intervals::new(plan.phase_index, reactors),
            finished: (0..reactors).map(|_| None).collect(),
            over: 0,
            probed_ns: None,
            drained: 0,
            cpu_from: None,
            cpu_to: None,
            stopped_ns: None,
            interrupted: false,
            aborted: None,
        }
    }

    /// Handles events until every reactor has finished.
    fn follow(&mut self) {
        if signals::interrupted() {
            self.interrupt();
        }
        while self.finished.iter().any(Option::is_none) {
            match self.next_event() {
                Ok(event) => self.on_event(event),
                Err(RecvTimeoutError::Timeout) => self.on_clock(),
                Err(RecvTimeoutError::Disconnected) => {
                    unreachable!("the conductor keeps a sender of its own")
                }
            }
        }
    }

    fn next_event(&self) -> Result<Event, RecvTimeoutError> {
        let events = &self.conductor.events.1;
        match self.next_instant() {
            Some(at_ns) => events.recv_timeout(self.plan.clock.until(at_ns)),
            None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    /// When measuring begins or ends next.
    fn next_instant(&self) -> Option<u64> {
        let window = self.window?;
        if self.cpu_from.is_none() {
            return Some(window.measured_from_ns);
        }
        (self.cpu_to.is_none() && window.measured_to_ns != u64::MAX)
            .then_some(window.measured_to_ns)
    }

    fn on_clock(&mut self) {
        let Some(window) = self.window else { return };
        let now = self.plan.clock.now_ns();
        if self.cpu_from.is_none() && now >= window.measured_from_ns {
            self.cpu_from = Some(Usage::now().cpu);
            self.say(Message::Measuring { phase: self.plan.phase_index });
        }
        if self.cpu_to.is_none() && now >= window.measured_to_ns {
            self.cpu_to = Some(Usage::now().cpu);
        }
    }

    fn on_event(&mut self, event: Event) {
        match event {
            Event::Opened { reactor, opened } => {
                self.opened[reactor] = Some(opened);
                if self.opened.iter().all(Option::is_some) {
                    self.begin();
                }
            }
            Event::Interval { reactor, part } => {
                for message in self.intervals.add(reactor, part) {
                    self.say(Message::Interval(message));
                }
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
                    self.cpu_to.get_or_insert(Usage::now().cpu);
                }
            }
            Event::Finished { reactor, part } => {
                self.finished[reactor] = Some(part);
                for message in self.intervals.finish(reactor) {
                    self.say(Message::Interval(message));
                }
            }
            Event::Interrupted => self.interrupt(),
        }
        self.on_clock();
    }

    /// All connections are open or have failed: sets the instants and opens the gate.
    fn begin(&mut self) {
        let carriers: Vec<u32> = self.opened.iter().flatten().map(|part| part.carriers).collect();
        let opened = self.opened_in_all();
        self.say(Message::Connected {
            phase: self.plan.phase_index,
            reached: opened.reached,
            failed: opened.failed,
            errors: opened.errors.counts.clone(),
        });
        if opened.carriers == 0 {
            let reason = opened.errors.examples.values().next().cloned().unwrap_or_default();
            return self.abort(format!("no connection could be opened: {reason}"));
        }
        if self.stopped_ns.is_some() {
            return;
        }
        let start_ns = self.plan.clock.now_ns();
        let window = match self.plan.phase.work {
            // Work that is counted is counted whole, even while connections are still opening.
            Work::Rounds { .. } | Work::Events { .. } | Work::Split { .. } => {
                Window { start_ns, measured_from_ns: start_ns, measured_to_ns: u64::MAX }
            }
            Work::Timed { warmup_s, measure_s } => {
                let measured_from_ns = start_ns + nanoseconds(self.plan.phase.ramp_s + warmup_s);
                let measured_to_ns = measured_from_ns + nanoseconds(measure_s);
                Window { start_ns, measured_from_ns, measured_to_ns }
            }
        };
        self.window = Some(window);
        self.on_clock();
        self.plan.gate.open(Start { window, owners: deal(&carriers) });
        self.wake();
    }

    fn opened_in_all(&self) -> Opened {
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
    /// that opens its connections again is to see for itself.
    fn on_lost(&mut self, error: &ServerError) {
        let now = self.plan.clock.now_ns();
        let recently = self.probed_ns.is_some_and(|at_ns| now - at_ns < PROBE_EVERY_NS);
        if self.stopped_ns.is_some() || recently || self.plan.workload.policy().reopen {
            return;
        }
        let login = Login { database: None, ..self.conductor.login.clone() };
        let address = &self.conductor.address;
        if let Err(probe) = Admin::connect_within(address, &login, PROBE_LIMIT) {
            // A server that is full is still there, and of this machine's lack of ports it knows nothing.
            if probe.code != code::TOO_MANY_CONNECTIONS && !code::is_local(probe.code) {
                self.abort(format!("the server is gone: {error}; {probe}"));
            }
        }
        self.probed_ns = Some(self.plan.clock.now_ns());
    }

    fn interrupt(&mut self) {
        self.interrupted = true;
        self.stop();
    }

    fn abort(&mut self, reason: String) {
        self.aborted.get_or_insert(reason);
        self.stop();
    }

    fn stop(&mut self) {
        self.stopped_ns.get_or_insert(self.plan.clock.now_ns());
        self.plan.gate.stop();
        self.wake();
    }

    fn wake(&self) {
        self.wakers.iter().for_each(Waker::wake);
    }

    fn say(&self, message: Message) {
        self.conductor.reporter.send(&message);
    }
}

fn internal(what: &str, error: std::io::Error) -> Fatal {
    Fatal::new(FatalCode::Internal, format!("{what}: {error}"))
}
