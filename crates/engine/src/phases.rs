//! The conductor: takes the load through its phases and reports what happened in each.

mod intervals;
mod results;
mod sliced;
mod slices;
mod watch;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;

use crate::clock::{Clock, nanoseconds};
use crate::failure::{Fatal, FatalCode};
use crate::job::{Job, Phase, ReplayJob, ServerJob, Work};
use crate::load::gate::Gate;
use crate::load::reactor::{Plan, Reactor, Reactors};
use crate::load::{Event, ServerEvent};
use crate::os::address::Address;
use crate::os::poll::Waker;
use crate::os::signals;
use crate::protocol::handshake::Login;
use crate::replay::feed::Feed;
use crate::replay::tally::Summary;
use crate::report::Reporter;
use crate::report::messages::{Exit, Message};
use crate::starts;
use crate::workload::Workload;
use slices::Rounds;
use watch::Watch;

/// What the phases need in addition to the job.
pub struct Conductor<'a> {
    pub job: &'a Job,
    pub clock: Clock,
    pub servers: Vec<Server<'a>>,
    pub reporter: &'a Reporter,
    pub events: (Sender<ServerEvent>, Receiver<ServerEvent>),
    pub reactors: Reactors,
    pub pins: Option<Vec<usize>>,
}

/// A server that is driven.
pub struct Server<'a> {
    pub job: &'a ServerJob,
    pub address: Address,
    pub login: Login,
    pub workload: Arc<dyn Workload>,
    /// In place of a program.
    pub replay: Option<&'a ReplayJob>,
}

impl Conductor<'_> {
    /// Runs every phase in turn; stops after one that was interrupted, or in which the last server was
    /// lost. A server whose phase was aborted takes no part in the next ones.
    pub fn run(&self) -> Result<Exit, Fatal> {
        let mut servers: Vec<usize> = (0..self.servers.len()).collect();
        for index in 0..self.job.servers[0].phases.len() {
            let plans: Vec<Plan> = servers.iter().map(|&server| self.plan(server, index)).collect();
            let exits = self.run_phase(&plans)?;
            if exits.contains(&Exit::Interrupted) {
                return Ok(Exit::Interrupted);
            }
            let mut exits = exits.into_iter();
            servers.retain(|_| exits.next() == Some(Exit::Ok));
            if servers.is_empty() {
                return Ok(Exit::Aborted);
            }
            let pauses_s = plans.iter().map(|plan| plan.phase.pause_s);
            if self.pause(pauses_s.fold(0.0, f64::max)) {
                return Ok(Exit::Interrupted);
            }
        }
        Ok(Exit::Ok)
    }

    fn plan(&self, number: usize, index: usize) -> Plan {
        let server = &self.servers[number];
        let phase: &Phase = &server.job.phases[index];
        Plan {
            server: number,
            phase_index: index,
            phase: phase.clone(),
            seed: self.job.seed,
            interval_ns: match &self.job.slices {
                None => Some(nanoseconds(self.job.interval_s)),
                Some(_) => None,
            },
            answer_within_ns: nanoseconds(self.job.answer_within_s),
            clock: self.clock,
            address: server.address.clone(),
            login: server.login.clone(),
            workload: server.workload.clone(),
            is_paced: server.replay.is_some_and(|replay| replay.speed.is_some()),
            gate: match phase.work {
                Work::Events { events } => Gate::sharing(events),
                _ => Gate::default(),
            },
            reactors: self.reactors.of(phase.connections),
            pins: self.pins.clone(),
        }
    }

    /// Runs one phase on all servers, and gives how it ended on each.
    fn run_phase(&self, plans: &[Plan]) -> Result<Vec<Exit>, Fatal> {
        let mut reactors = Vec::new();
        let mut watches = Vec::new();
        let mut feeds = Vec::new();
        for plan in plans {
            let mut lanes = Vec::new();
            if let Some(job) = self.servers[plan.server].replay {
                let (feed, of_reactors) = Feed::start(job, plan.phase.connections, plan.reactors)?;
                feeds.push((plan.server, feed));
                lanes = of_reactors;
            }
            let mut lanes = lanes.into_iter();
            let of_server: Vec<Reactor<'_>> = (0..plan.reactors)
                .map(|index| Reactor::new(plan, index, self.events.0.clone(), lanes.next()))
                .collect::<Result<_, _>>()
                .map_err(|error| internal("cannot make an epoll set", error))?;
            let wakers: Vec<Waker> = of_server.iter().map(Reactor::waker).collect();
            if let Some((_, feed)) = feeds.last() {
                feed.wake(wakers.clone());
            }
            watches.push(Watch::new(self, plan, wakers));
            reactors.extend(of_server);
        }
        thread::scope(|scope| {
            for (index, reactor) in reactors.into_iter().enumerate() {
                thread::Builder::new()
                    .name(format!("reactor-{index}"))
                    .spawn_scoped(scope, move || reactor.run())
                    .map_err(|error| internal("cannot start a thread", error))?;
            }
            self.follow(&mut watches);
            Ok(())
        })?;
        for (server, feed) in feeds {
            let summary = Summary { server, ..feed.finish()? };
            self.reporter.send(&Message::Replay(Box::new(summary)));
        }
        Ok(watches.into_iter().map(Watch::end).collect())
    }

    /// Handles events until every reactor has finished.
    fn follow(&self, watches: &mut [Watch<'_>]) {
        let mut rounds = self.job.slices.as_ref().map(|slices| Rounds::new(self, slices, watches));
        while !watches.iter().all(Watch::is_over) {
            let instants = watches.iter().filter_map(Watch::next_instant);
            let at_ns = instants.chain(rounds.as_ref().and_then(Rounds::limit_ns)).min();
            match self.next_event(at_ns) {
                Ok((_, Event::Interrupted)) => watches.iter_mut().for_each(Watch::interrupt),
                Ok((server, event)) => {
                    let watch = watches.iter_mut().find(|watch| watch.plan.server == server);
                    watch.expect("reactors belong to servers of the phase").on_event(event);
                }
                Err(RecvTimeoutError::Timeout) => watches.iter_mut().for_each(Watch::on_clock),
                Err(RecvTimeoutError::Disconnected) => {
                    unreachable!("the conductor keeps a sender of its own")
                }
            }
            if let Some(rounds) = &mut rounds {
                rounds.advance(watches);
            }
        }
    }

    fn next_event(&self, at_ns: Option<u64>) -> Result<ServerEvent, RecvTimeoutError> {
        let events = &self.events.1;
        match at_ns {
            Some(at_ns) => events.recv_timeout(self.clock.until(at_ns)),
            None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    /// Waits for the end of the load of the engines that share it; gives true when interrupted.
    pub fn wait_for_others(&self) -> bool {
        while self.job.starts && !starts::are_over() && !signals::interrupted() {
            let _ = self.events.1.recv();
        }
        signals::interrupted()
    }

    /// Waits; gives true when interrupted.
    fn pause(&self, seconds: f64) -> bool {
        let until = self.clock.now_ns() + nanoseconds(seconds);
        while !signals::interrupted() && self.clock.now_ns() < until {
            // No event outside a phase needs an answer.
            let _ = self.events.1.recv_timeout(self.clock.until(until));
        }
        signals::interrupted()
    }
}

fn internal(what: &str, error: std::io::Error) -> Fatal {
    Fatal::new(FatalCode::Internal, format!("{what}: {error}"))
}
