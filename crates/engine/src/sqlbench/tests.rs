//! The counts of the suite, measured against MariaDB with its own programs: what each reports and
//! what the server sees of it.

use std::sync::OnceLock;

use super::dry::{Dry, dry, dry_with_seed};
use crate::job::SqlBenchProgram as Program;

const INNODB: &str = r#"{"create_options": "ENGINE=InnoDB"}"#;
/// The default run, with an engine that lets every program run.
fn full(program: Program) -> &'static Dry {
    static RUNS: [OnceLock<Dry>; 9] = [const { OnceLock::new() }; 9];
    let place = Program::ALL.iter().position(|&one| one == program).unwrap();
    RUNS[place].get_or_init(|| dry(program, INNODB))
}

const SMALL: &str = r#"{"small": true}"#;
const FAST: &str = r#"{"fast": true}"#;

/// Checks counts of the server; the version query of every program comes on top of its selects.
#[track_caller]
fn seen(dry: &Dry, expected: &[(&str, u64)]) {
    let mut found: Vec<(&str, u64)> = dry.seen.counts.iter().map(|(&k, &n)| (k, n)).collect();
    found.retain(|(kind, _)| *kind != "show_status");
    found.iter_mut().filter(|(kind, _)| *kind == "select").for_each(|(_, count)| *count -= 1);
    found.retain(|(_, count)| *count > 0);
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(dry.left, Vec::<String>::new(), "tables are left");
    assert!(dry.operations.iter().all(|op| op.failed == 0));
}

