//! The story of one run: connect, prepare, load phase by phase while sampling, and report how it went.

use std::io::{BufReader, stdin};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use crate::admin::{Admin, connect_failure};
use crate::checks::{self, Checked};
use crate::clock::Clock;
use crate::failure::{Fatal, FatalCode};
use crate::job::program::ProgramJob;
use crate::job::{Job, PROTOCOL, Prepare, ServerJob, SqlBenchJob, TlsMode, WorkloadJob};
use crate::load::reactor::Reactors;
use crate::load::{Event, ServerEvent};
use crate::os::address::Address;
use crate::os::usage::{Usage, peak_rss_bytes};
use crate::os::{cpus, limits, signals};
use crate::phases::{Conductor, Server};
use crate::prepare::{Asked, prepare};
use crate::protocol::code;
use crate::protocol::handshake::Login;
use crate::protocol::tls::Tls;
use crate::replay::TraceWorkload;
use crate::report::Reporter;
use crate::report::messages::{Exit, Hello, Message};
use crate::sample::{Sampled, Sampler};
use crate::sqlbench::{self, Suite};
use crate::starts;
use crate::workload::{self, Program};

/// Carries out a job and writes its messages, from `hello` to `done`. Phases that wait
/// for their starts read them from standard input.
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
        // Without a conductor the event has no reader.
        let _ = notify.send((0, Event::Interrupted));
    })
    .map_err(|error| Fatal::new(FatalCode::Internal, format!("cannot watch signals: {error}")))?;
    if job.starts {
        starts::listen(BufReader::new(stdin()), sender.clone()).map_err(|error| {
            Fatal::new(FatalCode::Internal, format!("cannot start a thread: {error}"))
        })?;
    }
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
    events: (Sender<ServerEvent>, Receiver<ServerEvent>),
) -> Result<Exit, Fatal> {
    let cpus = cpus::allowed();
    let reactors = Reactors { asked: job.reactors, cpus: cpus.len() };
    let pins = job.pin.unwrap_or(true).then(|| cpus.clone());
    let mut servers = Vec::new();
    for (number, server) in job.servers.iter().enumerate() {
        let threads = server.phases.iter().map(|phase| reactors.of(phase.connections)).max();
        let threads = threads.unwrap_or(0);
        let program = match &server.workload {
            WorkloadJob::SqlBench(sql_bench) => {
                return bench(job, server, sql_bench, clock, reporter);
            }
            WorkloadJob::Watch(_) => return watch(job, server, clock, reporter, &events.1),
            WorkloadJob::Replay(replay) => {
                let (address, login, admin) = connect(job, server)?;
                reporter.send(&hello(job, number, clock, &admin, threads, pins.is_some()));
                // Each connection chooses the schema that the trace has.
                let login = Login { database: None, ..login };
                let workload = Arc::new(TraceWorkload::default());
                let replay = Some(replay);
                servers.push(Server { job: server, address, login, workload, replay });
                continue;
            }
            WorkloadJob::Program(program) => program,
        };
        let say_hello = |admin: &Admin| {
            reporter.send(&hello(job, number, clock, admin, threads, pins.is_some()));
        };
        let server = prepared(job, server, program, reporter, say_hello).map_err(|fatal| {
            let in_list = fatal.code == FatalCode::BadJob && job.slices.is_some();
            let path = if in_list { format!("servers[{number}].") } else { String::new() };
            Fatal { message: path + &fatal.message, ..fatal }
        });
        servers.push(server?);
    }
    let conductor = Conductor { job, clock, servers, reporter, events, reactors, pins };
    let loads = !job.servers[0].phases.is_empty();
    if !loads {
        return Ok(Exit::Ok);
    }
    let to_sample = conductor.servers.iter().map(|one| (one.job, &one.address, &one.login));
    let exit = sampled(job, clock, reporter, &to_sample.collect::<Vec<_>>(), || conductor.run())?;
    if exit == Exit::Ok && conductor.wait_for_others() {
        return Ok(Exit::Interrupted);
    }
    if exit == Exit::Ok {
        check(&conductor);
    }
    Ok(exit)
}

/// Connects to a server and makes its tables, where the job wants that.
fn prepared<'a>(
    job: &Job,
    server: &'a ServerJob,
    program: &ProgramJob,
    reporter: &Reporter,
    say_hello: impl FnOnce(&Admin),
) -> Result<Server<'a>, Fatal> {
    let mut workload = workload::compile(program, job.seed)?;
    workload.take_part(job.part);
    if !server.phases.is_empty() && program.transactions.is_empty() {
        let message = "workload.program.transactions: is empty, yet there are phases";
        return Err(Fatal::new(FatalCode::BadJob, message));
    }
    let (address, login, mut admin) = connect(job, server)?;
    say_hello(&admin);
    // Where nothing is made the server gets no statement beside the load's.
    if job.prepare != Prepare::None {
        admin
            .wait_while_running(&address, &login)
            .map_err(|error| connect_failure(&error, &address))?;
    }
    let asked = Asked {
        prepare: job.prepare,
        drop_existing: job.drop_existing,
        database: &server.target.database,
    };
    let one_more = || {
        let connected = Admin::connect(&address, &login, job.answer_within());
        let mut admin = connected.map_err(|error| connect_failure(&error, &address))?;
        let waits = admin.wait_while_running(&address, &login);
        waits.map_err(|error| connect_failure(&error, &address)).map(|()| admin)
    };
    prepare(&mut admin, asked, &workload, &one_more, reporter)?;
    if !server.phases.is_empty() {
        read_dictionaries(&mut admin, &server.target.database, &mut workload)?;
    }
    // No connection but the load's own and the sampler's while it is measured: this one is closed here.
    Ok(Server { job: server, address, login, workload: Arc::new(workload), replay: None })
}

