//! Any bytes are captured as a log or as packets without a panic, and a trace that comes of them is whole.
//!
//! In crates/trace: cargo +nightly fuzz run capture -- -max_total_time=300 -dict=../digest/fuzz/log.dict

#![no_main]

use std::fs;

use libfuzzer_sys::fuzz_target;
use mydyno_digest::stop::Stop;
use mydyno_trace::Trace;
use mydyno_trace::capture::{Options, capture};

fuzz_target!(|bytes: &[u8]| {
    let folder = std::env::temp_dir();
    let file = folder.join(format!("mydyno-fuzz-{}", std::process::id()));
    let out = file.with_extension("trace");
    fs::write(&file, bytes).unwrap();
    let options = Options { mask: bytes.len() % 2 == 1, ..Options::default() };
    let files = [file.display().to_string()];
    if let Ok((_, footer)) =
        capture(&files, &out, &options, &Stop::new().unwrap(), |_| ())
    {
        let trace = Trace::open(&out).unwrap();
        assert_eq!(trace.footer(), &footer);
        let records = trace.records().unwrap().map(Result::unwrap).count() as u64;
        assert_eq!(records, footer.connections + footer.closed + footer.statements);
    }
});
