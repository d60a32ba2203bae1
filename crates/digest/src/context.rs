//! What the entries of a log take from those before them.

use crate::entry::Time;

/// What a part of a log takes from the parts before it; the default is that of a log's beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// Where the part begins in its (uncompressed) source.
    pub at: u64,
    /// Ends of lines before it.
    pub lines: u64,
    /// The time of the entry before, as it has or inherits it.
    pub time: Option<Time>,
    /// The last `# Time:` line.
    pub clock: Option<Time>,
    /// The database of the entry before, as well.
    pub database: Vec<u8>,
}
