//! What a digest says on standard output, one JSON line a message. docs/reference/digest-format.md is the contract.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::attribute::Unit;
use crate::entry::Time;
use crate::problem::ProblemKind;

/// Raised whenever a reader of the older one would misread this one.
pub const FORMAT: u32 = 1;

/// The format of a source that is not an export.
pub const SLOW_LOG: &str = "slow-log";

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Message {
    Progress(Progress),
    Digest(Box<Digest>),
    Group(Box<Group>),
}

/// How far reading has come; several a second.
#[derive(Debug, Serialize)]
pub struct Progress {
    /// Bytes read of the sources as they lie there (compressed ones are counted compressed).
    pub read_bytes: u64,
    /// Of how many; None where a source is a pipe.
    pub of_bytes: Option<u64>,
    pub entries: u64,
}

/// All but the groups, of which one message each follows.
#[derive(Debug, Serialize)]
pub struct Digest {
    pub format: u32,
    pub sources: Vec<Source>,
    pub problems: Vec<SourceProblem>,
    /// Entries that the filters left out.
    pub filtered: u64,
    pub total: Figures,
    pub timeline: Timeline,
    /// What entries are grouped by: `fingerprint`, `user`, `tag.route` ...
    pub group_by: String,
    /// Whether numbered tables are one.
    pub merge_tables: bool,
    /// So many follow: by total query time, the largest first; ties by count, then by id.
    pub groups: u64,
    /// What the groups beyond the limit come to; None when all are listed.
    pub rest: Option<Rest>,
}

#[derive(Debug, Serialize)]
pub struct Source {
    /// As it was given: a path, or `-`.
    pub name: String,
    /// Uncompressed.
    pub bytes: u64,
    pub compression: Compression,
    /// `slow-log`, or what a slow log was made of: `cloudwatch`, `slow-log-table`.
    pub format: &'static str,
    /// What the server called itself in its banner, as `8.0.36 (MySQL Community Server - GPL)`; None without one.
    pub server: Option<String>,
    /// Entries in it, filtered ones too.
    pub entries: u64,
    pub first_us: Option<Time>,
    pub last_us: Option<Time>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compression {
    None,
    Gzip,
    Zstd,
}

#[derive(Debug, Serialize)]
pub struct SourceProblem {
    pub kind: ProblemKind,
    /// The source's name.
    pub source: String,
    /// None, as the line, in an export.
    pub at_byte: Option<u64>,
    pub line: Option<u64>,
    pub count: u64,
    pub says: String,
}

/// What a set of entries comes to.
#[derive(Debug, Serialize)]
pub struct Figures {
    pub count: u64,
    pub first_us: Option<Time>,
    pub last_us: Option<Time>,
    /// By the attribute's name; those that no entry gave are not there.
    pub measures: BTreeMap<&'static str, Measure>,
    /// The same.
    pub flags: BTreeMap<&'static str, Flag>,
    /// Name and count, the 64 most frequent first, then all others as one whose name is empty. An entry
    /// without one is not counted.
    pub users: Vec<(String, u64)>,
    pub hosts: Vec<(String, u64)>,
    pub databases: Vec<(String, u64)>,
    /// Numbers of errors, in the same way; an entry without an error is not counted.
    pub errors: Vec<(String, u64)>,
}

#[derive(Debug, Serialize)]
pub struct Measure {
    pub unit: Unit,
    /// Entries that have it.
    pub count: u64,
    pub sum: u64,
    pub min: u64,
    pub max: u64,
    /// Quantiles to 1 in 100; None where only sums are kept.
    pub p50: Option<u64>,
    pub p95: Option<u64>,
    pub p99: Option<u64>,
    /// Upper bound (inclusive) and count of each bucket that has any, ascending, 8 of them from a power of two
    /// to the next; empty where only sums are kept.
    pub histogram: Vec<(u64, u64)>,
}

#[derive(Debug, Serialize)]
pub struct Flag {
    pub yes: u64,
    /// Entries that have it, yes or no.
    pub told: u64,
}

#[derive(Debug, Serialize)]
pub struct Group {
    /// 16 hexadecimal digits: the same for the same fingerprint, anywhere and always.
    pub id: String,
    pub fingerprint: String,
    /// Whether `fingerprint` shows the beginning only.
    pub is_cut: bool,
    pub kind: GroupKind,
    #[serde(flatten)]
    pub figures: Figures,
    pub example: Example,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupKind {
    Statement,
    AdministratorCommand,
    /// What has a user, a host, a database, a table or an attribute of a comment in common, whose name is in
    /// place of the fingerprint.
    User,
    Host,
    Database,
    Table,
    Tag,
}

/// The slowest entry of a group; of several, the first.
#[derive(Debug, Serialize)]
pub struct Example {
    pub text: String,
    /// The statement's whole length.
    pub bytes: u64,
    /// Whether `text` is the beginning only.
    pub is_cut: bool,
    pub query_time_us: Option<u64>,
    pub time_us: Option<Time>,
    pub user: Option<String>,
    pub host: Option<String>,
    pub database: Option<String>,
    /// The source's name, and where in it.
    pub source: String,
    /// None, as the line, in an export.
    pub at_byte: Option<u64>,
    pub line: Option<u64>,
}

/// When the load was: entries and query time in steps of `step_s`, those without any left out.
#[derive(Debug, Serialize)]
pub struct Timeline {
    pub step_s: u64,
    /// Start of the step (seconds since 1970), entries, query time in microseconds.
    pub steps: Vec<(i64, u64, u64)>,
}

#[derive(Debug, Serialize)]
pub struct Rest {
    pub groups: u64,
    pub count: u64,
    pub query_time_us: u64,
}
