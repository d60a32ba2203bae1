//! What holds for every log: its entries are those that were written, wherever it is cut.

mod dialects;
mod reading;

use mydyno_digest::context::Context;
use mydyno_digest::cut::cut;
use mydyno_digest::skim::context_after;
use proptest::prelude::*;

use dialects::{DIALECTS, known, written};
use reading::{Owned, read_parts, read_whole};

/// The log in parts, cut where [`cut`] offers it before each of some places.
fn parts<'a>(log: &'a [u8], places: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut cuts: Vec<usize> = places
        .iter()
        .filter_map(|place| cut(&log[..place.index(log.len() + 1)]))
        .chain([0, log.len()])
        .collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts.windows(2).map(|ends| &log[ends[0]..ends[1]]).collect()
}

fn assert_parts_are_the_whole(
    log: &[u8],
    places: &[prop::sample::Index],
) -> Result<(), TestCaseError> {
    let parts = parts(log, places);
    let whole = read_whole(log);
    prop_assert_eq!(&read_parts(&parts), &whole);
    let mut context = Context::default();
    for (place, part) in parts.iter().enumerate() {
        let next = context_after(part, &context);
        let read = read_parts(&parts[..=place]).context;
        prop_assert_eq!(&next, &read, "part {}", place);
        context = next;
    }
    Ok(())
}

/// Lines of which logs are made, and lines that stand in the wrong place.
fn any_line() -> impl Strategy<Value = Vec<u8>> {
    const LINES: &[&str] = &[
        "# Time: 261122  3:00:00",
        "# Time: 261122  2:00:00",
        "# Time: 2026-11-22T03:00:00.123456Z",
        "# Time: 2026-13-22T03:00:00.123456Z",
        "# User@Host: a[a] @ b [c]  Id: 1",
        "# User@Host: a @ b",
        "# Query_time: 1.5  Lock_time: 0.0 Rows_sent: 1  Rows_examined: 2",
        "# Query_time: 18446744073709551615.99  Lock_time: x",
        "# Query_time: 0.5  Schema: no",
        "# Thread_id: 7  Schema: shop  QC_hit: No",
        "# Schema: ",
        "# Thread_id: 8 Schema: two words  Last_errno: 1",
        "#   InnoDB_IO_r_ops: 1",
        "# Unknown: 5",
        "# explain: 1 SIMPLE",
        "# Warnings",
        "# Note 1003 x",
        "# Warning 1292 Truncated",
        "# a comment",
        "#comment: 1",
        "#",
        "# administrator command: Quit;",
        "# administrator command: Ping",
        "use shop;",
        "use `my shop`;",
        "use shop",
        "SET timestamp=1795316400;",
        "SET timestamp=1795316400.25;",
        "SET last_insert_id=1,insert_id=2,timestamp=1795316401;",
        "SET insert_id=5;",
        "SET timestamp=99999999999999999999;",
        "SET x = 1;",
        "SELECT 1;",
        "SELECT 2",
        "; SELECT 3 -- x;",
        ";",
        "",
        "  ",
        "\u{FEFF}",
        "/usr/sbin/mysqld, Version: 8.0.36 (x). started with:",
        "Tcp port: 3306  Unix socket: /x",
        "Time                 Id Command    Argument",
    ];
    prop_oneof![
        20 => prop::sample::select(LINES).prop_map(|line| line.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ]
}

fn any_log() -> impl Strategy<Value = Vec<u8>> {
    let line = (any_line(), prop_oneof![9 => Just("\n"), 2 => Just("\r\n"), 1 => Just("")]);
    let mark = prop_oneof![4 => Just(""), 1 => Just("\u{FEFF}")];
    (mark, prop::collection::vec(line, 0..40)).prop_map(|(mark, lines)| {
        let lines = [(mark.as_bytes().to_vec(), "")].into_iter().chain(lines);
        lines.into_iter().flat_map(|(line, end)| [line, end.as_bytes().to_vec()].concat()).collect()
    })
}

fn without_place(entry: &Owned) -> Owned {
    Owned { at: 0, line: 0, ..entry.clone() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_written_is_read_in_every_dialect_whatever_the_order_of_a_header(
        all in prop::collection::vec(known(), 1..8),
        dialect in prop::sample::select(&DIALECTS[..]),
        line_end in prop::sample::select(&["\n", "\r\n"][..]),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let (log, expected) = written(dialect, &all, line_end);
        let reading = read_whole(&log);
        let found: Vec<Owned> = reading.entries.iter().map(without_place).collect();
        prop_assert_eq!(found, expected, "{}", String::from_utf8_lossy(&log));
        prop_assert!(reading.problems.is_empty(), "{:?}", reading.problems);
        assert_parts_are_the_whole(&log, &places)?;
        for entry in &reading.entries {
            let before = &log[..entry.at as usize];
            prop_assert_eq!(memchr::memchr_iter(b'\n', before).count() as u64 + 1, entry.line);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_lines_are_read_alike_in_parts_and_whole(
        log in any_log(),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        assert_parts_are_the_whole(&log, &places)?;
    }
}
