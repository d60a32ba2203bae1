use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;

use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("mydyno-source-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.0.join(name);
        fs::write(&path, bytes).unwrap();
        text(&path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    // As the command does it; without it damage may look like a text.
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Not too easy to compress, so that packed data have several blocks.
fn log(lines: u64) -> Vec<u8> {
    let line = |n: u64| format!("{:x} {n}\n", n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    (0..lines).flat_map(|n| line(n).into_bytes()).collect()
}

/// All that a source gives through a buffer of that size, and its end.
fn read(name: &str, buffer_bytes: usize) -> (Vec<u8>, End) {
    let (stop, read_bytes) = (Stop::new().unwrap(), AtomicU64::new(0));
    let mut source = Source::open(name, &stop, &read_bytes).unwrap();
    let mut all = Vec::new();
    let mut buffer = vec![0; buffer_bytes];
    loop {
        let filled = source.fill(&mut buffer, &stop);
        all.extend_from_slice(&buffer[..filled.bytes]);
        if let Some(end) = filled.end {
            assert!(read_bytes.into_inner() > 0);
            return (all, end);
        }
        assert_eq!(filled.bytes, buffer_bytes, "a buffer is filled before the end");
    }
}

fn refusal(name: &str) -> Refusal {
    Source::open(name, &Stop::new().unwrap(), &AtomicU64::new(0)).err().unwrap()
}

#[test]
fn plain_gzip_and_zstd_give_the_same_whatever_they_are_called() {
    let folder = Folder::new("same");
    let log = log(10_000);
    for (name, bytes) in
        [("plain.gz", log.clone()), ("gzip.log", gzip(&log)), ("zstd.1", zstd(&log))]
    {
        let name = folder.file(name, &bytes);
        for buffer_bytes in [1_000, 5_000, 1 << 20] {
            let (read, end) = read(&name, buffer_bytes);
            assert!(read == log && matches!(end, End::Whole), "{name} by {buffer_bytes}: {end:?}");
        }
    }
}

#[test]
fn several_members_and_frames_are_one_log() {
    let folder = Folder::new("members");
    let (first, second) = (log(3_000), log(7_000));
    let both = [&first[..], &second].concat();
    let padded = [&gzip(&first)[..], &gzip(b""), &gzip(&second), &[0; 512]].concat();
    let skippable = b"\x50\x2a\x4d\x18\x03\0\0\0abc";
    let frames = [&zstd(&first)[..], skippable, &zstd(b""), &zstd(&second)].concat();
    for (name, bytes) in [("gzip", padded), ("zstd", frames)] {
        let (read, end) = read(&folder.file(name, &bytes), 4_096);
        assert!(read == both && matches!(end, End::Whole), "{name}: {end:?}");
    }
}

#[test]
fn all_before_a_broken_tail_is_read() {
    let folder = Folder::new("tail");
    let log = log(30_000);
    for (name, packed) in [("gzip", gzip(&log)), ("zstd", zstd(&log))] {
        let (read, end) = read(&folder.file(name, &packed[..packed.len() / 2]), 1 << 20);
        assert!(log.starts_with(&read) && read.len() > log.len() / 3, "{name}: {}", read.len());
        let End::Before(Trouble::Broken(how)) = end else { panic!("{name}: {end:?}") };
        assert!(how.contains("end in the middle"), "{how}");
    }
}

#[test]
fn all_before_a_damaged_place_is_read() {
    let folder = Folder::new("damage");
    let log = log(30_000);
    for (name, mut packed) in [("gzip", gzip(&log)), ("zstd", zstd(&log))] {
        let middle = packed.len() / 2;
        packed[middle..middle + 200].fill(0xff);
        let (read, end) = read(&folder.file(name, &packed), 1 << 20);
        let agrees = read.iter().zip(&log).take_while(|(one, other)| one == other).count();
        assert!(agrees > log.len() / 3, "{name}: {agrees} of {}", read.len());
        let End::Before(Trouble::Broken(how)) = end else { panic!("{name}: {end:?}") };
        assert!(how.contains("damaged") && how.contains("near byte"), "{how}");
    }
}

#[test]
fn what_follows_the_gzip_data_is_reported() {
    let folder = Folder::new("follows");
    let (read, end) = read(&folder.file("both", &[&gzip(b"packed")[..], b"plain"].concat()), 100);
    assert_eq!(read, b"packed");
    let End::Before(Trouble::Broken(how)) = end else { panic!("{end:?}") };
    assert!(how.contains("something else follows"), "{how}");
}

#[test]
fn an_empty_source_is_empty_packed_or_not() {
    let folder = Folder::new("empty");
    for (name, bytes) in [("plain", vec![]), ("gzip", gzip(b"")), ("zstd", zstd(b""))] {
        assert!(matches!(refusal(&folder.file(name, &bytes)), Refusal::Empty), "{name}");
    }
}

#[test]
fn why_a_source_cannot_be_opened_is_said_in_words() {
    let folder = Folder::new("unreadable");
    for (name, words) in
        [(folder.0.join("missing"), "no such file"), (folder.0.clone(), "a directory")]
    {
        let Refusal::Trouble(Trouble::Unreadable(why)) = refusal(&text(&name)) else { panic!() };
        assert!(why.contains(words), "{why}");
    }
}

#[test]
fn a_fifo_is_read_to_the_end_of_its_writer() {
    let folder = Folder::new("fifo");
    let path = folder.0.join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let packed = gzip(&log(9_000));
    let writing = thread::spawn({
        let path = path.clone();
        move || fs::File::options().write(true).open(path).unwrap().write_all(&packed).unwrap()
    });
    let (read, end) = read(&text(&path), 10_000);
    writing.join().unwrap();
    assert!(read == log(9_000) && matches!(end, End::Whole), "{end:?}");
}

#[test]
fn an_end_that_is_asked_for_wakes_a_read_that_waits() {
    let folder = Folder::new("wakes");
    let path = folder.0.join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    // Both ends here: it opens without a reader, and the reader never sees an end.
    let both = fs::File::options().read(true).write(true).open(&path).unwrap();
    let (stop, read_bytes) = (Stop::new().unwrap(), AtomicU64::new(0));
    let opened = thread::scope(|scope| {
        let opening = scope.spawn(|| Source::open(&text(&path), &stop, &read_bytes));
        stop.ask();
        opening.join().unwrap()
    });
    drop(both);
    assert!(matches!(opened.err(), Some(Refusal::Trouble(Trouble::Interrupted))));
}

#[test]
fn what_sources_come_to_is_known_unless_one_is_a_pipe() {
    let folder = Folder::new("total");
    let names =
        [folder.file("one", b"12345"), folder.file("two", b"678"), text(&folder.0.join("missing"))];
    assert_eq!(total_bytes(&names), Some(8));
    let path = folder.0.join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    assert_eq!(total_bytes(&[names[0].clone(), text(&path)]), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_behind_a_magic_end_in_a_panic(tail in prop::collection::vec(any::<u8>(), 0..300), gzip in any::<bool>()) {
        let folder = Folder::new("panic");
        let magic: &[u8] = if gzip { b"\x1f\x8b\x08\0" } else { b"\x28\xb5\x2f\xfd" };
        let name = folder.file("bytes", &[magic, &tail].concat());
        let (stop, read_bytes) = (Stop::new().unwrap(), AtomicU64::new(0));
        if let Ok(mut source) = Source::open(&name, &stop, &read_bytes) {
            let mut buffer = vec![0; 1 << 16];
            prop_assert!((0..100).any(|_| source.fill(&mut buffer, &stop).end.is_some()));
        }
    }
}
