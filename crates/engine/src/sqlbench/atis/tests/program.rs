//! What the program sends and reports, counted without a server.

use crate::job::SqlBenchProgram;
use crate::sqlbench::dry::{Dry, dry};

fn atis(options: &str) -> Dry {
    let run = dry(SqlBenchProgram::Atis, options);
    assert_eq!(run.left, Vec::<String>::new(), "tables are left");
    run
}

/// Each operation with its tests and statements.
fn operations(run: &Dry) -> Vec<(&str, u64, u64)> {
    run.operations.iter().map(|op| (op.name.as_str(), op.tests, op.statements)).collect()
}

fn counts<const N: usize>(run: &Dry, kinds: [&str; N]) -> [u64; N] {
    kinds.map(|kind| run.count(kind))
}

/// The version query comes on top of the selects.
const VERSION: u64 = 1;

#[test]
fn a_default_run_counts_as_the_suite() {
    let run = atis("{}");
    assert_eq!(run.tests(), 14_124);
    assert_eq!(
        operations(&run),
        [
            ("create_table", 28, 56),
            ("insert", 9768, 9768),
            ("select_simple_join", 500, 500),
            ("select_join", 100, 100),
            ("select_key_prefix_join", 100, 100),
            ("select_distinct", 800, 800),
            ("select_group", 2800, 2800),
            ("drop_table", 28, 28),
        ]
    );
    let found = counts(&run, ["select", "insert", "create_table", "drop_table", "lock_tables"]);
    assert_eq!(found, [4300 + VERSION, 9768, 28, 56, 0]);
}

#[test]
fn a_small_run_makes_a_tenth_of_the_loops_and_a_given_number_of_loops_is_taken() {
    let tests = |options: &str| atis(options).of("select_group")[0].0;
    assert_eq!(tests(r#"{"small": true}"#), 280);
    assert_eq!(tests(r#"{"loop_count": 30}"#), 840);
    assert_eq!(tests(r#"{"small": true, "loop_count": 30}"#), 84);
    assert_eq!(tests(r#"{"small": true, "loop_count": 5}"#), 28);
    assert_eq!(atis(r#"{"small": true}"#).count("select"), 430 + VERSION);
}

#[test]
fn a_fast_run_loads_each_table_at_once_under_locks() {
    let run = atis(r#"{"fast": true}"#);
    let kinds = ["select", "load", "optimize", "lock_tables", "unlock_tables", "drop_table"];
    assert_eq!(counts(&run, kinds), [4300 + VERSION, 28, 1, 2, 2, 56]);
    assert_eq!(run.count("insert"), 0);
    assert_eq!(operations(&run)[1], ("insert", 9768, 30));
}

#[test]
fn tables_are_neither_made_nor_dropped_when_the_options_say_so() {
    let run = dry(SqlBenchProgram::Atis, r#"{"skip_create": true, "skip_delete": true}"#);
    assert_eq!(counts(&run, ["create_table", "insert", "drop_table"]), [0, 0, 0]);
    assert_eq!(run.count("select"), 4300 + VERSION);
}
