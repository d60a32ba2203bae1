//! Steps: loops, conditions, choices, reading, copies.

use super::*;

#[test]
fn loops_count_their_index_from_zero_and_may_be_inside_each_other() {
    let inner = json!({"repeat": {"times": ["+", ["var", "i"], 1], "index": "j", "steps":
        [send("s", json!([{"value": ["var", "i"]}, ":", {"value": ["var", "j"]}]))]}});
    let sent = event(json!([{"repeat": {"times": 3, "index": "i", "steps": [inner]}}]));
    assert_eq!(sent, ["0:0", "1:0", "1:1", "2:0", "2:1", "2:2"]);
}

#[test]
fn a_loop_of_no_negative_or_unknown_times_is_passed_over() {
    for times in [json!(0), json!(-5), json!(null), json!("many")] {
        let sent = event(json!([
            {"repeat": {"times": times, "steps": [send("s", json!(["never"]))]}},
            send("s", json!(["after"])),
        ]));
        assert_eq!(sent, ["after"]);
    }
}

#[test]
fn a_condition_chooses_between_its_steps_and_else() {
    let choose = |condition: Json| {
        event(json!([{"when": {"if": condition,
            "steps": [send("s", json!(["then"]))], "else": [send("s", json!(["else"]))]}},
            send("s", json!(["after"]))]))
    };
    assert_eq!(choose(json!(["<", 1, 2])), ["then", "after"]);
    assert_eq!(choose(json!(["==", 1, 2])), ["else", "after"]);
    assert_eq!(choose(json!(null)), ["else", "after"]);
    let alone = json!([{"when": {"if": 0, "steps": [send("s", json!(["then"]))]}},
        send("s", json!(["after"]))]);
    assert_eq!(event(alone), ["after"]);
}

#[test]
fn branches_and_transactions_come_by_their_weights() {
    let branch =
        |weight: u64, text: &str| json!({"weight": weight, "steps": [send("s", json!([text]))]});
    let mix = json!({"mix": [branch(1, "a"), branch(0, "never"), branch(3, "b")]});
    let program = json!({"name": "p", "transactions": [
        {"name": "mixed", "weight": 4, "steps": [mix]},
        {"name": "other", "weight": 1, "steps": [send("s", json!(["c"]))]},
        {"name": "off", "weight": 0, "steps": [send("s", json!(["never"]))]},
    ]});
    let program = compiled(program, 1).unwrap();
    let events = Driver::new(&program, 1).events(20_000);
    let share = |text: &str| events.iter().filter(|sent| sent[0] == text).count() as f64 / 20_000.0;
    for (text, expected) in [("a", 0.2), ("b", 0.6), ("c", 0.2), ("never", 0.0)] {
        assert!((share(text) - expected).abs() < 0.012, "{text}: {}", share(text));
    }
}

#[test]
fn pauses_reconnects_and_ends_are_actions_of_their_own() {
    let program = with_steps(json!([
        {"pause_s": 0.25}, {"reconnect": true}, {"pause_s": -1}, {"pause_s": "soon"},
        send("s", json!(["SELECT 1"])), {"end": "failed"}, send("s", json!(["never"])),
    ]));
    let program = compiled(program, 1).unwrap();
    let mut driver = Driver::new(&program, 1);
    let actions: Vec<Action> = (0..6).map(|_| driver.next()).collect();
    assert_eq!(
        actions,
        [
            Action::Pause(250_000_000),
            Action::Reconnect,
            Action::Pause(0),
            Action::Pause(0),
            Action::Send(0),
            Action::End { counts: None }
        ]
    );
    assert_eq!(program.kinds(), ["s", CONNECT], "reconnects are counted under a kind of their own");
}

#[test]
fn done_leaves_even_a_loop_at_once_and_the_next_event_starts_afresh() {
    let steps = json!([{"repeat": {"times": 3, "index": "i", "steps": [
        send("s", json!([{"value": ["event"]}, "/", {"value": ["var", "i"]}])),
        {"when": {"if": ["==", ["var", "i"], 1], "steps": [{"end": "done"}]}},
    ]}}]);
    let program = compiled(with_steps(steps), 1).unwrap();
    let mut driver = Driver::new(&program, 1);
    assert_eq!(driver.events(2), [["0/0", "0/1"], ["1/0", "1/1"]]);
}

