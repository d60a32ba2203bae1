//! What a trace says of itself: at its beginning where it comes from, at its end what it came to.

use serde::{Deserialize, Serialize};

/// The format of the file, of which each reader knows all up to its own.
pub const FORMAT: u32 = 1;

/// Where a trace comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    SlowLog,
    GeneralLog,
    /// Packets that tcpdump has written.
    Packets,
    /// Several traces, or sources of several kinds.
    Several,
    /// Made up, as from statement digests: nobody sent these statements.
    Synthetic,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    pub source: Source,
    /// As the server calls itself: `8.0.36 (MySQL Community Server - GPL)`; None where it is not known.
    pub server: Option<String>,
    /// Whether literals were replaced by others of the same kind and length.
    pub masked: bool,
    /// The trace's start in microseconds since 1970, UTC; None where only the order is known.
    pub start_us: Option<i64>,
    /// How exact start instants are, in microseconds: 1_000_000 where the source has whole seconds, in which
    /// its statements were spread evenly.
    pub resolution_us: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Footer {
    pub connections: u64,
    pub closed: u64,
    pub statements: u64,
    /// From the trace's start to the end of its last record, in microseconds.
    pub length_us: u64,
    /// Bytes of all statements as they were logged.
    pub sql_bytes: u64,
    /// What was met in the sources and is not in the trace.
    pub skipped: Vec<Skipped>,
    /// What the trace was made of.
    pub files: Vec<SourceFile>,
}

/// What is not in a trace, and why: one for each kind and file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// `broken-tail`, `encrypted`, ...: docs/reference/trace-format.md has all of them.
    pub kind: String,
    pub count: u64,
    pub file: String,
    /// Where it was met first: the offset in the (uncompressed) file.
    pub at_byte: Option<u64>,
    /// What was met first, in words.
    pub says: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    pub name: String,
    /// Uncompressed.
    pub bytes: u64,
    pub statements: u64,
}
