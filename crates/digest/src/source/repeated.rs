//! Sources that hold what another one before them holds: the same file, or a copy of it.

use std::sync::atomic::AtomicU64;

use rustix::fs::FileType;

use super::{End, Source};
use crate::stop::Stop;

/// Compared at once.
const BUFFER_BYTES: usize = 256 << 10;

/// What distinguishes a source from others, as far as it can be known before it is read.
#[derive(Debug)]
pub struct Identity {
    /// Device and inode of a file; None for a pipe, from which more may come each time.
    file: Option<(u64, u64)>,
    /// Its beginning, unpacked; empty where it holds no entry.
    head: Vec<u8>,
}

/// How a source is another's repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    SameFile,
    SameContent,
}

impl Identity {
    /// Of a source that was just opened. `has_entry`: whether an entry was seen in its beginning; logs without one
    /// are alike and do no harm.
    pub fn new(source: &Source<'_>, has_entry: bool) -> Self {
        let status = source.unpacked.raw.status().ok();
        let file = status
            .filter(|status| FileType::from_raw_mode(status.st_mode) == FileType::RegularFile);
        Self {
            file: file.map(|status| (status.st_dev, status.st_ino)),
            head: if has_entry { source.head().to_vec() } else { Vec::new() },
        }
    }

    /// Whether `name`, of which this is the identity, holds the same as `other_name`. What begins alike is read
    /// to its end, both of them; a reading that fails says no.
    pub fn repeats(
        &self,
        name: &str,
        other: &Identity,
        other_name: &str,
        stop: &Stop,
    ) -> Option<Repetition> {
        self.file?;
        if self.file == other.file {
            return Some(Repetition::SameFile);
        }
        let is_alike = other.file.is_some() && !self.head.is_empty() && self.head == other.head;
        (is_alike && is_same(name, other_name, stop)).then_some(Repetition::SameContent)
    }
}

fn is_same(one: &str, other: &str, stop: &Stop) -> bool {
    let read_bytes = AtomicU64::new(0);
    let open = |name: &str| Source::open(name, stop, &read_bytes).ok();
    let (Some(mut one), Some(mut other)) = (open(one), open(other)) else { return false };
    let (mut left, mut right) = (vec![0; BUFFER_BYTES], vec![0; BUFFER_BYTES]);
    loop {
        let (here, there) = (one.fill(&mut left, stop), other.fill(&mut right, stop));
        if left[..here.bytes] != right[..there.bytes] {
            return false;
        }
        match (here.end, there.end) {
            (None, None) => {}
            (Some(End::Whole), Some(End::Whole)) => return true,
            _ => return false,
        }
    }
}
