//! Operators, one by one.

use std::collections::HashSet;

use super::*;

/// What an expression becomes in a statement.
fn literal(expression: Json) -> String {
    event(json!([send("s", json!([{"value": expression}]))])).remove(0)
}

fn literals(count: usize, program: Json) -> Vec<String> {
    let program = compiled(program, 1).unwrap();
    Driver::new(&program, 1).events(count).into_iter().flatten().collect()
}

fn drawn(count: usize, expression: Json) -> Vec<String> {
    literals(count, with_steps(json!([send("s", json!([{"value": expression}]))])))
}

#[test]
fn constants_are_what_they_are() {
    for (expression, expected) in [
        (json!(5), "5"),
        (json!(-9223372036854775808i64), "-9223372036854775808"),
        (json!(1.5), "1.5"),
        (json!(null), "NULL"),
        (json!("it's"), r"'it\'s'"),
        (json!("Köln"), "'Köln'"),
    ] {
        assert_eq!(literal(expression), expected);
    }
}

#[test]
fn operators_compute_what_they_say() {
    for (expression, expected) in [
        (json!(["+", 2, ["*", 3, 4]]), "14"),
        (json!(["-", 2, 5]), "-3"),
        (json!(["//", -7, 2]), "-4"),
        (json!(["%", -7, 2]), "1"),
        (json!(["//", 7, 0]), "NULL"),
        (json!(["%", 7, 0]), "NULL"),
        (json!(["/", 7, 2]), "3.5"),
        (json!(["+", 1, 0.5]), "1.5"),
        (json!(["+", 1, null]), "NULL"),
        (json!(["+", 1, "x"]), "NULL"),
        (json!(["+", 1, "41"]), "42"),
        (json!(["+", 9223372036854775807i64, 1]), "NULL"),
        (json!(["min", 3, 2]), "2"),
        (json!(["max", 3, 2.5]), "3.0"),
        (json!(["<", 1, 2]), "1"),
        (json!(["<=", 2, 2]), "1"),
        (json!(["<", null, 2]), "0"),
        (json!(["==", null, null]), "1"),
        (json!(["!=", "a", "b"]), "1"),
        (json!(["and", 1, 0]), "0"),
        (json!(["or", 0, "2"]), "1"),
        (json!(["not", null]), "1"),
        (json!(["if", 0, 1, "other"]), "'other'"),
        (json!(["concat", "a", 1, ["+", 1, 1], 0.5, ["decimal", 105, 2]]), "'a120.51.05'"),
        (json!(["concat", "a", null]), "NULL"),
        (json!(["times", 3, "ab"]), "'ababab'"),
        (json!(["times", 0, "ab"]), "''"),
        (json!(["times", 100000000, "ab"]), "NULL"),
        (json!(["pad", 42, 6, "0"]), "'000042'"),
        (json!(["pad", "ö", 3, "ä"]), "'ääö'"),
        (json!(["pad", "long", 2, " "]), "'long'"),
        (json!(["decimal", 12345, 2]), "123.45"),
        (json!(["decimal", -5, 3]), "-0.005"),
        (json!(["decimal", 7, 0]), "7"),
        (json!(["+", ["decimal", 150, 2], 1]), "2.5"),
        (json!(["substring", "größer", 2, 3]), "'öße'"),
        (json!(["substring", "abc", 2, 10]), "'c'"),
        (json!(["substring", "abc", 9, 1]), "''"),
        (json!(["list", 3, 7, ", "]), "'7, 7, 7'"),
        (json!(["permute", 5, 1, 9]), "0"),
        (json!(["permute", 5, 0, 9]), "NULL"),
    ] {
        assert_eq!(literal(expression.clone()), expected, "{expression}");
        // The same through registers, where nothing is folded.
        let steps =
            json!([{"let": ["x", expression]}, send("s", json!([{"value": ["var", "x"]}]))]);
        assert_eq!(event(steps), [expected], "{expression} in a register");
    }
}

#[test]
fn operators_compute_the_same_when_their_arguments_are_not_constant() {
    let steps = json!([
        {"let": ["n", 3]}, {"let": ["t", "añb"]},
        send("s", json!([{"value": ["times", ["var", "n"], ["var", "t"]]}])),
        send("s", json!([{"value": ["concat", ["concat", ["var", "t"], "-"], ["pad", ["var", "n"], 2, "0"]]}])),
        send("s", json!([{"value": ["substring", ["concat", ["var", "t"], ["var", "t"]], 1, ["var", "n"]]}])),
        send("s", json!([{"raw": ["list", ["var", "n"], ["concat", "'", ["var", "t"], "'"], ","]}])),
        send("s", json!([{"value": ["decimal", ["*", ["var", "n"], -1], 1]}])),
    ]);
    assert_eq!(event(steps), ["'añbañbañb'", "'añb-03'", "'ñba'", "'añb','añb','añb'", "-0.3"]);
}

#[test]
fn a_range_that_is_only_known_when_drawn_is_kept() {
    let steps = json!([{"let": ["low", ["uniform", 1, 100]]}, send("s", json!([{"value":
        ["-", ["zipfian", ["var", "low"], ["+", ["var", "low"], 9], 0.9], ["var", "low"]]}]))]);
    let values: HashSet<String> = literals(2000, with_steps(steps)).into_iter().collect();
    assert_eq!(values.len(), 10);
    assert_eq!(literal(json!(["uniform", 5, ["+", 1, ["connection"]]])), "NULL");
}

