//! How many events there are, what lies between them, and what becomes of their answers.

use std::sync::Arc;
use std::time::Duration;

use mydyno_engine::workload::{Action, Open, Policy, ReadRow};
use serde_json::{Value, json};

use super::server::{Reply, Server};
use super::workload::Script;
use super::{drive, rounds};

fn one_select() -> Arc<Script> {
    Arc::new(Script::of("SELECT 1", Policy::default()))
}

#[test]
fn shared_and_split_events_are_run_exactly_as_often_as_asked() {
    let open = json!({"kind": "poisson", "rate": 2000.0});
    let closed = json!({"kind": "closed"});
    for (kind, events, arrival, expected) in [
        ("events", 10, &closed, 10),
        ("events", 2, &closed, 2),
        ("events", 101, &open, 101),
        ("split", 11, &closed, 9),
        ("split", 11, &open, 9),
    ] {
        let server = Server::agreeable();
        let work = json!({"kind": kind, "events": events});
        let phase = json!({"connections": 3, "arrival": arrival, "work": work});
        let outcome = drive(&server, &one_select(), phase);
        assert_eq!(outcome.transactions(), expected, "{kind} {events} {arrival}");
        assert_eq!(server.count("SELECT 1") as u64, expected);
    }
}

#[test]
fn between_two_events_a_connection_thinks_and_that_is_no_latency() {
    for kind in ["constant", "uniform", "exponential"] {
        let server = Server::agreeable();
        let think = json!({"kind": kind, "mean_s": 0.03});
        let phase = json!({"connections": 2, "think": think, "work": rounds(6)});
        let outcome = drive(&server, &one_select(), phase);
        assert_eq!(outcome.transactions(), 12);
        let seen = server.seen();
        let mut gaps = Vec::new();
        for connection in [1, 2] {
            let mine = seen.iter().filter(|s| s.connection == connection && s.what == "SELECT 1");
            let at: Vec<_> = mine.map(|one| one.at).collect();
            gaps.extend(at.windows(2).map(|pair| pair[1] - pair[0]));
        }
        let all: Duration = gaps.iter().sum();
        assert!(all > Duration::from_millis(60), "{kind}: {gaps:?}");
        if kind == "constant" {
            assert!(gaps.iter().all(|gap| *gap > Duration::from_millis(29)), "{gaps:?}");
        }
        let latency = outcome.end()["transactions"]["latency"]["p50_ns"].as_u64().unwrap();
        assert!(latency < 20_000_000, "{kind}: {latency} ns");
    }
}

#[test]
fn a_pause_within_an_event_lasts_as_long_as_asked_and_belongs_to_the_event() {
    let server = Server::agreeable();
    let script = Arc::new(
        Script::of("SELECT 1", Policy::default()).then(Action::Pause(300_000_000)).send("SELECT 2"),
    );
    let outcome = drive(&server, &script, json!({"connections": 1, "work": rounds(2)}));
    let least = outcome.end()["transactions"]["latency"]["min_ns"].as_u64().unwrap();
    assert!(least >= 299_900_000, "{least} ns");
    let statement = outcome.end()["statements"]["SELECT 2"]["latency"]["max_ns"].as_u64().unwrap();
    assert!(statement < 200_000_000, "{statement} ns");
}

#[test]
fn a_phase_counts_its_queries_by_class_its_transactions_by_name_and_each_connections_share() {
    let server = Server::agreeable();
    let script =
        Arc::new(Script::of("SELECT 1", Policy::default()).send("UPDATE t").send("SELECT 2"));
    let outcome = drive(&server, &script, json!({"connections": 2, "work": rounds(3)}));
    let end = outcome.end();
    assert_eq!(end["queries_by_class"], json!({"read": 12, "write": 6, "other": 0}));
    assert_eq!(end["transactions_by_name"]["event"], end["transactions"]);
    let storm = Policy { open: Open::Event, ..Policy::default() };
    let storm = drive(
        &server,
        &Arc::new(Script::of("SELECT 1", storm)),
        json!({"connections": 1, "work": rounds(4)}),
    );
    let by_class = json!({"read": 4, "write": 0, "other": 0});
    assert_eq!(storm.end()["queries_by_class"], by_class, "opening connections is no query");
    let fairness = &end["fairness"];
    assert_eq!((&fairness["connections"], &fairness["events_mean"]), (&json!(2), &json!(3.0)));
    assert_eq!(fairness["events_stddev"], json!(0.0));
    let sum_s = end["transactions"]["latency"]["mean_ns"].as_f64().unwrap() * 6.0 / 1e9;
    let busy_s = fairness["busy_mean_s"].as_f64().unwrap() * 2.0;
    assert!((sum_s - busy_s).abs() < 0.002 * sum_s, "{sum_s} s, {busy_s} s");
}

