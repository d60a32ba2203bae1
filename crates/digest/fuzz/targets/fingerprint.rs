//! Any bytes have a fingerprint without a panic; written down it is a fingerprint of itself, and ids are those of
//! texts.
//!
//! In crates/digest: cargo +nightly fuzz run fingerprint -- -max_total_time=300 -dict=fuzz/sql.dict

#![no_main]

use libfuzzer_sys::fuzz_target;
use mydyno_digest::fingerprint::{id, text};

/// More than a fingerprint of what is tried here can have.
const WHOLE: usize = 1 << 24;

fuzz_target!(|statement: &[u8]| {
    let whole = text(statement, WHOLE);
    assert!(!whole.is_cut);
    assert_eq!(id(&whole.text), id(statement), "{}", String::from_utf8_lossy(&whole.text));
    assert_eq!(text(&whole.text, WHOLE), whole);
    let cut = text(statement, 64);
    assert!(whole.text.starts_with(&cut.text) && cut.text.len() <= 64);
    assert_eq!(cut.is_cut, cut.text.len() < whole.text.len());
});