#[test]
fn alter_table_counts_as_the_suite() {
    let run = full(Program::AlterTable);
    assert_eq!(run.tests(), 207);
    assert_eq!(run.of("insert"), [(1000, 1000, 1000)]);
    let always = [
        ("insert", 1000),
        ("alter_table", 191),
        ("create_index", 8),
        ("drop_index", 8),
        ("create_table", 1),
        ("drop_table", 2),
    ];
    seen(run, &always);
    seen(&dry(Program::AlterTable, FAST), &always);
    let transactional = dry(Program::AlterTable, r#"{"fast": true, "create_options": "innodb"}"#);
    assert_eq!(transactional.count("set_option"), 2);
    assert_eq!(transactional.count("commit"), 1);
    let small = dry(Program::AlterTable, SMALL);
    assert_eq!((small.count("alter_table"), small.count("insert")), (138, 100));
}

#[test]
fn big_tables_counts_as_the_suite() {
    let run = full(Program::BigTables);
    assert_eq!(run.tests(), 4000);
    let counts = [("select", 2000), ("insert", 2001), ("create_table", 1), ("drop_table", 2)];
    seen(run, &counts);
    seen(&dry(Program::BigTables, FAST), &counts);
    let counts = [("select", 200), ("insert", 201), ("create_table", 1), ("drop_table", 2)];
    seen(&dry(Program::BigTables, SMALL), &counts);
}

#[test]
fn connect_counts_as_the_suite_and_opens_as_many_connections() {
    let run = full(Program::Connect);
    assert_eq!(run.tests(), 640_000);
    assert_eq!(run.seen.connections, 30_003);
    let counts = [("select", 630_000), ("insert", 3), ("create_table", 2), ("drop_table", 3)];
    seen(run, &counts);
    let counts = [("select", 6300), ("insert", 3), ("create_table", 2), ("drop_table", 3)];
    for options in [SMALL, r#"{"small": true, "fast": true}"#, r#"{"tcpip": true}"#] {
        seen(&dry(Program::Connect, options), &counts);
    }
}

#[test]
fn create_counts_as_the_suite() {
    let run = full(Program::Create);
    assert_eq!(run.tests(), 50_000);
    seen(run, &[("create_table", 30_000), ("drop_table", 30_000), ("select", 10_000)]);
    let fast = dry(Program::Create, FAST);
    assert_eq!(fast.tests(), 50_000);
    assert_eq!(fast.count("drop_table"), 20_001);
    let small = dry(Program::Create, SMALL);
    seen(&small, &[("create_table", 120), ("drop_table", 120), ("select", 10)]);
    let tests: Vec<u64> = small.operations.iter().map(|op| op.tests).collect();
    assert_eq!(tests, [10, 10, 10, 10, 100]);
}

#[test]
fn insert_counts_as_the_suite() {
    let run = full(Program::Insert);
    assert_eq!(run.tests(), 2_528_921);
    let unsummed = run.operations.iter().filter(|op| !op.in_totals);
    assert_eq!(unsummed.map(|op| op.tests).sum::<u64>(), 3003);
    seen(
        run,
        &[
            ("select", 1_450_511),
            ("insert", 501_004),
            ("insert_select", 2),
            ("update", 450_767),
            ("delete", 10_142),
            ("create_table", 6),
            ("drop_table", 10),
        ],
    );
    assert_eq!(run.of("order_by_range"), [(500, 500, 125_750)]);
    assert_eq!(run.of("order_by_key_prefix"), [(500, 500, 125_750)]);
    assert_eq!(run.of("order_by_key2_diff"), [(500, 500, 250_500)]);
    assert_eq!(run.of("select_diff_key"), [(500, 500, 1000)]);
    for name in ["select_range_prefix", "select_range_key2"] {
        let [lists, conditions] = run.of(name)[..] else { panic!("{name} comes twice") };
        assert_eq!((lists.0, lists.1), (5010, 5010));
        assert_eq!(conditions, (20_000, 10_000, 43_500));
    }
    assert_eq!(run.of("select_group")[0].0, 111);
    assert_eq!(run.of("select_group")[0].1, 100);
    assert_eq!(run.of("update_of_key_big")[0].1, 502);
    assert_eq!(run.of("outer_join_not_found")[0].1, 10);
    assert_eq!(run.of("delete_range")[0].1, 13);
    assert_eq!(run.of("multiple_value_insert"), [(100_000, 4, 100_000)]);
    assert_eq!(run.of("select_in").len(), 3);
}

#[test]
fn a_small_insert_counts_as_the_suite() {
    let run = dry(Program::Insert, SMALL);
    let counts = ["select", "insert", "update", "delete"].map(|kind| run.count(kind));
    assert_eq!(counts, [3621 + 1, 5101, 4779, 242]);
    for (name, tests) in [
        ("insert", 3000),
        ("insert_duplicates", 1000),
        ("prepared_select", 1000),
        ("select_big", 10),
        ("order_by_range", 10),
        ("select_key_prefix", 20),
        ("select_key2_return_prim", 20),
        ("select_group", 111),
        ("min_max_on_key", 300),
        ("update_of_key", 500),
        ("update_of_key_big", 13),
        ("update_with_key", 3000),
        ("update_with_key_prefix", 1000),
        ("delete_key", 100),
        ("delete_range", 12),
        ("insert_key", 100),
        ("multiple_value_insert", 1000),
    ] {
        assert_eq!(run.of(name)[0].0, tests, "{name}");
    }
    for name in ["select_range_prefix", "select_range_key2"] {
        assert_eq!(run.of(name).iter().map(|op| op.0).collect::<Vec<_>>(), [105, 400]);
    }
    assert_eq!(run.of("select_join_in").iter().map(|op| op.0).collect::<Vec<_>>(), [10; 3]);
}

#[test]
fn a_fast_insert_counts_as_the_suite() {
    let run = dry(Program::Insert, FAST);
    seen(
        &run,
        &[
            ("select", 1_450_511),
            ("insert", 101_029),
            ("insert_select", 2),
            ("update", 450_767),
            ("delete", 10_141),
            ("truncate", 1),
            ("optimize", 8),
            ("lock_tables", 13),
            ("unlock_tables", 12),
            ("create_table", 6),
            ("drop_table", 10),
        ],
    );
}

#[test]
fn select_counts_as_the_suite() {
    let run = full(Program::Select);
    assert_eq!(run.tests(), 157_580);
    let counts = [("select", 147_581), ("insert", 10_000), ("create_table", 1), ("drop_table", 2)];
    seen(run, &counts);
    assert_eq!(run.of("select_big"), [(70, 70, 17_207)]);
    assert_eq!(run.of("count_distinct_big"), [(100, 100, 1_000_000)]);
    assert_eq!(run.of("count_distinct_group_on_key"), [(1000, 1000, 6000)]);
    assert_eq!(run.of("count_group_on_key_parts"), [(1000, 1000, 100_000)]);
    let fast = dry(Program::Select, FAST);
    let more = ["optimize", "lock_tables", "unlock_tables"].map(|kind| fast.count(kind));
    assert_eq!(more, [1, 2, 2]);
    let small = dry(Program::Select, SMALL);
    assert_eq!((small.count("select"), small.count("insert")), (14_759 + 1, 1000));
    assert_eq!(small.of("select_range")[0].0, 41);
}

/// The suite draws 500 conditions a statement; ours are as many from the same recurrence.
#[test]
fn select_range_returns_about_as_many_rows_as_the_suite() {
    let run = full(Program::Select);
    let [(tests, statements, rows)] = run.of("select_range")[..] else { panic!() };
    assert_eq!((tests, statements), (410, 410));
    assert!(rows.abs_diff(1_057_904) < 1000, "{rows} rows");
}

#[test]
fn transactions_counts_as_the_suite() {
    let fast = dry(Program::Transactions, r#"{"create_options": "innodb", "fast": true}"#);
    for run in [full(Program::Transactions), &fast] {
        assert_eq!(run.tests(), 60_300);
        let counts = [
            ("insert", 30_000),
            ("update", 30_000),
            ("delete", 30_000),
            ("rollback", 300),
            ("commit", 3),
            ("set_option", 6),
            ("create_table", 2),
            ("drop_table", 4),
        ];
        seen(run, &counts);
        assert_eq!(run.of("insert_rollback"), [(100, 10_100, 10_100)]);
    }
    let small = dry(Program::Transactions, r#"{"create_options": "innodb", "small": true}"#);
    assert_eq!(["insert", "update", "delete"].map(|kind| small.count(kind)), [300; 3]);
    assert_eq!(small.of("update_rollback")[0].0, 10);
}

#[test]
fn transactions_are_skipped_without_a_transactional_engine() {
    let options = |json| serde_json::from_str(json).unwrap();
    let reason = Program::Transactions.skipped(&options(r#"{"create_options": "ENGINE=Aria"}"#));
    assert!(reason.unwrap().contains("transactional engine"));
    assert_eq!(Program::Transactions.skipped(&options(INNODB)), None);
    assert_eq!(Program::Select.skipped(&options("{}")), None);
}

#[test]
fn wisconsin_counts_as_the_suite() {
    let run = full(Program::Wisconsin);
    assert_eq!(run.tests(), 31_118);
    let counts = [
        ("select", 100),
        ("insert", 31_004),
        ("delete", 5),
        ("update", 6),
        ("create_table", 4),
        ("drop_table", 8),
    ];
    seen(run, &counts);
    assert_eq!(run.of("create_table")[0].0, 3);
    let small = dry(Program::Wisconsin, SMALL);
    assert_eq!(small.of("wisc_benchmark")[0].0, 34);
    assert_eq!(small.count("select"), 20 + 1);
    let fast = dry(Program::Wisconsin, FAST);
    assert_eq!(fast.of("insert")[0].0, 31_000);
    // Four of the changes insert a row; the rows of the tables come from four files.
    assert_eq!((fast.count("insert"), fast.count("load")), (4, 4));
    let more = ["optimize", "lock_tables", "unlock_tables"].map(|kind| fast.count(kind));
    assert_eq!(more, [1, 2, 1]);
}

#[test]
fn atis_counts_as_the_suite() {
    let run = full(Program::Atis);
    assert_eq!(run.tests(), 14_124);
    let counts = [("select", 4300), ("insert", 9768), ("create_table", 28), ("drop_table", 56)];
    seen(run, &counts);
    let small = dry(Program::Atis, SMALL);
    assert_eq!(small.count("select"), 430 + 1);
    let tests: Vec<u64> = small.operations.iter().map(|op| op.tests).collect();
    assert_eq!(tests, [28, 9768, 50, 10, 10, 80, 280, 28]);
    let fast = dry(Program::Atis, FAST);
    let more = ["optimize", "lock_tables", "unlock_tables"].map(|kind| fast.count(kind));
    assert_eq!(more, [1, 2, 2]);
    assert_eq!(fast.of("insert")[0].0, 9768);
}

#[test]
fn a_full_run_of_all_programs_counts_as_the_suite() {
    let runs = Program::ALL.map(full);
    assert_eq!(runs.iter().map(|run| run.tests()).sum::<u64>(), 3_486_250);
    for (name, tests) in [
        ("insert", 350_768),
        ("select_big", 80),
        ("count_on_key", 50_100),
        ("min_max_on_key", 85_000),
        ("select_group", 2911),
        ("count_distinct_big", 120),
        ("create_table", 31),
        ("select_range_prefix", 25_010),
        ("select_range_key2", 25_010),
        ("select_many_fields", 2000),
        ("insert_many_fields", 2000),
        ("drop_table", 28),
    ] {
        let summed = runs.iter().flat_map(|run| &run.operations);
        let summed = summed.filter(|op| op.in_totals && op.name == name);
        assert_eq!(summed.map(|op| op.tests).sum::<u64>(), tests, "{name}");
    }
}

#[test]
fn statements_follow_from_the_options_and_the_seed_alone() {
    for program in Program::ALL {
        let digest = |options, seed| dry_with_seed(program, options, seed).digest();
        assert_eq!(digest(SMALL, 1), digest(SMALL, 2), "{}", program.name());
    }
    let random = r#"{"small": true, "random": true}"#;
    let digest = |seed| dry_with_seed(Program::Insert, random, seed).digest();
    assert_eq!(digest(1), digest(1));
    assert_ne!(digest(1), digest(2));
}
