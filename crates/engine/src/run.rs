//! The story of one run: connect, prepare, load phase by phase while sampling, and say how it went.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use crate::admin::{Admin, connect_failure};
use crate::checks::{self, Checked};
use crate::clock::Clock;
use crate::failure::{Fatal, FatalCode};
use crate::job::{Job, PROTOCOL, Prepare, SqlBenchJob, WorkloadJob};
use crate::load::Event;
use crate::os::address::Address;
use crate::os::usage::{Usage, peak_rss_bytes};
use crate::os::{cpus, limits, signals};
use crate::phases::Conductor;
use crate::prepare::{Asked, prepare};
use crate::protocol::handshake::Login;
use crate::report::Reporter;
use crate::report::messages::{Exit, Hello, Message};
use crate::sample::Sampler;
use crate::sqlbench::{self, Suite};
use crate::workload::{self, Program};

/// Carries out a job and writes its messages, from `hello` to `done`.
///
/// # Errors
/// What ended the run before its time; the caller writes the `fatal` message.
pub fn run(job: &Job, clock: Clock, reporter: &Reporter) -> Result<Exit, Fatal> {
    if job.die_with_parent {
        signals::die_with_parent()?;
    }
    limits::allow_connections(job.most_connections())?;
    let (sender, receiver) = channel();
    let notify = sender.clone();
    signals::watch(signals::hold_back(), move || {
        // Without a conductor there is nobody to tell.
        let _ = notify.send(Event::Interrupted);
    })
    .map_err(|error| Fatal::new(FatalCode::Internal, format!("cannot watch signals: {error}")))?;
    let exit = match kept_alive(reporter, || {
        prepare_and_drive(job, clock, reporter, (sender, receiver))
    }) {
        // Whatever failed after a signal failed because of it.
        Err(_) if signals::interrupted() => Exit::Interrupted,
        other => other?,
    };
    reporter.send(&Message::Done {
        exit,
        client_cpu: Usage::now().cpu,
        peak_rss_bytes: peak_rss_bytes(),
    });
    Ok(exit)
}

/// Does something, and says now and then that the engine is alive.
fn kept_alive<T>(reporter: &Reporter, what: impl FnOnce() -> Result<T, Fatal>) -> Result<T, Fatal> {
    thread::scope(|scope| {
        let (running, ended) = channel::<()>();
        thread::Builder::new()
            .name("heartbeat".into())
            .spawn_scoped(scope, move || reporter.say_alive(&ended))
            .map_err(|error| {
                Fatal::new(FatalCode::Internal, format!("cannot start a thread: {error}"))
            })?;
        let done = what();
        drop(running);
        done
    })
}

fn prepare_and_drive(
    job: &Job,
    clock: Clock,
    reporter: &Reporter,
    events: (Sender<Event>, Receiver<Event>),
) -> Result<Exit, Fatal> {
    let program = match &job.workload {
        WorkloadJob::SqlBench(sql_bench) => return bench(job, sql_bench, clock, reporter),
        WorkloadJob::Watch(_) => return watch(job, clock, reporter, &events.1),
        WorkloadJob::Program(program) => program,
    };
    let mut workload = workload::compile(program, job.seed)?;
    if !job.phases.is_empty() && program.transactions.is_empty() {
        let message = "workload.program.transactions: is empty, yet there are phases";
        return Err(Fatal::new(FatalCode::BadJob, message));
    }
    let address = Address::resolve(&job.target)?;
    let login = login(job, &address);
    let cpus = cpus::allowed();
    let reactors = job.reactors.unwrap_or(cpus.len());
    let pins = job.pin.unwrap_or(true).then(|| cpus.clone());

    let mut admin = connect(job, &address, &login)?;
    reporter.send(&hello(job, clock, &admin, reactors, pins.is_some()));
    // Where nothing is made the server gets no statement beside the load's.
    if job.prepare != Prepare::None {
        admin
            .wait_while_running(&address, &login)
            .map_err(|error| connect_failure(&error, &address))?;
    }
    let asked = Asked {
        prepare: job.prepare,
        drop_existing: job.drop_existing,
        database: &job.target.database,
    };
    prepare(&mut admin, asked, &workload, reporter)?;
    if !job.phases.is_empty() {
        read_dictionaries(&mut admin, &job.target.database, &mut workload)?;
    }
    let workload = Arc::new(workload);
    // No connection beside the load's own and the sampler's while it is measured.
    drop(admin);

    let conductor =
        Conductor { job, clock, address, login, workload, reporter, events, reactors, pins };
    let exit = drive(&conductor)?;
    if exit == Exit::Ok && !job.phases.is_empty() {
        check(&conductor);
    }
    Ok(exit)
}

