//! What could not be read, or not be trusted: counted, and located where it was met first.

use serde::Serialize;

/// A kind of problem. Each is reported once a source, with how often it was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemKind {
    /// The whole source is something else, which the sentence names; none of it was counted.
    NotASlowLog,
    /// It could not be opened, or reading it failed in the middle.
    Unreadable,
    Empty,
    /// The reading was ended; all before that was read.
    Interrupted,
    /// The compressed data end in the middle or are damaged: all before that was read.
    BrokenCompression,
    /// The last entry ends in the middle.
    BrokenTail,
    /// Text before the first entry, or between two, that belongs to none.
    NoHeader,
    /// A header without a statement.
    NoStatement,
    /// A header line whose key or number could not be read; the rest of the entry was counted.
    BadHeader,
    /// Times go backwards from one entry to the next by more than a log's usual disorder.
    ClockBackwards,
    /// Neither UTF-8 nor ASCII: shown with replacement characters.
    NotUtf8,
    /// The same file, or the same content, as a source before it: not counted again.
    ReadTwice,
    /// Longer than what is kept of a statement: counted whole, shown cut.
    LongStatement,
}

/// One kind of problem in one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub kind: ProblemKind,
    /// Where it was met first: the offset in the (uncompressed) source.
    pub at: u64,
    /// The number of that line, from 1; None where there are no lines.
    pub line: Option<u64>,
    /// How often it was met.
    pub count: u64,
    /// What was met first, in words.
    pub says: String,
}

/// The problems of one source: one for each kind that was met, in the order in which they were met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    met: Vec<Problem>,
}

impl Problems {
    /// Counts a problem; `says` is called only for the first of its kind.
    #[cold]
    pub fn note(
        &mut self,
        kind: ProblemKind,
        at: u64,
        line: Option<u64>,
        says: impl FnOnce() -> String,
    ) {
        match self.met.iter_mut().find(|problem| problem.kind == kind) {
            Some(problem) => problem.count += 1,
            None => self.met.push(Problem { kind, at, line, count: 1, says: says() }),
        }
    }

    /// Adds those of other parts of the same source, which may lie before or behind.
    pub fn merge(&mut self, others: Problems) {
        for problem in others.met {
            let Some(known) = self.met.iter_mut().find(|known| known.kind == problem.kind) else {
                self.met.push(problem);
                continue;
            };
            let count = known.count + problem.count;
            if problem.at < known.at {
                *known = problem;
            }
            known.count = count;
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.met.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.met.is_empty()
    }
}