#[test]
fn an_event_that_does_nothing_neither_hangs_nor_overflows() {
    let server = Server::agreeable();
    for counts in [Some(0), None] {
        let script =
            Arc::new(Script::new(Policy::default()).then(Action::End { counts }).send("SELECT 1"));
        let work = json!({"kind": "timed", "measure_s": 0.1});
        let outcome = drive(&server, &script, json!({"connections": 2, "work": work}));
        assert_eq!(outcome.transactions() > 0, counts.is_some());
    }
}

#[test]
fn an_event_that_ends_as_failed_is_no_transaction_and_leaves_none_open() {
    let server = Server::agreeable();
    let script = Arc::new(
        Script::of("BEGIN", Policy::default()).send("SELECT 1").then(Action::End { counts: None }),
    );
    let outcome = drive(&server, &script, json!({"connections": 1, "work": rounds(2)}));
    let event = ["BEGIN", "SELECT 1", "ROLLBACK"];
    assert_eq!(server.statements(), [event, event].concat());
    assert_eq!((outcome.transactions(), &outcome.end()["queries"]["count"]), (0, &json!(4)));
}

/// What the server saw after one event in which the statement `bad` meets an error.
fn with_error(script: Script, code: u16) -> (Vec<String>, Value) {
    let server = Server::start(usize::MAX, move |_, sql| match sql {
        "bad" => Reply::Error(code, "no"),
        _ => Reply::Ok,
    });
    let outcome = drive(&server, &Arc::new(script), json!({"connections": 1, "work": rounds(1)}));
    (server.statements(), outcome.end().clone())
}

#[test]
fn a_rollback_is_sent_only_where_a_transaction_is_open() {
    let new = || Script::new(Policy::default());
    let inside = || new().send("BEGIN").send("bad").send("COMMIT");
    assert_eq!(with_error(inside(), 1062).0, ["BEGIN", "bad", "ROLLBACK"]);
    assert_eq!(with_error(inside(), 1213).0, ["BEGIN", "bad"], "a deadlock has rolled back");
    let after = new().send("BEGIN").send("COMMIT").send("bad");
    assert_eq!(with_error(after, 1062).0, ["BEGIN", "COMMIT", "bad"]);
    assert_eq!(with_error(new().send("bad"), 1062).0, ["bad"]);
}

#[test]
fn an_error_that_is_expected_is_success_and_success_is_an_error() {
    let expecting = |sql| {
        Script::new(Policy::default())
            .send_with(sql, |statement| statement.expect_error = Some(1062))
            .send("SELECT 2")
    };
    let (statements, end) = with_error(expecting("bad"), 1062);
    assert_eq!((statements, &end["errors"]), (vec!["bad".into(), "SELECT 2".into()], &json!({})));
    assert_eq!(end["statements"]["bad"]["count"], 1);
    for (sql, code) in [("bad", 1054), ("SELECT 1", 0)] {
        let (statements, end) = with_error(expecting(sql), code);
        assert_eq!((statements, &end["errors"]), (vec![sql.to_owned()], &json!({"1105": 1})));
    }
}

