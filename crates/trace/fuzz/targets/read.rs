//! A trace over a part of which any bytes were written is read, or refused, without a panic.
//!
//! In crates/trace: cargo +nightly fuzz run read -- -max_total_time=300

#![no_main]

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use mydyno_digest::stop::Stop;
use mydyno_trace::capture::{Options, capture};
use mydyno_trace::{Error, Trace};

const LOG: &str = "# Time: 2026-01-01T00:00:00.500000Z
# User@Host: app[app] @ localhost []  Id: 1
# Query_time: 0.001000  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 1
use shop;
SET timestamp=1767225600;
SELECT name FROM article WHERE id = 12 AND kind = 'x';
";

/// A trace of one connection and one statement.
static WHOLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let file = std::env::temp_dir().join(format!("mydyno-fuzz-{}.log", std::process::id()));
    let out = file.with_extension("trace");
    fs::write(&file, LOG).unwrap();
    let files = [file.display().to_string()];
    let captured = capture(&files, &out, &Options::default(), &Stop::new().unwrap(), |_| ());
    assert!(captured.is_ok());
    let whole = fs::read(&out).unwrap();
    assert_eq!(read(&out).unwrap(), 2);
    whole
});

fuzz_target!(|bytes: &[u8]| {
    let [low, high, written @ ..] = bytes else { return };
    let mut trace = WHOLE.clone();
    let at = usize::from(u16::from_le_bytes([*low, *high])) % trace.len();
    // The end of the trace goes with what is written beyond it.
    trace.resize(trace.len().max(at + written.len()), 0);
    trace[at..at + written.len()].copy_from_slice(written);
    let file = std::env::temp_dir().join(format!("mydyno-fuzz-{}", std::process::id()));
    fs::write(&file, &trace).unwrap();
    let _ = read(&file);
});

/// All records are read.
fn read(file: &Path) -> Result<usize, Error> {
    Trace::open(file)?.records()?.try_fold(0, |count, record| record.map(|_| count + 1))
}