/// Tells whether what the workload wants of its data holds after the load.
fn check(conductor: &Conductor<'_>) {
    let Conductor { job, address, login, workload, reporter, .. } = conductor;
    if workload.checks().is_empty() {
        return;
    }
    let mut admin = Admin::connect(address, login, job.answer_within());
    for check in workload.checks() {
        let Checked { name, holds, detail } = match &mut admin {
            Ok(admin) => checks::run(admin, check),
            Err(error) => {
                Checked { name: check.name.clone(), holds: false, detail: Some(error.to_string()) }
            }
        };
        reporter.send(&Message::Check { name, holds, detail });
    }
}

/// Samples, without any load, until told to stop.
fn watch(
    job: &Job,
    clock: Clock,
    reporter: &Reporter,
    events: &Receiver<Event>,
) -> Result<Exit, Fatal> {
    let address = Address::resolve(&job.target)?;
    let login = login(job, &address);
    let admin = connect(job, &address, &login)?;
    reporter.send(&hello(job, clock, &admin, 0, false));
    drop(admin);
    sampled(job, clock, &address, &login, reporter, || {
        while !signals::interrupted() {
            // The only event without a load is an interruption.
            let _ = events.recv();
        }
        // To be told to stop is how watching ends.
        Ok(Exit::Ok)
    })
}

/// Runs sql-bench, which has a control flow and one connection of its own.
fn bench(
    job: &Job,
    sql_bench: &SqlBenchJob,
    clock: Clock,
    reporter: &Reporter,
) -> Result<Exit, Fatal> {
    let address = Address::resolve(&job.target)?;
    let login = login(job, &address);
    let admin = connect(job, &address, &login)?;
    reporter.send(&hello(job, clock, &admin, 1, false));
    sqlbench::run(&Suite { job, clock, address, login, reporter }, sql_bench, admin)
}

fn login(job: &Job, address: &Address) -> Login {
    Login {
        user: job.target.user.clone(),
        password: job.target.password.clone(),
        database: Some(job.target.database.clone()),
        local: address.is_local(),
        server_key: job.target.server_public_key.clone(),
    }
}

/// The first connection, which needs no database.
fn connect(job: &Job, address: &Address, login: &Login) -> Result<Admin, Fatal> {
    let first = Login { database: None, ..login.clone() };
    Admin::connect(address, &first, job.answer_within())
        .map_err(|error| connect_failure(&error, address))
}

fn hello(job: &Job, clock: Clock, admin: &Admin, reactors: usize, pinned: bool) -> Message {
    Message::Hello(Hello {
        protocol: PROTOCOL,
        engine_version: env!("CARGO_PKG_VERSION"),
        seed: job.seed,
        started_unix_ns: unix_ns(clock),
        reactors,
        pinned,
        cpus: cpus::allowed(),
        server_version: admin.session().server_version.clone(),
        server_pid: admin.server_pid(),
    })
}

fn read_dictionaries(
    admin: &mut Admin,
    database: &str,
    workload: &mut Program,
) -> Result<(), Fatal> {
    workload.fill_dictionaries(|sql| {
        let words = admin
            .execute(format!("USE `{database}`").as_bytes())
            .and_then(|_| admin.first_column(sql));
        words.map_err(|error| {
            let message = format!("reading a dictionary failed: {error}; statement: {sql}");
            Fatal::new(FatalCode::Sql, message)
        })
    })
}

/// Runs the phases, with the sampler beside them.
fn drive(conductor: &Conductor<'_>) -> Result<Exit, Fatal> {
    let Conductor { job, clock, address, login, reporter, .. } = conductor;
    if job.phases.is_empty() {
        return Ok(Exit::Ok);
    }
    sampled(job, *clock, address, login, reporter, || conductor.run())
}

/// Does something while the sampler, if the job has one, takes its samples.
fn sampled<T>(
    job: &Job,
    clock: Clock,
    address: &Address,
    login: &Login,
    reporter: &Reporter,
    what: impl FnOnce() -> Result<T, Fatal>,
) -> Result<T, Fatal> {
    thread::scope(|scope| {
        let sampler = match &job.sampling {
            None => None,
            Some(sampling) => Some(Sampler::start(
                scope,
                sampling,
                clock,
                job.answer_within(),
                address,
                login,
                reporter,
            )?),
        };
        let done = what();
        if let Some(sampler) = sampler {
            sampler.stop();
        }
        done
    })
}

/// The wall-clock time of the engine clock's zero.
fn unix_ns(clock: Clock) -> u64 {
    let now = clock.with_wall_clock();
    now.unix_ns.saturating_sub(now.monotonic_ns)
}