#[test]
fn places_are_counted_as_documented() {
    let steps = json!([send(
        "s",
        json!([{"value": ["connection"]}, "/", {"value": ["connections"]},
        " ", {"value": ["event"]}])
    )]);
    let program = compiled(with_steps(steps), 1).unwrap();
    let mut driver = Driver::new(&program, 1);
    driver.cursor = program.cursor(3, 8);
    program.rewind(&mut driver.cursor);
    assert_eq!(driver.events(2), [["3/8 0"], ["3/8 1"]]);
}

#[test]
fn a_drawn_value_stays_in_the_register_of_its_name() {
    let mut program = with_steps(json!([send(
        "s",
        json!([{"value": ["draw", "id"]}, " ",
        {"value": ["var", "id"]}, " ", {"value": ["draw", "id"]}])
    )]));
    program["values"] = json!({"id": ["uniform", 1, 1_000_000]});
    for text in literals(20, program) {
        let [first, kept, second] = text.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{text}")
        };
        assert_eq!(first, kept);
        assert_ne!(first, second);
    }
}

#[test]
fn words_are_picked_at_random_in_turn_or_by_number() {
    let program = |expression: Json| {
        let mut program = with_steps(json!([send("s", json!([{"value": expression}]))]));
        program["dictionaries"] =
            json!({"d": {"words": ["a", 2, ["decimal", 15, 1]]}, "ids": {"query": "SELECT"}});
        program
    };
    assert_eq!(literals(5, program(json!(["next", "d"]))), ["'a'", "2", "1.5", "'a'", "2"]);
    assert_eq!(
        literals(3, program(json!(["word", "d", ["-", ["event"], 1]]))),
        ["1.5", "'a'", "2"]
    );
    let picked: HashSet<String> =
        literals(100, program(json!(["pick", "d"]))).into_iter().collect();
    assert_eq!(picked.len(), 3);
    let ids: HashSet<String> =
        literals(2000, program(json!(["pick", "ids"]))).into_iter().collect();
    assert_eq!(ids.len(), 50);
}

#[test]
fn counters_and_unique_numbers_are_shared_by_all_connections() {
    let steps = json!([send(
        "s",
        json!([{"value": ["counter", "n", 10, 5, 1, 1]}, " ", {"value": ["unique"]}])
    )]);
    let program = compiled(with_steps(steps), 1).unwrap();
    let mut first = Driver::new(&program, 1);
    let mut second = Driver::new(&program, 2);
    let texts: Vec<String> =
        (0..50).flat_map(|_| [first.event().remove(0), second.event().remove(0)]).collect();
    let (counts, unique): (Vec<_>, Vec<_>) =
        texts.iter().map(|text| text.split_once(' ').unwrap()).unzip();
    assert_eq!(counts, (0..100).map(|n| (10 + 5 * n).to_string()).collect::<Vec<_>>());
    assert_eq!(unique.iter().collect::<HashSet<_>>().len(), 100);
}

#[test]
fn each_copy_of_a_counter_counts_by_itself() {
    let counter = json!(["counter", "n", 1, 1, 2, ["connection"]]);
    let program = compiled(with_steps(json!([send("s", json!([{"value": counter}]))])), 1).unwrap();
    let mut drivers: Vec<Driver> = (1..=3)
        .map(|number| {
            let mut driver = Driver::new(&program, 1);
            driver.cursor = program.cursor(number, 3);
            program.rewind(&mut driver.cursor);
            driver
        })
        .collect();
    let mut counts = Vec::new();
    for _ in 0..2 {
        counts.extend(drivers.iter_mut().map(|driver| driver.event().remove(0)));
    }
    // The third connection has the first copy again.
    assert_eq!(counts, ["1", "1", "2", "3", "2", "4"]);
    let bad = json!(["counter", "n", 1, 1, 0, 1]);
    assert!(compiled(with_steps(json!([send("s", json!([{"value": bad}]))])), 1).is_err());
}

#[test]
fn letters_have_a_length_within_their_bounds() {
    let lengths: HashSet<usize> =
        drawn(500, json!(["letters", 2, 5, "ab"])).iter().map(|text| text.len() - 2).collect();
    assert_eq!(lengths, HashSet::from([2, 3, 4, 5]));
}

#[test]
fn an_exponential_length_is_a_float_around_its_mean() {
    let values = drawn(5000, json!(["exponential", 4]));
    let mean = values.iter().map(|text| text.parse::<f64>().unwrap()).sum::<f64>() / 5000.0;
    assert!((mean - 4.0).abs() < 0.25, "{mean}");
}

#[test]
fn raw_parts_are_spliced_in_without_quotes() {
    let sent = event(json!([send(
        "s",
        json!(["SELECT ", {"raw": "a?b"}, " FROM t WHERE x=", {"value": "a?b"}])
    )]));
    assert_eq!(sent, ["SELECT a?b FROM t WHERE x='a?b'"]);
}
