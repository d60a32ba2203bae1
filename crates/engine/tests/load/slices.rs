//! Several servers in one job, driven in turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use mydyno_engine::job::Job;
use mydyno_engine::load::Event;
use mydyno_engine::report::messages::Exit;
use mydyno_engine::workload::{Action, Policy};
use serde_json::{Value, json};

use super::server::{Reply, Server};
use super::workload::Script;
use super::{Events, Outcome, conduct};

const CONNECTIONS: usize = 3;

impl Outcome {
    fn slices(&self) -> Vec<&Value> {
        self.messages.iter().filter(|message| message["type"] == "slice").collect()
    }

    /// The results of one server in one phase.
    fn end_of(&self, server: usize, phase: usize) -> &Value {
        let mut ends = self.messages.iter().filter(|message| message["type"] == "phase_end");
        ends.find(|end| end["server"] == server && end["phase"] == phase).expect("a phase_end")
    }
}

/// Each connection sends a statement about every millisecond.
fn select() -> Arc<Script> {
    Arc::new(Script::of("SELECT 1", Policy::default()).then(Action::Pause(1_000_000)))
}

fn drive(servers: &[(&Server, &Arc<Script>)], phases: &[Value], more: Value) -> Outcome {
    drive_with(servers, phases, more, channel())
}

fn drive_with(
    servers: &[(&Server, &Arc<Script>)],
    phases: &[Value],
    more: Value,
    events: Events,
) -> Outcome {
    let server = |(server, _): &(&Server, &Arc<Script>)| {
        json!({
            "target": {"socket": server.socket, "user": "bench", "database": "played"},
            "workload": {"program": {"name": "script"}},
            "phases": phases,
        })
    };
    let mut job = json!({
        "protocol": 3,
        "servers": servers.iter().map(server).collect::<Vec<_>>(),
        "slices": {"slice_s": 0.05, "longest_s": 0.05, "order": [[0, 1], [1, 0], [1, 0]]},
    });
    job.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    conduct(&Job::parse(&job.to_string()).unwrap(), servers, events)
}

fn phase(measure_s: f64) -> Value {
    let work = json!({"kind": "timed", "warmup_s": 0.05, "measure_s": measure_s});
    json!({"connections": CONNECTIONS, "work": work})
}

/// The servers of all statements in the order of their arrival, each stretch of the same one once.
fn stretches(servers: &[&Server]) -> Vec<usize> {
    let mut all: Vec<_> = (0..)
        .zip(servers)
        .flat_map(|(number, server)| server.seen().into_iter().map(move |seen| (seen, number)))
        .filter(|(seen, _)| !matches!(seen.what.as_str(), "open" | "quit"))
        .map(|(seen, number)| (seen.at, number))
        .collect();
    all.sort_unstable();
    let mut numbers: Vec<usize> = all.into_iter().map(|(_, number)| number).collect();
    numbers.dedup();
    numbers
}

fn number(message: &Value, key: &str) -> u64 {
    message[key].as_u64().unwrap_or_else(|| panic!("{key} in {message}"))
}

#[test]
fn slices_come_in_the_order_of_the_rounds_in_each_phase() {
    let (first, second) = (Server::agreeable(), Server::agreeable());
    let script = select();
    let outcome =
        drive(&[(&first, &script), (&second, &script)], &[phase(0.15), phase(0.1)], json!({}));
    assert_eq!(outcome.exit, Exit::Ok);
    let of_round = [[0, 1], [1, 0], [1, 0], [0, 1], [1, 0]];
    let mut expected = Vec::new();
    for (phase, rounds) in [(0, 5), (1, 4)] {
        let mut after = Value::Null;
        for (round, order) in of_round[..rounds].iter().enumerate() {
            for (position, &server) in order.iter().enumerate() {
                expected.push(json!([phase, round, position, server, after, round < 2]));
                after = server.into();
            }
        }
    }
    let keys = ["phase", "round", "position", "server", "after", "warmup"];
    let slices = outcome.slices();
    let found: Vec<Value> =
        slices.iter().map(|slice| keys.map(|key| slice[key].clone()).to_vec().into()).collect();
    assert_eq!(found, expected);
    for pair in slices.windows(2).filter(|pair| pair[0]["phase"] == pair[1]["phase"]) {
        assert!(number(pair[0], "drained_ns") <= number(pair[1], "from_ns"));
    }
    assert!(outcome.messages.iter().all(|message| message["type"] != "interval"));
}

