//! Determinism: what follows from the seed, and what does not.

use super::*;

const PROGRAMS: [&str; 4] =
    ["oltp-read-write-prepared", "program-every-key", "smack-steps", "program-small"];

fn statements(name: &str, seed: u64) -> Vec<Vec<String>> {
    let program = fixture(name);
    Driver::new(&program, seed).events(200)
}

#[test]
fn the_same_seed_sends_the_same_bytes_and_another_sends_others() {
    for name in PROGRAMS {
        assert_eq!(statements(name, 1), statements(name, 1), "{name}");
        assert_ne!(statements(name, 1), statements(name, 2), "{name}");
    }
}

/// All rows of the tables of a program, as they stand in the INSERT.
fn rows(program: &Program) -> Vec<String> {
    let text = |mut table: Table<'_>| {
        let mut out = Vec::new();
        (0..table.count.min(500)).for_each(|_| table.rows.write(&mut out));
        String::from_utf8(out).unwrap()
    };
    program.tables().into_iter().map(text).collect()
}

#[test]
fn the_rows_of_the_tables_depend_on_neither_the_seed_nor_the_load() {
    for name in PROGRAMS {
        // Tables are made before the other dictionaries are.
        let first = unfilled(name);
        let second = fixture(name);
        Driver::new(&second, 9).events(100);
        assert_eq!(rows(&first), rows(&second), "{name}");
    }
}

#[test]
fn tables_of_one_shape_have_other_rows() {
    let tables = rows(&fixture("oltp-read-write-prepared"));
    assert_eq!(tables.len(), 4);
    assert!(tables[0].starts_with("(1,"), "{}", &tables[0][..40]);
    assert_ne!(tables[0], tables[1]);
}

#[test]
fn a_row_follows_its_expressions() {
    let program = fixture("program-every-key");
    let tables = rows(&program);
    let items: Vec<&str> = tables[1].split_inclusive(')').collect();
    let row = fields(items[0]);
    assert_eq!(row.len(), 3);
    let id: i64 = row[0].parse().unwrap();
    assert_eq!(row[1], format!("'item-{:04}'", id - 1), "{row:?}");
    assert_eq!(row[2], if id <= 10 { "0" } else { "100" });
}

fn fields(row: &str) -> Vec<&str> {
    row.trim_matches(['(', ')']).split(',').collect()
}

#[test]
fn every_event_of_every_fixture_ends_and_fits_its_templates() {
    for name in PROGRAMS {
        let program = fixture(name);
        for seed in 0..50 {
            for event in Driver::new(&program, seed).events(20) {
                assert!(!event.is_empty(), "{name} with seed {seed}");
            }
        }
    }
}
