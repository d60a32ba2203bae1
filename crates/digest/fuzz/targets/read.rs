//! Any bytes are read without a panic, and alike in parts and whole. The first byte says how many parts at most,
//! and one byte for each where to look for a cut.
//!
//! In crates/digest: cargo +nightly fuzz run read -- -max_total_time=300 -dict=fuzz/log.dict

#![no_main]

use libfuzzer_sys::fuzz_target;
use mydyno_digest::context::Context;
use mydyno_digest::skim::context_after;
use mydyno_digest::cut::cut;
use mydyno_digest::problem::Problems;
use mydyno_digest::read::read;
use mydyno_digest::recognise::{recognise, server};

/// Entries as one text, the problems, and the context that is left.
fn read_parts(parts: &[&[u8]]) -> (String, Problems, Context) {
    let (mut context, mut problems) = (Context::default(), Problems::default());
    let mut entries = String::new();
    for (place, part) in parts.iter().enumerate() {
        let mut met = Problems::default();
        let is_last = place + 1 == parts.len();
        let expected = context_after(part, &context);
        read(part, &mut context, &mut met, is_last, |entry| entries += &format!("{entry:?}\n"));
        assert_eq!(context, expected);
        problems.merge(met);
    }
    (entries, problems, context)
}

fuzz_target!(|data: &[u8]| {
    let Some((&count, rest)) = data.split_first() else { return };
    let Some((places, log)) = rest.split_at_checked(usize::from(count % 8)) else { return };
    recognise(log);
    server(log);
    let mut cuts: Vec<usize> = places
        .iter()
        .filter_map(|&place| cut(&log[..log.len() * usize::from(place) / 255]))
        .chain([0, log.len()])
        .collect();
    cuts.sort_unstable();
    cuts.dedup();
    let parts: Vec<&[u8]> = cuts.windows(2).map(|ends| &log[ends[0]..ends[1]]).collect();
    assert_eq!(read_parts(&[log]), read_parts(&parts));
});