#[test]
fn a_server_gets_statements_in_its_own_slices_only_over_connections_that_stay_open() {
    let (first, second) = (Server::agreeable(), Server::agreeable());
    let script = select();
    let outcome = drive(&[(&first, &script), (&second, &script)], &[phase(0.3)], json!({}));
    let mut turns: Vec<usize> = Vec::new();
    turns.extend(outcome.slices().iter().map(|slice| number(slice, "server") as usize));
    turns.dedup();
    // On a busy machine a slice may pass without a statement.
    let found = stretches(&[&first, &second]);
    let mut left = turns.iter();
    assert!(found.iter().all(|server| left.any(|turn| turn == server)), "{found:?} of {turns:?}");
    assert!(found.len() > 4, "{found:?}");
    for server in [&first, &second] {
        assert_eq!((server.count("open"), server.count("quit")), (CONNECTIONS, CONNECTIONS));
    }
}

#[test]
fn the_measured_slices_add_up_to_the_phase_and_the_warmup_is_left_out() {
    let (first, second) = (Server::agreeable(), Server::agreeable());
    let script = select();
    let outcome = drive(&[(&first, &script), (&second, &script)], &[phase(0.2)], json!({}));
    for server in [0, 1] {
        let all: Vec<_> =
            outcome.slices().into_iter().filter(|slice| slice["server"] == server).collect();
        for slice in &all {
            let parts = slice["parts"].as_array().unwrap();
            assert_eq!(parts.len(), 10);
            let sum: u64 = parts.iter().map(|part| part.as_u64().unwrap()).sum();
            assert_eq!(sum, number(slice, "queries"));
            assert_eq!(number(slice, "to_ns") - number(slice, "from_ns"), 50_000_000);
            assert_eq!(slice["connections"], CONNECTIONS);
        }
        let measured: Vec<_> = all.iter().filter(|slice| slice["warmup"] == false).collect();
        assert_eq!((all.len(), measured.len()), (6, 4));
        let end = outcome.end_of(server, 0);
        let sum = |key| measured.iter().map(|slice| number(slice, key)).sum::<u64>();
        assert!(sum("queries") > 0);
        assert_eq!(number(&end["queries"], "count"), sum("queries"));
        assert_eq!(number(&end["transactions"], "count"), sum("transactions"));
        assert_eq!(end["measured_s"], 0.2);
        assert_eq!(end["measured_from_ns"], measured[0]["from_ns"]);
        assert_eq!(end["measured_to_ns"], measured[3]["to_ns"]);
    }
    let measuring = outcome.messages.iter().filter(|message| message["type"] == "measuring");
    assert_eq!(measuring.count(), 2);
}

#[test]
fn an_event_that_is_under_way_at_the_end_of_a_slice_is_finished_before_the_next_slice() {
    let (first, second) = (Server::agreeable(), Server::agreeable());
    let pause = Action::Pause(7_000_000);
    let script = Script::of("BEGIN", Policy::default()).then(pause).send("SELECT 1").send("COMMIT");
    let script = Arc::new(script);
    let outcome = drive(&[(&first, &script), (&second, &script)], &[phase(0.2)], json!({}));
    assert_eq!(outcome.exit, Exit::Ok);
    for (server, other) in [(&first, &second), (&second, &first)] {
        assert_eq!(server.count("BEGIN"), server.count("COMMIT"));
        let of_other = other.seen();
        for connection in 1..=CONNECTIONS {
            let seen = server.seen();
            let mine: Vec<_> = seen.iter().filter(|one| one.connection == connection).collect();
            for pair in mine.windows(2).filter(|pair| pair[0].what != "COMMIT") {
                let between = |at| pair[0].at < at && at < pair[1].at;
                let inside = pair[0].what != "open" && of_other.iter().any(|one| between(one.at));
                assert!(!inside, "the other server was driven within a transaction");
            }
        }
    }
}

#[test]
fn a_think_time_that_ends_while_another_server_is_driven_ends_with_the_next_slice() {
    let (first, second) = (Server::agreeable(), Server::agreeable());
    let script = Arc::new(Script::of("SELECT 1", Policy::default()));
    let mut phase = phase(0.4);
    phase["think"] = json!({"kind": "constant", "mean_s": 0.15});
    let slices = json!({"slice_s": 0.1, "longest_s": 0.1, "order": [[0, 1]]});
    let servers = [(&first, &script), (&second, &script)];
    let outcome = drive(&servers, &[phase], json!({"slices": slices}));
    assert_eq!(outcome.slices().len(), 12);
    for server in [&first, &second] {
        assert_eq!(server.count("SELECT 1"), 6 * CONNECTIONS, "one event each in every slice");
    }
}

