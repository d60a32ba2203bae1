//! Entries by fingerprint, and what each group of them comes to.
//!
//! Groups of the parts of a log can be merged in any order: what comes out depends on the entries alone.
//! Memory is bounded by the number of distinct fingerprints: a text and an example of bounded length, counts
//! of names and of histograms' buckets.

mod by;
mod example;
mod figures;
mod messages;

#[cfg(test)]
mod tests;

use std::collections::hash_map::Entry as Slot;

pub use by::{GroupBy, Grouping};
pub use messages::GroupMessages;

use crate::attribute::Attribute;
use crate::entry::{Entry, Kind};
use crate::fingerprint::{self, Fingerprint, Id};
use crate::message::{self, GroupKind};
use crate::names::{ByHash, Texts};
use crate::timeline::Timeline;
use by::Tables;
use example::Example;
use figures::Figures;

/// Of a fingerprint's text, in bytes. Its id covers all of it.
pub const MOST_FINGERPRINT: usize = 4096;

/// How much of an example's text is kept unless configured otherwise, in bytes.
pub const EXAMPLE_BYTES: usize = 8192;

#[derive(Debug)]
pub struct Groups {
    example_bytes: usize,
    grouping: Grouping,
    groups: ByHash<Box<Group>>,
    texts: Texts,
    timeline: Timeline,
    /// Of statements that were met, where they are grouped by table.
    tables: Tables,
    /// Of all entries, where the groups' sum is not: one that names two tables is in two groups.
    total: Option<Box<Figures>>,
}

#[derive(Debug)]
struct Group {
    fingerprint: Fingerprint,
    kind: GroupKind,
    figures: Figures,
    example: Example,
}

/// What to list, and of what.
pub struct Finish<'a> {
    /// Groups that are listed one by one; None for all.
    pub limit: Option<usize>,
    /// The sources that entries were said to be of.
    pub sources: &'a [Place],
}

/// A source of entries.
#[derive(Clone, Debug)]
pub struct Place {
    pub name: String,
    /// Whether a line or a byte of it can be looked up: not in an export.
    pub has_lines: bool,
}

/// What the whole comes to.
pub struct Finished {
    pub total: message::Figures,
    pub timeline: message::Timeline,
    /// By total query time, the largest first.
    pub groups: GroupMessages,
    /// What is left out of them.
    pub rest: Option<message::Rest>,
}

impl Default for Groups {
    fn default() -> Self {
        Self::new(EXAMPLE_BYTES, Grouping::default())
    }
}

impl Groups {
    /// `example_bytes` of an example's text are kept.
    pub fn new(example_bytes: usize, grouping: Grouping) -> Self {
        let total = (grouping.by == GroupBy::Table).then(Box::default);
        Self {
            example_bytes,
            grouping,
            groups: ByHash::default(),
            texts: Texts::default(),
            timeline: Timeline::default(),
            tables: Tables::default(),
            total,
        }
    }

    #[inline]
    pub fn add(&mut self, entry: &Entry, source: u32) {
        if let Some(time) = entry.time {
            self.timeline.add(time, entry.values.get(Attribute::QueryTime).unwrap_or(0));
        }
        if self.grouping.by == GroupBy::Fingerprint {
            let names = self.grouping.names;
            let kind = match entry.kind {
                Kind::Statement => GroupKind::Statement,
                Kind::AdministratorCommand => GroupKind::AdministratorCommand,
            };
            let text = || fingerprint::text_of(entry, MOST_FINGERPRINT, names);
            self.add_to(fingerprint::id_of(entry, names), kind, text, entry, source);
        } else {
            self.add_by_name(entry, source);
        }
    }

    #[inline]
    fn add_to(
        &mut self,
        id: Id,
        kind: GroupKind,
        text: impl FnOnce() -> Fingerprint,
        entry: &Entry,
        source: u32,
    ) {
        let group = match self.groups.entry(id.0) {
            Slot::Occupied(slot) => {
                let group = slot.into_mut();
                group.example.replace_if_slower(entry, source, self.example_bytes);
                group
            }
            Slot::Vacant(slot) => slot.insert(Box::new(Group {
                fingerprint: text(),
                kind,
                figures: Figures::default(),
                example: Example::new(entry, source, self.example_bytes),
            })),
        };
        group.figures.add(entry, &mut self.texts);
    }

    pub fn merge(&mut self, other: Groups) {
        self.timeline.merge(other.timeline);
        self.texts.merge(other.texts);
        if let (Some(total), Some(others)) = (&mut self.total, other.total) {
            total.merge(&others);
        }
        for (id, group) in other.groups {
            match self.groups.entry(id) {
                Slot::Vacant(slot) => {
                    slot.insert(group);
                }
                Slot::Occupied(mut slot) => {
                    let kept = slot.get_mut();
                    kept.figures.merge(&group.figures);
                    if group.example.is_before(&kept.example) {
                        kept.example = group.example;
                    }
                }
            }
        }
    }

    pub fn finish(mut self, finish: &Finish) -> Finished {
        self.texts.prune();
        let total = self.total.take().unwrap_or_else(|| {
            let mut total = Box::<Figures>::default();
            for group in self.groups.values() {
                total.merge(&group.figures);
            }
            total
        });
        let mut groups: Vec<(u64, Box<Group>)> = self.groups.into_iter().collect();
        groups.sort_unstable_by_key(|(id, group)| {
            let figures = &group.figures;
            (std::cmp::Reverse((figures.query_time_us(), figures.count())), *id)
        });
        let rest = groups.split_off(finish.limit.unwrap_or(groups.len()).min(groups.len()));
        Finished {
            total: total.message(&self.texts),
            timeline: self.timeline.message(),
            rest: rest_of(&rest),
            groups: GroupMessages::new(groups, self.texts, finish.sources),
        }
    }
}

/// Text for people. Where it is cut it ends with a whole character.
fn shown(text: &[u8], is_cut: bool) -> String {
    let end = match std::str::from_utf8(text) {
        Err(error) if is_cut && error.error_len().is_none() => error.valid_up_to(),
        _ => text.len(),
    };
    String::from_utf8_lossy(&text[..end]).into_owned()
}

fn rest_of(groups: &[(u64, Box<Group>)]) -> Option<message::Rest> {
    let figures = || groups.iter().map(|(_, group)| &group.figures);
    (!groups.is_empty()).then(|| message::Rest {
        groups: groups.len() as u64,
        count: figures().map(Figures::count).sum(),
        query_time_us: figures().map(Figures::query_time_us).fold(0, u64::saturating_add),
    })
}
