//! Any bytes are captured as a log or as packets without a panic, and a trace that comes of them is whole.
//!
//! In crates/trace: cargo +nightly fuzz run capture -- -max_total_time=300 -dict=../digest/fuzz/log.dict

#![no_main]

mod captured;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| captured::check(bytes, bytes.len() % 2 == 1));
