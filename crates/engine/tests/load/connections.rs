//! When connections open and close.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mydyno_engine::report::messages::Exit;
use mydyno_engine::workload::{Action, Open, Policy};
use serde_json::json;

use super::server::{Reply, Server};
use super::workload::Script;
use super::{drive, rounds};

fn opened(open: Open) -> Policy {
    Policy { open, ..Policy::default() }
}

#[test]
fn a_connect_storm_opens_and_closes_a_connection_for_every_event() {
    let server = Server::agreeable();
    let script = Arc::new(Script::of("SELECT 1", opened(Open::Event)));
    let outcome = drive(&server, &script, json!({"connections": 3, "work": rounds(5)}));
    assert_eq!((server.count("open"), server.count("quit")), (15, 15));
    assert_eq!((outcome.count("connect"), outcome.count("SELECT 1")), (15, 15));
    assert_eq!(outcome.end()["queries"]["count"], 15, "a connection is no query");
    assert_eq!((outcome.transactions(), &outcome.end()["connections_reached"]), (15, &json!(3)));
    assert_eq!(outcome.end()["connects"]["count"], 15);
    assert_eq!(outcome.exit, Exit::Ok);
}

#[test]
fn a_connect_storm_at_a_rate_opens_as_many_connections_as_there_are_events() {
    let server = Server::agreeable();
    let script = Arc::new(Script::of("SELECT 1", opened(Open::Event)));
    let arrival = json!({"kind": "fixed", "rate": 500.0});
    let work = json!({"kind": "events", "events": 20});
    let outcome =
        drive(&server, &script, json!({"connections": 4, "arrival": arrival, "work": work}));
    assert_eq!(
        (server.count("open"), outcome.count("connect"), outcome.transactions()),
        (20, 20, 20)
    );
    assert_eq!(outcome.end()["latency_kind"], "response");
}

#[test]
fn a_full_server_is_counted_by_its_code_and_is_not_stormed() {
    let server = Server::start(2, |_, _| {
        std::thread::sleep(Duration::from_millis(20));
        Reply::Ok
    });
    let script = Arc::new(Script::of("SELECT 1", opened(Open::Event)));
    let outcome = drive(&server, &script, json!({"connections": 6, "work": rounds(5)}));
    let full = outcome.errors()["1040"].as_u64().expect("two of six get in");
    assert_eq!(outcome.transactions() + full, 30, "each event ends well or is given up");
    assert_eq!(outcome.end()["statements"]["connect"]["errors"], full);
    assert_eq!(outcome.exit, Exit::Ok);
    let end = outcome.end();
    let lasted_ns = end["ended_ns"].as_u64().unwrap() - end["started_ns"].as_u64().unwrap();
    assert!(lasted_ns > 40_000_000, "refused connections rest before they try again");
}

#[test]
fn with_a_retry_a_full_server_delays_events_but_loses_none() {
    let server = Server::start(1, |_, _| Reply::Ok);
    let policy = Policy { open: Open::Event, retry: vec![1040], ..Policy::default() };
    let script = Arc::new(Script::of("SELECT 1", policy));
    let outcome = drive(&server, &script, json!({"connections": 3, "work": rounds(4)}));
    assert_eq!((outcome.transactions(), outcome.exit), (12, Exit::Ok));
    assert_eq!(outcome.end()["retries"], outcome.errors().get("1040").unwrap_or(&json!(0)).clone());
}

#[test]
fn lazy_connections_open_with_their_first_event_and_stay() {
    let server = Server::agreeable();
    let script = Arc::new(Script::of("SELECT 1", opened(Open::Lazy)));
    let outcome = drive(&server, &script, json!({"connections": 3, "work": rounds(5)}));
    assert_eq!((server.count("open"), outcome.count("connect")), (3, 3));
    assert_eq!(outcome.count("SELECT 1"), 15);
    let connected = outcome.messages.iter().find(|one| one["type"] == "connected").unwrap();
    assert_eq!(
        (&connected["reached"], &outcome.end()["connections_reached"]),
        (&json!(0), &json!(3))
    );
}

#[test]
fn idle_connections_are_open_to_the_end_and_send_nothing() {
    let server = Server::agreeable();
    let script = Arc::new(Script::of("SELECT 1", Policy::default()));
    let phase = json!({"connections": 20, "active": 3, "work": rounds(10)});
    let outcome = drive(&server, &script, phase);
    assert_eq!((server.most_live(), outcome.count("SELECT 1")), (20, 30));
    let seen = server.seen();
    let last = seen.iter().rposition(|one| one.what == "SELECT 1").unwrap();
    assert!(seen[..last].iter().all(|one| one.what != "quit"), "nobody leaves before the end");
    let mut busy: Vec<usize> =
        seen.iter().filter(|one| one.what == "SELECT 1").map(|one| one.connection).collect();
    busy.sort_unstable();
    busy.dedup();
    assert_eq!(busy.len(), 3);
    assert_eq!(outcome.end()["connections_reached"], 20);
}

#[test]
fn a_ramp_opens_connections_evenly_and_is_not_measured() {
    let server = Server::agreeable();
    let script = Arc::new(Script::of("SELECT 1", Policy::default()).then(Action::Pause(5_000_000)));
    let work = json!({"kind": "timed", "warmup_s": 0.1, "measure_s": 0.2});
    let begun = Instant::now();
    let outcome = drive(&server, &script, json!({"connections": 4, "ramp_s": 0.4, "work": work}));
    let seen = server.seen();
    let opened: Vec<_> = seen.iter().filter(|one| one.what == "open").map(|one| one.at).collect();
    assert_eq!(opened.len(), 4);
    // A busy machine may delay any of them, but none comes before its time.
    for (number, at) in (0u32..).zip(opened) {
        let after = at - begun;
        assert!(after >= Duration::from_millis(100) * number, "{number} opened after {after:?}");
    }
    let end = outcome.end();
    let from_ns = end["measured_from_ns"].as_u64().unwrap() - end["started_ns"].as_u64().unwrap();
    assert!(from_ns >= 500_000_000, "measured from {from_ns}");
    assert_eq!(end["connections_reached"], 4);
}

#[test]
fn a_reconnect_within_an_event_is_timed_and_repeats_the_session_statements() {
    let server = Server::agreeable();
    let policy = Policy { session: vec!["SET a=1".into(), "SET b=2".into()], ..Policy::default() };
    let script =
        Arc::new(Script::new(policy).send("SELECT 1").then(Action::Reconnect).send("SELECT 2"));
    let outcome = drive(&server, &script, json!({"connections": 1, "work": rounds(2)}));
    let (set, again) = (["open", "SET a=1", "SET b=2"], ["SELECT 1", "quit"]);
    let event = [&again[..], &set, &["SELECT 2"]].concat();
    let expected = [&set[..], &event, &event, &["quit"]].concat();
    let seen = server.seen();
    // The old connection's farewell and the new one's greeting are two threads of the server.
    let mut found: Vec<&str> = seen.iter().map(|one| one.what.as_str()).collect();
    let mut expected = expected;
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!((outcome.count("connect"), outcome.count("SELECT 2")), (2, 2));
    assert_eq!(outcome.end()["queries"]["count"], 4, "session statements are not counted");
    assert_eq!(outcome.end()["reconnects"], 0, "nothing was lost");
}