#[test]
fn an_event_that_starts_again_is_the_same_transaction_with_new_values() {
    let transaction = |name: &str| json!({"name": name, "steps": [send(name, json!([name, " ", {"value": ["uniform", 1, 1000000]}]))]});
    let program = json!({"name": "p", "transactions": [transaction("a"), transaction("b")]});
    let program = compiled(program, 1).unwrap();
    let mut driver = Driver::new(&program, 1);
    for _ in 0..50 {
        let first = driver.next();
        let Action::Send(statement) = first else { panic!("{first:?}") };
        let text = driver.text(statement);
        for _ in 0..3 {
            program.restart(&mut driver.cursor);
            assert_eq!(driver.next(), first);
            assert_ne!(driver.text(statement), text);
        }
        program.rewind(&mut driver.cursor);
    }
}

fn reading(empty: &str) -> Program {
    let read = json!({"into": ["a", "b"], "row": "middle", "empty": empty});
    let steps = json!([
        {"repeat": {"times": 2, "steps": [
            {"send": {"name": "read", "sql": ["SELECT"], "read": read}},
            send("use", json!([{"value": ["var", "a"]}, ",", {"value": ["+", ["var", "b"], 1]}])),
        ]}},
        send("after", json!(["after"])),
    ]);
    compiled(with_steps(steps), 1).unwrap()
}

#[test]
fn columns_that_were_read_are_values_of_later_statements() {
    let program = reading("fail");
    assert_eq!(program.statements()[0].read, Some(Read { columns: 2, row: ReadRow::Middle }));
    assert_eq!(program.statements()[1].read, None);
    let mut driver = Driver::new(&program, 1);
    driver.next();
    let row = [Some(&b"it's"[..]), Some(&b"41"[..])];
    assert_eq!(program.capture(&mut driver.cursor, Some(&row)), Captured::GoOn);
    assert_eq!(driver.next(), Action::Send(1));
    assert_eq!(driver.text(1), r"'it\'s',42");
    driver.next();
    let short = [None];
    program.capture(&mut driver.cursor, Some(&short));
    driver.next();
    assert_eq!(driver.text(1), "NULL,NULL", "a column that is missing is null too");
}

#[test]
fn without_a_row_an_event_fails_keeps_its_values_or_skips_the_rest_of_its_block() {
    let after = |empty: &str| {
        let program = reading(empty);
        let mut driver = Driver::new(&program, 1);
        driver.next();
        let captured = program.capture(&mut driver.cursor, None);
        let Action::Send(next) = driver.next() else { panic!("a statement follows") };
        (captured, program.kinds()[program.statements()[next].kind])
    };
    assert_eq!(after("fail").0, Captured::GiveUp);
    assert_eq!(after("keep"), (Captured::GoOn, "use"));
    assert_eq!(after("skip"), (Captured::GoOn, "read"), "the loop goes round again");
}

#[test]
fn skipping_in_a_condition_goes_on_behind_it_and_in_a_transaction_ends_the_event() {
    let read = json!({"send": {"name": "read", "sql": ["SELECT"],
        "read": {"into": ["a"], "empty": "skip"}}});
    let inside = json!([{"when": {"if": 1, "steps": [read, send("s", json!(["skipped"]))]}},
        send("s", json!(["behind"]))]);
    let program = compiled(with_steps(inside), 1).unwrap();
    let mut driver = Driver::new(&program, 1);
    driver.next();
    program.capture(&mut driver.cursor, None);
    assert_eq!(driver.event(), ["behind"]);
    let program = compiled(with_steps(json!([read, send("s", json!(["skipped"]))])), 1).unwrap();
    let mut driver = Driver::new(&program, 1);
    driver.next();
    program.capture(&mut driver.cursor, None);
    assert_eq!(driver.next(), Action::End { counts: Some(0) });
}

#[test]
fn a_statement_with_copies_is_there_once_for_each_and_sent_to_the_one_that_was_chosen() {
    let copied = json!({"send": {"name": "s", "sql": ["t", {"copy": true}, " ", {"value": ["copy"]}], "copies": 3}});
    let set = json!([{"repeat": {"times": 5, "index": "i", "steps":
        [{"let": ["copy", ["var", "i"]]}, copied]}}]);
    let program = compiled(with_steps(set), 1).unwrap();
    assert_eq!(program.statements().len(), 3);
    assert_eq!(program.kinds(), ["s"]);
    let sent = Driver::new(&program, 1).event();
    assert_eq!(
        sent,
        ["t3 0", "t1 1", "t2 2", "t3 3", "t1 4"],
        "a number beyond is taken modulo copies"
    );
}
