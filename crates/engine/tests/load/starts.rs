//! Phases that wait to be outcome when their load starts, as engines that share a load do.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use mydyno_engine::job::{Job, Part};
use mydyno_engine::load::Event;
use mydyno_engine::workload::Policy;
use serde_json::json;

use super::server::Server;
use super::workload::Script;
use super::{conduct, rounds};

fn job(server: &Server, phase: serde_json::Value, part: serde_json::Value) -> Job {
    let text = json!({
        "protocol": 3,
        "target": {"socket": server.socket, "user": "bench", "database": "played"},
        "workload": {"program": {"name": "played"}},
        "phases": [phase],
        "part": part,
    });
    Job::parse(&text.to_string()).unwrap()
}

#[test]
fn the_load_starts_at_the_given_instant_and_not_before() {
    let server = Server::agreeable();
    let script = Arc::new(Script::of("SELECT 1", Policy::default()));
    let phase = json!({"connections": 3, "work": rounds(4)});
    let mut job = job(&server, phase, json!({"number": 0, "of": 1}));
    job.starts = true;
    let events = channel();
    let sender = events.0.clone();
    let at_ns = 400_000_000;
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        sender.send((0, Event::Start { at_ns })).unwrap();
    });
    let outcome = conduct(&job, &[(&server, &script)], events);
    let from_ns = outcome.end()["measured_from_ns"].as_u64().unwrap();
    assert!((at_ns..at_ns + 300_000_000).contains(&from_ns), "{from_ns}");
    assert_eq!(outcome.transactions(), 12);
    let first = server.seen().iter().filter(|one| one.what == "SELECT 1").map(|one| one.at).min();
    assert!(first.unwrap() >= outcome.zero[0] + Duration::from_nanos(at_ns));
}

#[test]
fn engines_that_share_a_load_do_together_what_one_does_alone() {
    let mut connections = Vec::new();
    let mut events = 0;
    for number in 0..3 {
        let server = Server::agreeable();
        let script = Arc::new(Script::of("SELECT 1", Policy::default()));
        let phase = json!({"connections": 7, "work": {"kind": "events", "events": 100}});
        let job = job(&server, phase, json!({"number": number, "of": 3}));
        assert_eq!(job.part, Part { number, of: 3 });
        let outcome = conduct(&job, &[(&server, &script)], channel());
        connections.push(outcome.end()["connections_asked"].as_u64().unwrap());
        events += server.count("SELECT 1");
        assert_eq!(server.count("SELECT 1") as u64, outcome.transactions());
    }
    assert_eq!((connections, events), (vec![3, 2, 2], 100));
}
