//! Which entries are digested: a span of time and conditions, all of which must hold.

mod condition;
mod parse;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::entry::{Entry, Time};
use crate::fingerprint::TableNames;
use condition::Condition;

/// Keeps what it has found out of fingerprints, so each worker has one of its own.
#[derive(Clone, Debug, Default)]
pub struct Filters {
    since: Option<Time>,
    until: Option<Time>,
    conditions: Vec<Condition>,
    /// As fingerprints have them that conditions ask for.
    pub names: TableNames,
}

/// What is wrong with a condition as it was written, and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadFilter {
    pub message: String,
    pub hint: String,
}

impl Filters {
    /// From `since` on, up to `until`, which is not among them; conditions are written as
    /// docs/reference/digest-format.md has it: `query_time>=2s`, `user!=backup`.
    pub fn new(
        since: Option<Time>,
        until: Option<Time>,
        conditions: &[impl AsRef<str>],
    ) -> Result<Self, BadFilter> {
        let conditions = conditions.iter().map(|text| parse::condition(text.as_ref()));
        let conditions = conditions.collect::<Result<_, _>>()?;
        Ok(Self { since, until, conditions, names: TableNames::Kept })
    }

    pub fn admits(&mut self, entry: &Entry<'_>) -> bool {
        self.is_in_time(entry.time)
            && self.conditions.iter_mut().all(|condition| condition.holds(entry, self.names))
    }

    /// An entry whose time is unknown is in no span.
    fn is_in_time(&self, time: Option<Time>) -> bool {
        self.since.is_none_or(|since| time.is_some_and(|time| time >= since))
            && self.until.is_none_or(|until| time.is_some_and(|time| time < until))
    }
}

impl fmt::Display for BadFilter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}\nhint: {}", self.message, self.hint)
    }
}
