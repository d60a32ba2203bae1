//! What the programs send, as shapes: statements without literals, how often, and in how many uninterrupted
//! stretches. The files beside this one are the yardstick; they were compared with the suite's programs (sql-bench
//! 2.15 in the sources of MySQL 5.5) statement by statement. docs/reference/sql-bench.md lists what differs, and why.
//!
//! `MYDYNO_WRITE_SHAPES=1 cargo test shapes` writes the files anew: look at the difference before you commit it.

use std::fmt::Write;
use std::path::PathBuf;

use super::dry::dry_with_shapes;
use crate::job::SqlBenchProgram as Program;

const OPTIONS: &str = r#"{"small": true, "create_options": "ENGINE=InnoDB"}"#;

fn file(program: Program) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/sqlbench/shapes");
    folder.join(format!("{}.txt", program.name()))
}

/// A line for each shape: statements, stretches, fingerprint.
fn shapes(program: Program) -> String {
    let seen = dry_with_shapes(program, OPTIONS).seen;
    // Columns and tables that are numbered are one shape.
    let mut numbered: Vec<(String, u64, u64)> = Vec::new();
    for shape in seen.shapes {
        let fingerprint = without_repeats(&without_numbers(&shape.fingerprint));
        match numbered.iter_mut().find(|(known, ..)| *known == fingerprint) {
            Some((_, statements, stretches)) => {
                *statements += shape.statements;
                *stretches += shape.stretches;
            }
            None => numbered.push((fingerprint, shape.statements, shape.stretches)),
        }
    }
    let mut text = String::new();
    for (fingerprint, statements, stretches) in numbered {
        writeln!(text, "{statements:>6} {stretches:>6}  {fingerprint}")
            .expect("writing to a string does not fail");
    }
    text
}

/// `bench_12` and `i12` with N in place of the number.
fn without_numbers(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(place);
        let digits = from.find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len());
        let word = before.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
        cleaned.push_str(before);
        cleaned.push_str(if matches!(word, Some("bench_" | "bench_ind" | "i")) {
            "N"
        } else {
            &from[..digits]
        });
        rest = &from[digits..];
    }
    cleaned + rest
}

/// Repeated terms of a chain or of a list, once with their number.
fn without_repeats(text: &str) -> String {
    let separators = [" or ", ", "];
    let mut text = text.to_owned();
    for separator in separators {
        let mut terms: Vec<(&str, usize)> = Vec::new();
        for term in text.split(separator) {
            match terms.last_mut() {
                Some((last, times)) if *last == term => *times += 1,
                _ => terms.push((term, 1)),
            }
        }
        let shown = terms.iter().map(|&(term, times)| match times {
            1 => term.to_owned(),
            _ => format!("{term} {{{times}}}"),
        });
        text = shown.collect::<Vec<_>>().join(separator);
    }
    text
}

#[test]
fn every_program_sends_the_shapes_of_its_file_as_often_and_in_as_many_stretches() {
    for program in Program::ALL {
        let (file, shapes) = (file(program), shapes(program));
        if std::env::var_os("MYDYNO_WRITE_SHAPES").is_some() {
            std::fs::write(&file, &shapes).unwrap();
        }
        let expected = std::fs::read_to_string(&file).unwrap_or_default();
        let differing =
            expected.lines().zip(shapes.lines()).find(|(expected, sent)| expected != sent);
        assert_eq!(differing, None, "{}", program.name());
        assert_eq!(expected.lines().count(), shapes.lines().count(), "{}", program.name());
    }
}
