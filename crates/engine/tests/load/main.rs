//! The load against a server that the test plays: when connections open and close, what they send,
//! and how what goes wrong is counted.

mod accuracy;
mod connections;
mod events;
mod losses;
mod server;
mod slices;
mod standalone;
mod starts;
mod workload;

use std::io::Write;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use mydyno_engine::clock::Clock;
use mydyno_engine::job::{Job, ServerJob};
use mydyno_engine::load::ServerEvent;
use mydyno_engine::load::reactor::Reactors;
use mydyno_engine::os::address::Address;
use mydyno_engine::phases::{Conductor, Server as Driven};
use mydyno_engine::protocol::handshake::Login;
use mydyno_engine::report::Reporter;
use mydyno_engine::report::messages::Exit;
use serde_json::{Value, json};
use server::Server;
use workload::Script;

/// What the engine said of one phase.
struct Outcome {
    exit: Exit,
    messages: Vec<Value>,
    /// The engine's clock began between these two.
    zero: [Instant; 2],
}

impl Outcome {
    fn end(&self) -> &Value {
        self.messages.iter().find(|message| message["type"] == "phase_end").expect("a phase_end")
    }

    /// How often statements of a kind succeeded.
    fn count(&self, kind: &str) -> u64 {
        self.end()["statements"][kind]["count"].as_u64().unwrap_or(0)
    }

    fn transactions(&self) -> u64 {
        self.end()["transactions"]["count"].as_u64().unwrap()
    }

    fn errors(&self) -> &Value {
        &self.end()["errors"]
    }
}

type Events = (Sender<ServerEvent>, Receiver<ServerEvent>);

#[derive(Clone, Default)]
struct Out(Arc<Mutex<Vec<u8>>>);

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn rounds(count: u64) -> Value {
    json!({"kind": "rounds", "rounds": count})
}

fn driven<'a>(job: &'a ServerJob, server: &Server, script: &Arc<Script>) -> Driven<'a> {
    let login = Login {
        user: "bench".to_owned(),
        password: "".into(),
        database: Some("played".to_owned()),
        local: true,
        server_key: None,
        tls: None,
        compression: None,
    };
    let address = Address::Unix(server.socket.clone());
    Driven { job, address, login, workload: script.clone(), replay: None }
}

/// Drives one phase with two reactors.
fn drive(server: &Server, script: &Arc<Script>, phase: Value) -> Outcome {
    drive_within(server, script, phase, 60.0)
}

fn drive_within(
    server: &Server,
    script: &Arc<Script>,
    phase: Value,
    answer_within_s: f64,
) -> Outcome {
    let text = json!({
        "protocol": 3,
        "target": {"socket": server.socket, "user": "bench", "database": "played"},
        "workload": {"watch": {}},
        "sampling": {},
        "phases": [],
        "answer_within_s": answer_within_s,
        "interval_s": 0.05,
    });
    let mut job = Job::parse(&text.to_string()).unwrap();
    job.servers[0].phases = vec![serde_json::from_value(phase).unwrap()];
    conduct(&job, &[(server, script)], channel())
}

/// Runs the phases of a job with two reactors for each server.
fn conduct(job: &Job, servers: &[(&Server, &Arc<Script>)], events: Events) -> Outcome {
    let before = Instant::now();
    let clock = Clock::start();
    let zero = [before, Instant::now()];
    let out = Out::default();
    let reporter = Reporter::new(clock, Box::new(out.clone()));
    let servers = job.servers.iter().zip(servers);
    let conductor = Conductor {
        job,
        clock,
        servers: servers.map(|(job, (server, script))| driven(job, server, script)).collect(),
        reporter: &reporter,
        events,
        reactors: Reactors { asked: Some(2), cpus: 1 },
        pins: None,
    };
    let exit = conductor.run().unwrap();
    let text = String::from_utf8(out.0.lock().unwrap().clone()).unwrap();
    let messages = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    Outcome { exit, messages, zero }
}
