//! Hand-made logs, one for each difference between formats, and what is in them: tests/fixtures/slow-logs.

mod reading;

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use mydyno_digest::entry::Kind;
use reading::{Reading, read_whole};

#[test]
fn each_log_holds_the_entries_and_problems_that_are_written_beside_it() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/slow-logs");
    let mut logs: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
        .collect();
    logs.sort();
    assert!(!logs.is_empty());
    let mut differing = vec![];
    for log in logs {
        let found = described(&read_whole(&fs::read(&log).unwrap()));
        let expected = fs::read_to_string(log.with_extension("entries")).unwrap_or_default();
        if found != expected {
            let kept = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
                .join(log.with_extension("entries").file_name().unwrap());
            fs::write(&kept, &found).unwrap();
            differing.push(kept);
        }
    }
    assert!(differing.is_empty(), "compare what was found, {differing:?}, with {folder:?}");
}

/// As it is in the `.entries` files: what is not given is not there.
fn described(reading: &Reading) -> String {
    let mut text = String::new();
    for entry in &reading.entries {
        writeln!(text, "line {}, byte {}", entry.line, entry.at).unwrap();
        if let Some(time) = entry.time {
            writeln!(text, "  time {}.{:06}", time / 1_000_000, time % 1_000_000).unwrap();
        }
        let names = [("user", &entry.user), ("host", &entry.host), ("database", &entry.database)];
        for (what, name) in names.into_iter().filter(|(_, name)| !name.is_empty()) {
            writeln!(text, "  {what} {name}").unwrap();
        }
        for (attribute, number) in &entry.values {
            writeln!(text, "  {} {number}", attribute.name()).unwrap();
        }
        let kind = match entry.kind {
            Kind::Statement => "statement",
            Kind::AdministratorCommand => "administrator-command",
        };
        let statement = entry.statement.escape_ascii().to_string().replace("\\'", "'");
        writeln!(text, "  {kind} {}", statement.replace("\\\"", "\"")).unwrap();
    }
    for problem in reading.problems.iter() {
        let line = problem.line.map_or(String::new(), |line| format!("line {line}, "));
        writeln!(
            text,
            "{:?} x{} first at {line}byte {}: {}",
            problem.kind, problem.count, problem.at, problem.says
        )
        .unwrap();
    }
    text
}
