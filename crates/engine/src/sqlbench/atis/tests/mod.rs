//! The generated rows against the facts of the original data, as measured on sql-bench 2.15.

mod columns;
mod fares;
mod flights;
mod others;
mod program;

use std::collections::{BTreeMap, BTreeSet};

use super::cell::{Cell, Row};
use super::data;
use super::queries::GROUPS;
use super::schema::{SCHEMAS, Schema};

/// One table, with its columns by name.
struct Table {
    columns: Vec<&'static str>,
    rows: Vec<Row>,
}

impl Table {
    fn named(name: &str) -> Self {
        let at = SCHEMAS.iter().position(|schema| schema.name == name).expect("a table");
        Self { columns: columns(&SCHEMAS[at]), rows: data::rows().swap_remove(at) }
    }

    /// The values of some columns, row by row.
    fn select<const N: usize>(&self, columns: [&str; N]) -> Vec<[&Cell; N]> {
        let at = columns.map(|column| {
            self.columns.iter().position(|known| *known == column).expect("a column")
        });
        self.rows.iter().map(|row| at.map(|at| &row[at])).collect()
    }

    fn texts(&self, column: &str) -> Vec<&str> {
        self.select([column]).into_iter().map(|[cell]| text(cell)).collect()
    }

    fn numbers(&self, column: &str) -> Vec<i64> {
        self.select([column]).into_iter().map(|[cell]| number(cell)).collect()
    }
}

/// The names of a table's columns, in order.
fn columns(schema: &Schema) -> Vec<&'static str> {
    let declared = schema.definition.split(" NOT NULL").filter(|part| !part.contains("KEY"));
    declared
        .map(|part| part.trim_start_matches(", ").split(' ').next().unwrap().trim_matches('`'))
        .collect()
}

fn text(cell: &Cell) -> &str {
    match cell {
        Cell::Text(text) => text,
        other => panic!("{other} is not a text"),
    }
}

/// A whole number, or so many tenths or hundredths.
fn number(cell: &Cell) -> i64 {
    match cell {
        Cell::Integer(value) | Cell::Decimal(value, _) => *value,
        Cell::Text(text) => panic!("{text} is not a number"),
    }
}

/// How often each item occurs.
fn count<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    for item in items {
        *counts.entry(item).or_default() += 1;
    }
    counts
}

/// The counts alone, the highest first.
fn falling<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<usize> {
    let mut counts: Vec<usize> = count(items).into_values().collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts
}

#[test]
fn the_rows_are_the_same_every_time_and_are_9768() {
    let rows = data::rows();
    assert_eq!(rows, data::rows());
    assert_eq!(rows.iter().map(Vec::len).sum::<usize>() as u64, data::ROWS);
}

#[test]
fn no_two_rows_of_a_table_have_the_same_primary_key() {
    for (schema, rows) in SCHEMAS.iter().zip(data::rows()) {
        let key =
            schema.definition.split("PRIMARY KEY (").nth(1).and_then(|rest| rest.split(')').next());
        let key = key.expect("every table has a primary key").replace('`', "");
        let at: Vec<usize> = key
            .split(", ")
            .map(|column| columns(schema).iter().position(|known| *known == column).unwrap())
            .collect();
        // Servers compare texts without regard to case.
        let keys: BTreeSet<String> = rows
            .iter()
            .map(|row| at.iter().map(|&at| row[at].to_string().to_uppercase() + " ").collect())
            .collect();
        assert_eq!(keys.len(), rows.len(), "{}", schema.name);
    }
}

#[test]
fn the_groups_have_the_queries_and_the_expected_rows_of_the_original() {
    let expected = |name: &str| -> Vec<u64> {
        let group = GROUPS.iter().find(|group| group.name == name).expect("a group");
        group.queries.iter().map(|query| query.rows).collect()
    };
    assert_eq!(expected("select_simple_join"), [1, 11, 7, 4, 579]);
    assert_eq!(expected("select_join"), [579]);
    assert_eq!(expected("select_key_prefix_join"), [5692]);
    assert_eq!(expected("select_distinct"), [6, 9, 22, 534, 579, 579, 44, 44]);
    assert_eq!(
        expected("select_group"),
        [
            7, 7, 4, 7, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 11, 12, 3, 3, 150, 21, 14, 409, 11, 11,
            11, 10, 29
        ]
    );
}

#[test]
fn the_documentation_lists_every_query_with_the_rows_that_it_finds() {
    let listed: Vec<(&str, u64)> = include_str!("../../../../../../docs/reference/atis.md")
        .lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            match cells[..] {
                [group, _, _, original, ours] if ours.parse::<u64>().is_ok() => {
                    assert_eq!(original, ours, "{line}");
                    Some((group, ours.parse().unwrap()))
                }
                _ => None,
            }
        })
        .collect();
    let all =
        GROUPS.iter().flat_map(|group| group.queries.iter().map(|query| (group.name, query.rows)));
    assert_eq!(listed, all.collect::<Vec<_>>());
}