#[test]
fn errors_of_the_retry_list_start_the_event_again_until_it_succeeds() {
    let left = std::sync::atomic::AtomicUsize::new(3);
    let server = Server::start(usize::MAX, move |_, sql| {
        let less = |left: usize| left.checked_sub(1);
        let order = std::sync::atomic::Ordering::SeqCst;
        match sql {
            "UPDATE t" if left.fetch_update(order, order, less).is_ok() => {
                Reply::Error(1205, "Lock wait timeout")
            }
            _ => Reply::Ok,
        }
    });
    let script = Script::of("BEGIN", Policy { retry: vec![1205], ..Policy::default() })
        .send("UPDATE t")
        .send("COMMIT");
    let outcome = drive(&server, &Arc::new(script), json!({"connections": 1, "work": rounds(1)}));
    assert_eq!((outcome.transactions(), &outcome.end()["retries"]), (1, &json!(3)));
    assert_eq!((server.count("ROLLBACK"), outcome.errors()), (3, &json!({"1205": 3})));
}

#[test]
fn the_first_or_the_middle_row_reaches_the_workload_and_the_rest_is_counted() {
    const ROWS: &[&[Option<&str>]] = &[
        &[Some("1"), Some("ann"), Some("x")],
        &[Some("2"), None, Some("x")],
        &[Some("3"), Some("cy"), Some("x")],
    ];
    let row = |values: [Option<&str>; 2]| Some(values.map(|v| v.map(str::to_owned)).to_vec());
    for (which, expected) in
        [(ReadRow::First, row([Some("1"), Some("ann")])), (ReadRow::Middle, row([Some("2"), None]))]
    {
        let server = Server::start(usize::MAX, |_, _| Reply::Rows(ROWS));
        let script = Script::new(Policy::default()).read("SELECT id, name, x", 2, which);
        let script = Arc::new(script);
        let outcome = drive(&server, &script, json!({"connections": 1, "work": rounds(2)}));
        assert_eq!(*script.captured.lock().unwrap(), [expected.clone(), expected]);
        assert_eq!(outcome.end()["statements"]["SELECT id, name, x"]["rows"], 6);
    }
}

#[test]
fn a_row_that_is_needed_and_missing_gives_the_event_up() {
    let server = Server::start(usize::MAX, |_, sql| match sql {
        "SELECT a" => Reply::Rows(&[]),
        _ => Reply::Ok,
    });
    let script =
        Script::of("BEGIN", Policy::default()).read("SELECT a", 1, ReadRow::First).send("UPDATE t");
    let script = Arc::new(script);
    let outcome = drive(&server, &script, json!({"connections": 1, "work": rounds(1)}));
    assert_eq!(server.statements(), ["BEGIN", "SELECT a", "ROLLBACK"]);
    assert_eq!((outcome.errors(), outcome.transactions()), (&json!({"1329": 1}), 0));
    assert_eq!(*script.captured.lock().unwrap(), [None]);
}

#[test]
fn after_a_result_set_that_is_left_unread_nothing_more_is_sent_over_the_connection() {
    const ROWS: &[&[Option<&str>]] = &[&[Some("1")], &[Some("2")]];
    let server = Server::start(usize::MAX, |_, sql| match sql {
        "SELECT a" => Reply::Rows(ROWS),
        _ => Reply::Ok,
    });
    let script = Script::new(Policy::default())
        .send_with("SELECT a", |statement| statement.unread = true)
        .send("UPDATE t");
    let outcome = drive(&server, &Arc::new(script), json!({"connections": 1, "work": rounds(3)}));
    assert_eq!(server.statements(), ["SELECT a"]);
    let statements = &outcome.end()["statements"];
    assert_eq!(
        (&statements["SELECT a"]["count"], &statements["SELECT a"]["errors"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(statements["UPDATE t"]["errors"], 1);
    assert_eq!((outcome.transactions(), outcome.errors()), (0, &json!({"2014": 3})));
}

#[test]
fn a_statement_without_a_result_set_leaves_nothing_unread() {
    let server = Server::agreeable();
    let script = Script::new(Policy::default())
        .send_with("UPDATE a", |statement| statement.unread = true)
        .send("UPDATE b");
    let outcome = drive(&server, &Arc::new(script), json!({"connections": 1, "work": rounds(2)}));
    assert_eq!((outcome.transactions(), outcome.errors()), (2, &json!({})));
}
