//! Connections that are killed, and servers that fall silent.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mydyno_engine::report::messages::Exit;
use mydyno_engine::workload::{Action, Open, Policy};
use serde_json::json;

use super::server::{Reply, Server};
use super::workload::Script;
use super::{drive, drive_within, rounds};

/// A server that treats statement number 3 of those it sees in another way.
fn server_that(third: fn() -> Reply) -> Server {
    let seen = AtomicUsize::new(0);
    Server::start(usize::MAX, move |_, _| match seen.fetch_add(1, Ordering::SeqCst) {
        2 => third(),
        _ => Reply::Ok,
    })
}

fn select(policy: Policy) -> Arc<Script> {
    Arc::new(Script::of("SELECT 1", policy))
}

#[test]
fn a_lost_connection_stays_closed_and_the_others_go_on() {
    let server = server_that(|| Reply::HangUp);
    let outcome =
        drive(&server, &select(Policy::default()), json!({"connections": 2, "work": rounds(10)}));
    assert_eq!((outcome.errors(), outcome.exit), (&json!({"2013": 1}), Exit::Ok));
    let done = outcome.transactions();
    assert!((10..=12).contains(&done), "one connection did all of its events: {done}");
    assert_eq!(
        (&outcome.end()["reconnects"], &outcome.end()["unanswered"]),
        (&json!(0), &json!(0))
    );
}

#[test]
fn the_last_connection_that_is_lost_ends_the_phase() {
    let server = server_that(|| Reply::HangUp);
    let outcome =
        drive(&server, &select(Policy::default()), json!({"connections": 1, "work": rounds(10)}));
    assert_eq!((outcome.exit, outcome.transactions()), (Exit::Aborted, 2));
    assert_eq!(outcome.end()["aborted"], "all connections were lost");
}

#[test]
fn a_lost_connection_is_opened_again_where_the_policy_says_so() {
    let server = server_that(|| Reply::HangUp);
    let policy = Policy { reopen: true, ..Policy::default() };
    let outcome = drive(&server, &select(policy), json!({"connections": 2, "work": rounds(10)}));
    assert_eq!(
        (outcome.transactions(), outcome.exit),
        (19, Exit::Ok),
        "one event was lost with it"
    );
    assert_eq!((&outcome.end()["reconnects"], outcome.errors()), (&json!(1), &json!({"2013": 1})));
    assert_eq!(server.count("open"), 3);
}

#[test]
fn an_event_whose_connection_is_lost_starts_again_where_the_policy_says_so() {
    let server = server_that(|| Reply::HangUp);
    let policy = Policy { reopen: true, retry: vec![2013], ..Policy::default() };
    let outcome = drive(&server, &select(policy), json!({"connections": 2, "work": rounds(10)}));
    assert_eq!((outcome.transactions(), outcome.exit), (20, Exit::Ok));
    assert_eq!((&outcome.end()["reconnects"], &outcome.end()["retries"]), (&json!(1), &json!(1)));
}

#[test]
fn a_killed_connection_is_counted_once_with_the_servers_own_code() {
    for (policy, transactions) in [
        (Policy { reopen: true, ..Policy::default() }, 9),
        (Policy { open: Open::Event, ..Policy::default() }, 9),
    ] {
        let server = server_that(|| Reply::Error(1927, "Connection was killed"));
        let outcome =
            drive(&server, &select(policy), json!({"connections": 1, "work": rounds(10)}));
        assert_eq!((outcome.transactions(), outcome.exit), (transactions, Exit::Ok));
        assert_eq!(outcome.errors(), &json!({"1927": 1}));
    }
}

#[test]
fn a_statement_without_an_answer_is_given_up_in_time() {
    let server = server_that(|| Reply::Silence);
    let phase = json!({"connections": 2, "work": rounds(10)});
    let outcome = drive_within(&server, &select(Policy::default()), phase, 1.5);
    assert_eq!((outcome.errors(), outcome.exit), (&json!({"2013": 1}), Exit::Ok));
    let example = outcome.end()["error_examples"]["2013"].as_str().unwrap();
    assert!(example.contains("no answer within 1.5 s"), "{example}");
    let policy = Policy { reopen: true, retry: vec![2013], ..Policy::default() };
    let phase = json!({"connections": 2, "work": rounds(10)});
    let outcome = drive_within(&server_that(|| Reply::Silence), &select(policy), phase, 1.5);
    assert_eq!((outcome.transactions(), outcome.exit), (20, Exit::Ok));
}

#[test]
fn a_slow_statement_that_is_answered_in_time_is_not_given_up() {
    let server = Server::start(usize::MAX, |_, _| {
        std::thread::sleep(std::time::Duration::from_secs(2));
        Reply::Ok
    });
    let outcome = drive_within(
        &server,
        &select(Policy::default()),
        json!({"connections": 2, "work": rounds(3)}),
        3.0,
    );
    assert_eq!((outcome.errors(), outcome.transactions()), (&json!({}), 6));
}

#[test]
fn a_server_that_stays_silent_ends_a_timed_phase_soon_after_its_time() {
    let server = server_that(|| Reply::Silence);
    let work = json!({"kind": "timed", "measure_s": 0.2});
    let outcome =
        drive(&server, &select(Policy::default()), json!({"connections": 2, "work": work}));
    let end = outcome.end();
    assert_eq!((&end["unanswered"], outcome.exit), (&json!(1), Exit::Aborted));
    assert!(end["aborted"].as_str().unwrap().contains("1 statement had no answer"), "{end}");
    let late = end["ended_ns"].as_u64().unwrap() - end["measured_to_ns"].as_u64().unwrap();
    assert!(late < 9_500_000_000, "{late} ns");
}

#[test]
fn a_connection_lost_while_it_rests_is_opened_again_for_its_next_event() {
    let server = Server::start(usize::MAX, |connection, sql| match (connection, sql) {
        (1, "SELECT 2") => Reply::HangUp,
        _ => Reply::Ok,
    });
    let policy = Policy { reopen: true, ..Policy::default() };
    let script = Script::of("SELECT 1", policy).then(Action::Pause(1_000_000)).send("SELECT 2");
    let outcome = drive(&server, &Arc::new(script), json!({"connections": 1, "work": rounds(3)}));
    assert_eq!((outcome.transactions(), &outcome.end()["reconnects"]), (2, &json!(1)));
}

#[test]
fn a_transaction_that_the_end_of_the_phase_cuts_holds_no_locks_that_others_wait_for() {
    // The lock is let go when its holder is gone, not before.
    for script in [
        Script::of("BEGIN", Policy::default()).send("LOCK").then(Action::Pause(60_000_000_000)),
        Script::of("BEGIN", Policy::default()).send("LOCK").send("SLOW"),
    ] {
        let server = Server::start(usize::MAX, move |connection, sql| {
            let pause_ms = match sql {
                "LOCK" if connection == 2 => 2_000,
                "SLOW" => 400,
                _ => 0,
            };
            std::thread::sleep(std::time::Duration::from_millis(pause_ms));
            Reply::Ok
        });
        let work = json!({"kind": "timed", "measure_s": 0.2});
        let outcome = drive(&server, &Arc::new(script), json!({"connections": 2, "work": work}));
        assert_eq!((&outcome.end()["unanswered"], outcome.exit), (&json!(0), Exit::Ok));
        let quits: Vec<_> = server.seen().into_iter().filter(|seen| seen.what == "quit").collect();
        assert_eq!(quits[0].connection, 1, "the holder goes first");
        assert!(quits[1].at - quits[0].at > std::time::Duration::from_secs(1));
    }
}
