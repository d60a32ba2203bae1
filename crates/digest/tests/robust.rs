//! Damaged logs: nothing panics, and parts are read as the whole is. The same logs every time.

mod reading;

use std::fs;
use std::path::PathBuf;

use mydyno_digest::context::Context;
use mydyno_digest::cut::cut;
use mydyno_digest::recognise::{recognise, server};
use mydyno_digest::skim::context_after;

use reading::{read_parts, read_whole};

/// Numbers of no quality but their order (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }

    /// A few changes: bytes, pieces left out, doubled, brought from elsewhere, lines swapped.
    fn broken(&mut self, log: &[u8], other: &[u8]) -> Vec<u8> {
        let mut log = log.to_vec();
        for _ in 0..=self.below(6) {
            let (at, length) = (self.below(log.len()), self.below(80));
            let end = log.len().min(at + length);
            match self.below(6) {
                0 if !log.is_empty() => log[at] = self.below(256) as u8,
                1 => drop(log.drain(at..end)),
                2 => drop(log.splice(at..at, log[at..end].to_vec())),
                3 => {
                    let begin = self.below(other.len());
                    let piece = other[begin..other.len().min(begin + length)].to_vec();
                    drop(log.splice(at..at, piece));
                }
                4 => log.insert(at, b"\n\r#: ;\0`"[self.below(8)]),
                _ => log.truncate(log.len() - self.below(log.len() / 4)),
            }
        }
        log
    }
}

fn logs() -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/slow-logs");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

#[test]
fn broken_logs_are_read_alike_in_parts_and_whole_and_never_panic() {
    let logs = logs();
    let mut numbers = Numbers(0x5DEE_CE66);
    for round in 0..2_000 {
        let other = numbers.below(logs.len());
        let log = numbers.broken(&logs[round % logs.len()], &logs[other]);
        recognise(&log);
        server(&log);
        let whole = read_whole(&log);
        let at = cut(&log[..numbers.below(log.len() + 1)]).unwrap_or(0);
        let parts = [&log[..at], &log[at..]];
        assert!(read_parts(&parts) == whole, "round {round}, at {at}: {}", log.escape_ascii());
        let half = context_after(parts[0], &Context::default());
        let context = context_after(parts[1], &half);
        assert!(context == whole.context, "round {round}, at {at}: {}", log.escape_ascii());
    }
}

#[test]
fn random_bytes_hold_nothing_and_do_no_harm() {
    let mut numbers = Numbers(0x1234_5678);
    for length in [1, 7, 100, 10_000, 300_000] {
        let bytes: Vec<u8> = (0..length).map(|_| numbers.below(256) as u8).collect();
        let reading = read_whole(&bytes);
        assert!(reading.entries.is_empty());
        assert_eq!(reading.context, context_after(&bytes, &Context::default()));
    }
}

#[test]
fn a_statement_of_megabytes_is_one_entry() {
    let row = "('\n# not a header', 1),\n";
    let values = row.repeat(200_000);
    let log = format!(
        "# Query_time: 2.0  Lock_time: 0.0\nSET timestamp=5;\nINSERT INTO t VALUES {values}(2);\n"
    );
    let reading = read_whole(log.as_bytes());
    assert_eq!(reading.entries.len(), 1);
    assert_eq!(reading.entries[0].statement.len(), 21 + values.len() + 3);
    assert_eq!(cut(log.as_bytes()), None);
    assert_eq!(reading.context, context_after(log.as_bytes(), &Context::default()));
}