#[test]
fn slow_statements_lengthen_the_measured_slices() {
    let slow = Server::start(usize::MAX, |_, _| {
        thread::sleep(Duration::from_millis(40));
        Reply::Ok
    });
    let quick = Server::agreeable();
    let script = Arc::new(Script::of("SELECT 1", Policy::default()));
    let slices = json!({"slice_s": 0.05, "longest_s": 0.3, "order": [[0, 1]]});
    let servers = [(&slow, &script), (&quick, &script)];
    let mut phase = phase(0.4);
    phase["connections"] = 8.into();
    let outcome = drive(&servers, &[phase], json!({"slices": slices}));
    let lengths: Vec<u64> = outcome
        .slices()
        .iter()
        .filter(|slice| slice["warmup"] == false)
        .map(|slice| number(slice, "to_ns") - number(slice, "from_ns"))
        .collect();
    assert!(lengths[0] > 50_000_000 && lengths[0] <= 300_000_000, "{lengths:?}");
    assert!(lengths.iter().all(|length| *length == lengths[0]), "{lengths:?}");
    let measured_s = outcome.end_of(0, 0)["measured_s"].as_f64().unwrap();
    assert!(measured_s >= 0.4, "{measured_s}");
    assert_eq!(outcome.end_of(1, 0)["measured_s"], measured_s);
}

/// A server that answers so many statements as usual, and the others in another way.
fn server_that_fails(after: usize, then: fn() -> Reply) -> Server {
    let seen = AtomicUsize::new(0);
    Server::start(usize::MAX, move |_, _| match seen.fetch_add(1, Ordering::SeqCst) < after {
        true => Reply::Ok,
        false => then(),
    })
}

#[test]
fn a_server_that_is_lost_or_silent_takes_no_further_part_and_the_others_go_on() {
    let endless = || Script::of("SELECT 1", Policy::default()).then(Action::Pause(60_000_000_000));
    for (reply, script, reason) in [
        (Reply::hang_up as fn() -> Reply, select(), "all connections were lost"),
        (Reply::silence, select(), "all connections were lost"),
        (Reply::hang_up, Arc::new(endless()), "did not end within 0.3 s"),
    ] {
        let (failing, good) = (server_that_fails(20, reply), Server::agreeable());
        let phases = [phase(0.2), phase(0.1)];
        let servers = [(&good, &select()), (&failing, &script)];
        let outcome = drive(&servers, &phases, json!({"answer_within_s": 0.3}));
        assert_eq!(outcome.exit, Exit::Ok);
        let aborted = outcome.end_of(1, 0)["aborted"].as_str().unwrap();
        // Whether the last silent statement or the slice is too late is a matter of milliseconds.
        assert!(aborted.contains(reason) || aborted.contains("did not end within"), "{aborted}");
        for phase in [0, 1] {
            assert_eq!(outcome.end_of(0, phase)["aborted"], Value::Null);
        }
        assert_eq!(outcome.end_of(0, 0)["measured_s"], 0.2);
        let second = |message: &&Value| message["server"] == 1 && message["phase"] == 1;
        assert_eq!(outcome.messages.iter().find(second), None);
        let mut rounds = outcome.slices().into_iter().filter(|slice| slice["server"] == 0);
        assert!(rounds.any(|slice| slice["after"] == 0), "its place in the rounds is skipped");
    }
}

#[test]
fn without_any_server_left_the_run_is_aborted() {
    let servers = [(); 2].map(|()| server_that_fails(20, Reply::hang_up));
    let script = select();
    let servers: Vec<_> = servers.iter().map(|server| (server, &script)).collect();
    let outcome = drive(&servers, &[phase(30.0), phase(30.0)], json!({}));
    assert_eq!(outcome.exit, Exit::Aborted);
    for server in [0, 1] {
        assert_eq!(outcome.end_of(server, 0)["aborted"], "all connections were lost");
    }
}

#[test]
fn an_interruption_ends_all_servers_with_their_results() {
    let events = channel();
    let interrupt = events.0.clone();
    let seen = AtomicUsize::new(0);
    let first = Server::start(usize::MAX, move |_, _| {
        if seen.fetch_add(1, Ordering::SeqCst) == 200 {
            interrupt.send((0, Event::Interrupted)).unwrap();
        }
        Reply::Ok
    });
    let second = Server::agreeable();
    let script = select();
    let servers = [(&first, &script), (&second, &script)];
    let outcome = drive_with(&servers, &[phase(60.0), phase(60.0)], json!({}), events);
    assert_eq!(outcome.exit, Exit::Interrupted);
    for server in [0, 1] {
        let end = outcome.end_of(server, 0);
        assert_eq!((&end["interrupted"], &end["aborted"]), (&json!(true), &Value::Null));
        assert_eq!(end["unanswered"], 0);
    }
    for server in [&first, &second] {
        assert_eq!((server.count("open"), server.count("quit")), (CONNECTIONS, CONNECTIONS));
    }
}
