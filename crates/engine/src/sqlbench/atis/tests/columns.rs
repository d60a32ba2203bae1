//! Every column against the facts of `profile.txt`.

use std::collections::BTreeSet;

use crate::sqlbench::atis::cell::Cell;
use crate::sqlbench::atis::data;
use crate::sqlbench::atis::schema::SCHEMAS;

/// A column's facts: name, distinct values, whether lengths or values are given, their range, zeros or
/// empty texts.
struct Fact<'a> {
    column: &'a str,
    distinct: usize,
    lengths: bool,
    range: (f64, f64),
    zeros: usize,
}

/// Tables with their rows and columns, from the file of facts.
fn facts() -> Vec<(&'static str, usize, Vec<Fact<'static>>)> {
    let mut tables: Vec<(&str, usize, Vec<Fact>)> = Vec::new();
    for line in include_str!("profile.txt").lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [table, rows] => tables.push((table, rows.parse().unwrap(), Vec::new())),
            [column, distinct, kind, low, high, zeros] => {
                tables.last_mut().unwrap().2.push(Fact {
                    column,
                    distinct: distinct.parse().unwrap(),
                    lengths: kind == "length",
                    range: (low.parse().unwrap(), high.parse().unwrap()),
                    zeros: zeros.parse().unwrap(),
                });
            }
            _ => panic!("{line}"),
        }
    }
    tables
}

/// A value, or the length of a text.
fn measure(cell: &Cell) -> f64 {
    match cell {
        Cell::Integer(value) => *value as f64,
        Cell::Decimal(value, places) => *value as f64 / 10f64.powi(*places as i32),
        Cell::Text(text) => text.len() as f64,
    }
}

#[test]
fn every_column_has_the_distinct_values_range_and_zeros_of_the_original() {
    let rows = data::rows();
    let facts = facts();
    assert_eq!(facts.len(), SCHEMAS.len());
    let mut wrong = Vec::new();
    for ((table, count, columns), (schema, rows)) in facts.iter().zip(SCHEMAS.iter().zip(&rows)) {
        assert_eq!(*table, schema.name);
        if *count != rows.len() {
            wrong.push(format!("{table}: {count} rows, have {}", rows.len()));
        }
        assert_eq!(
            columns.iter().map(|fact| fact.column).collect::<Vec<_>>(),
            super::columns(schema)
        );
        for (at, fact) in columns.iter().enumerate() {
            let cells: Vec<&Cell> = rows.iter().map(|row| &row[at]).collect();
            let distinct = cells.iter().collect::<BTreeSet<_>>().len();
            let measures = || cells.iter().map(|cell| measure(cell));
            let range = (measures().fold(f64::MAX, f64::min), measures().fold(f64::MIN, f64::max));
            let zeros = measures().filter(|&measure| measure == 0.0).count();
            let text = matches!(cells[0], Cell::Text(_));
            if (distinct, range, zeros, text)
                != (fact.distinct, fact.range, fact.zeros, fact.lengths)
            {
                wrong.push(format!(
                    "{table}.{}: {} {:?} {}, have {distinct} {range:?} {zeros}",
                    fact.column, fact.distinct, fact.range, fact.zeros
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
