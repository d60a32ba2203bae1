use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;

use super::*;

/// Several windows go into what is dropped of the entries here.
const MOST_BYTES: usize = 100_000;

const HEADER: &[u8] =
    b"# User@Host: app[app] @ web1 []\n# Query_time: 1.5  Lock_time: 0  Rows_sent: 1  Rows_examined: 1\n";

/// An entry of exactly so many bytes.
fn entry(bytes: usize) -> Vec<u8> {
    let mut entry = [HEADER, b"SELECT '"].concat();
    entry.resize(bytes - 3, b'x');
    entry.extend_from_slice(b"';\n");
    entry
}

struct Log(PathBuf);

impl Log {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("mydyno-chunk-{name}-{}", std::process::id()));
        fs::write(&path, bytes).unwrap();
        Self(path)
    }

    /// What each chunk keeps, and what its entry goes on for beyond it.
    fn chunks(&self, buffer_bytes: usize) -> Vec<(Vec<u8>, Beyond)> {
        let (stop, read_bytes) = (Stop::new().unwrap(), AtomicU64::new(0));
        let source = Source::open(self.0.to_str().unwrap(), &stop, &read_bytes).unwrap();
        let mut chunks = Chunks::new(source, Sizes { buffer_bytes, most_bytes: MOST_BYTES });
        let mut buffer = Vec::new();
        let mut all = Vec::new();
        while let Some(chunk) = chunks.next(&mut buffer, &stop) {
            assert!(buffer.capacity() <= 2 * MOST_BYTES);
            all.push((buffer[..chunk.bytes].to_vec(), chunk.beyond));
        }
        all
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

const NOTHING: Beyond = Beyond { bytes: 0, newlines: 0, closing: 0 };

#[test]
fn chunks_are_whole_entries_and_together_the_log() {
    let log = [b"rest of an entry;\n".to_vec(), entry(300), entry(5_000), entry(200), entry(250)]
        .concat();
    let file = Log::new("whole", &log);
    for buffer_bytes in [1, 100, 300, 700, 4_000, 1 << 20] {
        let chunks = file.chunks(buffer_bytes);
        let together: Vec<u8> = chunks.iter().flat_map(|(kept, _)| kept.clone()).collect();
        assert!(together == log, "by {buffer_bytes}");
        assert!(chunks.iter().all(|(_, beyond)| *beyond == NOTHING));
        assert!(chunks.iter().skip(1).all(|(kept, _)| kept.starts_with(b"# User@Host")));
        assert!(buffer_bytes > 300 || chunks.len() >= 3, "by {buffer_bytes}");
    }
}

#[test]
fn an_entry_that_is_too_long_is_cut_and_what_follows_is_whole() {
    let mut long = entry(MOST_BYTES + 600_000);
    for at in (1_000..long.len() - 10).step_by(50_000) {
        long[at] = b'\n';
    }
    let newlines = memchr_iter(b'\n', &long[MOST_BYTES..]).count() as u64;
    let file = Log::new("long", &[entry(300), long.clone(), entry(400), entry(500)].concat());
    for buffer_bytes in [1_000, 1 << 16, MOST_BYTES] {
        let chunks = file.chunks(buffer_bytes);
        let (kept, beyond) = chunks.iter().find(|(kept, _)| kept.len() == MOST_BYTES).unwrap();
        assert!(*kept == long[..MOST_BYTES]);
        assert_eq!(*beyond, Beyond { bytes: 600_000, newlines, closing: 2 });
        let others: usize = chunks.iter().map(|(kept, _)| kept.len()).sum::<usize>() - MOST_BYTES;
        assert_eq!(others, 300 + 400 + 500, "by {buffer_bytes}");
    }
}

#[test]
fn where_an_entry_is_cut_does_not_depend_on_what_stands_near() {
    for more in [-1_000, -70, -20, -3, 0, 1, 3, 20, 70, 1_000] {
        let long = entry(MOST_BYTES.saturating_add_signed(more));
        let file = Log::new("near", &[long, entry(2_000)].concat());
        let beyond = more.max(0) as u64;
        let expected = [
            (
                MOST_BYTES.saturating_add_signed(more.min(0)),
                Beyond { bytes: beyond, newlines: beyond.min(1), closing: beyond.min(2) },
            ),
            (2_000, NOTHING),
        ];
        for buffer_bytes in [700, 1 << 16, MOST_BYTES] {
            let chunks = file.chunks(buffer_bytes);
            let lengths: Vec<_> =
                chunks.iter().map(|(kept, beyond)| (kept.len(), *beyond)).collect();
            assert_eq!(lengths, expected, "{more} by {buffer_bytes}");
        }
    }
}

#[test]
fn what_goes_on_for_ever_without_an_entry_is_counted() {
    let noise: Vec<u8> = (0..MOST_BYTES + 600_000).map(|n| (n % 251) as u8 | 0x80).collect();
    let chunks = Log::new("noise", &noise).chunks(1 << 20);
    assert_eq!(chunks.len(), 1);
    assert_eq!(chunks[0].1, Beyond { bytes: 600_000, newlines: 0, closing: 0 });
}

#[test]
fn of_the_entry_in_whose_middle_reading_was_interrupted_nothing_is_reported() {
    let log = [entry(300), entry(300), entry(50_000)].concat();
    let interrupted = last(&log[..5_000], End::Before(Trouble::Interrupted));
    assert_eq!(interrupted.bytes, 600);
    assert_eq!(last(&log, End::Before(Trouble::Broken(String::new()))).bytes, log.len());
}
