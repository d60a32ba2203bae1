//! Any bytes are read as a block of records without a panic, and what was read is written and read again alike.
//!
//! In crates/trace: cargo +nightly fuzz run block -- -max_total_time=300

#![no_main]

use libfuzzer_sys::fuzz_target;
use mydyno_trace::block::{Builder, read};

fuzz_target!(|bytes: &[u8]| {
    let Some(records) = read(bytes) else { return };
    let mut builder = Builder::default();
    records.iter().for_each(|record| builder.push(record));
    assert_eq!(read(&builder.finish()), Some(records));
});