/// Reports whether the conditions of each workload hold for its data after the load.
fn check(conductor: &Conductor<'_>) {
    for (server, Server { address, login, workload, .. }) in conductor.servers.iter().enumerate() {
        if workload.checks().is_empty() {
            continue;
        }
        let mut admin = Admin::connect(address, login, conductor.job.answer_within());
        for check in workload.checks() {
            let Checked { name, holds, detail } = match &mut admin {
                Ok(admin) => checks::run(admin, check),
                Err(error) => Checked {
                    name: check.name.clone(),
                    holds: false,
                    detail: Some(error.to_string()),
                },
            };
            conductor.reporter.send(&Message::Check { server, name, holds, detail });
        }
    }
}

/// Samples, without any load, until stopped by a signal.
fn watch(
    job: &Job,
    server: &ServerJob,
    clock: Clock,
    reporter: &Reporter,
    events: &Receiver<ServerEvent>,
) -> Result<Exit, Fatal> {
    let (address, login, admin) = connect(job, server)?;
    reporter.send(&hello(job, 0, clock, &admin, 0, false));
    drop(admin);
    sampled(job, clock, reporter, &[(server, &address, &login)], || {
        while !signals::interrupted() {
            // The only event without a load is an interruption.
            let _ = events.recv();
        }
        // A signal is how watching ends.
        Ok(Exit::Ok)
    })
}

/// Runs sql-bench, which has a control flow and one connection of its own.
fn bench(
    job: &Job,
    server: &ServerJob,
    sql_bench: &SqlBenchJob,
    clock: Clock,
    reporter: &Reporter,
) -> Result<Exit, Fatal> {
    let (address, login, admin) = connect(job, server)?;
    reporter.send(&hello(job, 0, clock, &admin, 1, false));
    sqlbench::run(&Suite { job, server, clock, address, login, reporter }, sql_bench, admin)
}

fn login(server: &ServerJob, address: &Address) -> Result<Login, Fatal> {
    let target = &server.target;
    // Nobody listens on the way to a unix socket: TLS is spoken there only where it is required.
    let wanted =
        target.tls.as_ref().filter(|tls| tls.mode != TlsMode::Preferred || !address.is_local());
    let host = target.host.as_deref().unwrap_or("localhost");
    let tls = wanted.map(|tls| Tls::new(tls, host)).transpose();
    let tls =
        tls.map_err(|reason| Fatal::new(FatalCode::BadJob, format!("target.tls: {reason}")))?;
    Ok(Login {
        user: target.user.clone(),
        password: target.password.clone(),
        database: Some(target.database.clone()),
        local: address.is_local(),
        server_key: target.server_public_key.clone(),
        tls,
        compression: target.compression.clone(),
    })
}

/// The first connection, which needs no database, and how the others are made.
fn connect(job: &Job, server: &ServerJob) -> Result<(Address, Login, Admin), Fatal> {
    let address = Address::resolve(&server.target)?;
    let mut login = login(server, &address)?;
    loop {
        let first = Login { database: None, ..login.clone() };
        match Admin::connect(&address, &first, job.answer_within()) {
            Ok(admin) => return Ok((address, login, admin)),
            // A server whose TLS is too old, where TLS is only preferred.
            Err(error)
                if error.code == code::TLS
                    && login.tls.as_ref().is_some_and(|tls| !tls.required) =>
            {
                login.tls = None;
            }
            Err(error) => return Err(connect_failure(&error, &address)),
        }
    }
}

fn hello(
    job: &Job,
    server: usize,
    clock: Clock,
    admin: &Admin,
    reactors: usize,
    pinned: bool,
) -> Message {
    Message::Hello(Hello {
        server,
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

/// Does something while a sampler for each server, if the job wants it, takes its samples.
fn sampled<T>(
    job: &Job,
    clock: Clock,
    reporter: &Reporter,
    servers: &[(&ServerJob, &Address, &Login)],
    what: impl FnOnce() -> Result<T, Fatal>,
) -> Result<T, Fatal> {
    thread::scope(|scope| {
        let mut samplers = Vec::new();
        let mut done = Ok(());
        for (number, (server, address, login)) in servers.iter().enumerate() {
            let Some(sampling) = &server.sampling else { continue };
            let server = Sampled { number, sampling, address, login };
            match Sampler::start(scope, &server, clock, job.answer_within(), reporter) {
                Ok(sampler) => samplers.push(sampler),
                Err(error) => done = Err(error),
            }
        }
        let done = done.and_then(|()| what());
        samplers.into_iter().for_each(Sampler::stop);
        done
    })
}

/// The wall-clock time of the engine clock's zero.
fn unix_ns(clock: Clock) -> u64 {
    let now = clock.with_wall_clock();
    now.unix_ns.saturating_sub(now.monotonic_ns)
}
