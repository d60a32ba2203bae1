//! What both targets of captures do with a file.

use std::fs;

use mydyno_digest::stop::Stop;
use mydyno_trace::Trace;
use mydyno_trace::capture::{Options, capture};

/// Captures a file of these bytes; a trace that comes of them has all that it says it has.
pub fn check(bytes: &[u8], mask: bool) {
    let file = std::env::temp_dir().join(format!("mydyno-fuzz-{}", std::process::id()));
    let out = file.with_extension("trace");
    fs::write(&file, bytes).unwrap();
    let options = Options { mask, ..Options::default() };
    let files = [file.display().to_string()];
    if let Ok((_, footer)) = capture(&files, &out, &options, &Stop::new().unwrap(), |_| ()) {
        let trace = Trace::open(&out).unwrap();
        assert_eq!(trace.footer(), &footer);
        let records = trace.records().unwrap().map(Result::unwrap).count() as u64;
        assert_eq!(records, footer.connections + footer.closed + footer.statements);
    }
}
