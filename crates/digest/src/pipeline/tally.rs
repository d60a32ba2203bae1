//! What is counted of each source beside its groups.

use super::reader::ReadSource;
use crate::entry::Time;
use crate::import::Format;
use crate::message::{SLOW_LOG, Source, SourceProblem};
use crate::problem::{Problem, ProblemKind, Problems};

/// One worker's, and after merging all workers'.
pub struct Tallies {
    pub sources: Vec<Tally>,
    /// Entries that the filters left out.
    pub filtered: u64,
}

#[derive(Default)]
pub struct Tally {
    pub entries: u64,
    pub first: Option<Time>,
    pub last: Option<Time>,
    pub problems: Problems,
}

impl Tallies {
    pub fn new(sources: usize) -> Self {
        Self { sources: (0..sources).map(|_| Tally::default()).collect(), filtered: 0 }
    }

    pub fn merge(&mut self, others: Tallies) {
        self.filtered += others.filtered;
        for (tally, other) in self.sources.iter_mut().zip(others.sources) {
            tally.entries += other.entries;
            tally.first = earlier(tally.first, other.first);
            tally.last = tally.last.max(other.last);
            tally.problems.merge(other.problems);
        }
    }

    /// With what reading has found, and the entries that were filtered.
    pub fn finish(
        self,
        names: &[String],
        read: Vec<ReadSource>,
    ) -> (Vec<Source>, Vec<SourceProblem>, u64) {
        let mut sources = Vec::new();
        let mut problems = Vec::new();
        for ((name, tally), read) in names.iter().zip(self.sources).zip(read) {
            problems.extend(tally.problems_with(&read).into_iter().map(|problem| SourceProblem {
                kind: problem.kind,
                source: name.clone(),
                at_byte: read.format.is_none().then_some(problem.at),
                line: problem.line.filter(|_| read.format.is_none()),
                count: problem.count,
                says: problem.says,
            }));
            sources.push(Source {
                name: name.clone(),
                bytes: read.bytes,
                compression: read.compression,
                format: read.format.map_or(SLOW_LOG, Format::name),
                server: read.server,
                entries: tally.entries,
                first_us: tally.first,
                last_us: tally.last,
            });
        }
        (sources, problems, self.filtered)
    }
}

impl Tally {
    /// In the order in which they were met.
    fn problems_with(&self, read: &ReadSource) -> Vec<Problem> {
        let at_end = |kind, at, says: &str| Problem {
            kind,
            at,
            line: None,
            count: 1,
            says: says.to_owned(),
        };
        // A banner alone is the log of a server on which nothing was slow yet.
        let is_known = read.is_recognised || read.server.is_some();
        if self.entries == 0 && !is_known && read.problem.is_none() {
            let says = "no entry of a slow log was found in it";
            return vec![at_end(ProblemKind::NotASlowLog, 0, says)];
        }
        let mut problems: Vec<Problem> = self.problems.iter().cloned().collect();
        problems.sort_by_key(|problem| (problem.at, problem.kind));
        problems.extend(read.problem.as_ref().map(|(kind, says)| at_end(*kind, read.bytes, says)));
        problems
    }
}

pub fn earlier(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    one.into_iter().chain(other).min()
}
