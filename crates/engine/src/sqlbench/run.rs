//! A run of sql-bench: every chosen test program as a phase of its own.

use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use super::bench::{Bench, Stop};
use super::cpu::Meter;
use super::link::ServerLink;
use super::options::Options;
use super::ownership;
use super::record::{Ending, Record};
use crate::admin::Admin;
use crate::clock::{Clock, nanoseconds};
use crate::failure::{Fatal, FatalCode};
use crate::job::{Job, ServerJob, SqlBenchJob, SqlBenchProgram};
use crate::os::address::Address;
use crate::os::usage::Usage;
use crate::protocol::handshake::Login;
use crate::report::Reporter;
use crate::report::messages::{Exit, Message};
use crate::sample::{Sampled, Sampler};

/// A single statement of the suite may take minutes, so that shorter limits do not count.
const LEAST_ANSWER_LIMIT: Duration = Duration::from_secs(600);
/// How long tidying up after an interruption may take.
const TIDY_LIMIT: Duration = Duration::from_secs(20);

/// What a run needs beside the job.
pub struct Suite<'a> {
    pub job: &'a Job,
    pub server: &'a ServerJob,
    pub clock: Clock,
    pub address: Address,
    pub login: Login,
    pub reporter: &'a Reporter,
}

/// Runs the programs in the suite's order. One that fails does not keep the next from running.
///
/// # Errors
/// `not-ours` before anything was changed, when a table is in the way that mydyno has not made;
/// otherwise what kept the run from starting.
pub fn run(suite: &Suite<'_>, job: &SqlBenchJob, mut admin: Admin) -> Result<Exit, Fatal> {
    let options = job.resolved();
    let mut programs = job.groups.clone();
    programs.sort_unstable();
    programs.dedup();
    let tables: Vec<String> =
        programs.iter().flat_map(|program| (program.program().tables)(&options)).collect();
    let database = &suite.server.target.database;
    ownership::clear(&mut admin, database, &tables, &options, suite.job.drop_existing)?;
    let sampling = suite.server.sampling.as_ref();
    let server_pid = sampling.and_then(|sampling| sampling.server_pid).or(admin.server_pid());
    drop(admin);

    thread::scope(|scope| {
        let sampler = match sampling {
            None => None,
            Some(sampling) => {
                let (address, login) = (&suite.address, &suite.login);
                let server = Sampled { number: 0, sampling, address, login };
                let patience = suite.job.answer_within();
                Some(Sampler::start(scope, &server, suite.clock, patience, suite.reporter)?)
            }
        };
        // A slow reader of the messages must not slow the load.
        let (sender, receiver) = channel::<Message>();
        let teller = thread::Builder::new()
            .name("messages".into())
            .spawn_scoped(scope, move || {
                receiver.iter().for_each(|message| suite.reporter.send(&message));
            })
            .map_err(|error| {
                Fatal::new(FatalCode::Internal, format!("cannot start a thread: {error}"))
            })?;
        let exit = suite.run_all(&programs, &options, Meter { server_pid }, &sender);
        drop(sender);
        // A panic would have ended the process.
        let _ = teller.join();
        if let Some(sampler) = sampler {
            sampler.stop();
        }
        Ok(exit)
    })
}

impl Suite<'_> {
    fn run_all(
        &self,
        programs: &[SqlBenchProgram],
        options: &Options,
        meter: Meter,
        messages: &Sender<Message>,
    ) -> Exit {
        let mut exit = Exit::Ok;
        for (phase, &program) in programs.iter().enumerate() {
            let interval_ns = nanoseconds(self.job.interval_s);
            let record = Record::new(phase, program.name(), self.clock, interval_ns);
            let longest_s = options.time_limit_s.max(self.job.answer_within_s);
            let link = ServerLink {
                address: self.address.clone(),
                login: self.login.clone(),
                answer_limit: Duration::from_secs_f64(longest_s).max(LEAST_ANSWER_LIMIT),
                admin: None,
            };
            let bench = Bench::new(
                Box::new(link),
                options.clone(),
                self.job.seed,
                self.clock,
                meter,
                messages.clone(),
                record,
            );
            match self.run_program(bench, program) {
                Ok(()) => {}
                Err(Stop::Failed(_)) => exit = Exit::Aborted,
                Err(Stop::Lost(_)) => return Exit::Aborted,
                Err(Stop::Interrupted) => return Exit::Interrupted,
            }
        }
        exit
    }

    /// Runs one program as a phase; whatever happens, it ends with `phase_end`.
    fn run_program(&self, mut bench: Bench, program: SqlBenchProgram) -> Result<(), Stop> {
        let phase = bench.record.phase();
        bench.say(Message::PhaseStart {
            server: 0,
            phase,
            connections: 1,
            label: Some(program.name()),
        });
        if let Some(reason) = program.skipped(bench.options()) {
            let aborted = Some(format!("skipped: {reason}"));
            bench.finish(Ending { aborted, ..Ending::default() });
            return Ok(());
        }
        let cpu = Usage::now().cpu;
        let mut ending = Ending::default();
        let ended = carry_out(&mut bench, program, &mut ending);
        ending.client_cpu = Usage::now().cpu.since(cpu);
        match &ended {
            Ok(()) => {}
            Err(Stop::Interrupted) => ending.interrupted = true,
            Err(Stop::Failed(reason)) => ending.aborted = Some(reason.clone()),
            Err(Stop::Lost(error)) => ending.aborted = Some(format!("the server is gone: {error}")),
        }
        if ended.is_err() {
            self.tidy_up(&mut bench);
        }
        bench.finish(ending);
        ended
    }

    /// Drops what a program that was cut short leaves behind. A server that is gone keeps it.
    fn tidy_up(&self, bench: &mut Bench) {
        let under_way = bench.connection_id();
        bench.disconnect();
        let names: Vec<String> = bench.tables_made().iter().cloned().collect();
        let Ok(mut admin) = Admin::connect_within(&self.address, &self.login, TIDY_LIMIT) else {
            return;
        };
        admin.ignore_signals();
        admin.answer_within(TIDY_LIMIT);
        if let Some(id) = under_way {
            // Its last statement may still run, and would hold the table.
            let _ = admin.execute(format!("KILL {id}").as_bytes());
        }
        // What cannot be dropped now is dropped before the next run.
        let _ = ownership::drop_tables(&mut admin, &names);
    }
}

pub(super) fn carry_out(
    bench: &mut Bench,
    program: SqlBenchProgram,
    ending: &mut Ending,
) -> Result<(), Stop> {
    // The suite asks for the version on a connection of its own.
    let opened = bench.connect();
    let phase = bench.record.phase();
    let (reached, failed) = if opened.is_ok() { (1, 0) } else { (0, 1) };
    let errors = bench.record.error_counts();
    bench.say(Message::Connected { server: 0, phase, reached, failed, errors });
    opened?;
    ending.connected = true;
    bench.query("SELECT VERSION()")?;
    bench.query("SHOW STATUS LIKE 'ssl_version'")?;
    if program.program().connected {
        bench.connect()?;
    } else {
        bench.disconnect();
    }
    ending.measured_from_ns = Some(bench.begin_measuring());
    bench.say(Message::Measuring { server: 0, phase });
    (program.program().run)(bench)?;
    bench.disconnect();
    Ok(())
}
