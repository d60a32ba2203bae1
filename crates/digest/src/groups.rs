//! Entries by fingerprint, and what each group of them comes to.
//!
//! Groups of the parts of a log can be merged in any order: what comes out depends on the entries alone.
//! Memory is bounded by the number of distinct fingerprints: a text and an example of bounded length, counts
//! of names and of histograms' buckets.

mod example;
mod figures;

#[cfg(test)]
mod tests;

use std::collections::hash_map::Entry as Slot;

use crate::attribute::Attribute;
use crate::entry::{Entry, Kind};
use crate::fingerprint::{self, Fingerprint, Id};
use crate::message;
use crate::names::{ByHash, Texts};
use crate::timeline::Timeline;
use example::Example;
use figures::Figures;

/// Of a fingerprint's text, in bytes. Its id covers all of it.
pub const MOST_FINGERPRINT: usize = 4096;

/// How much of an example's text is kept unless told otherwise, in bytes.
pub const EXAMPLE_BYTES: usize = 8192;

#[derive(Debug)]
pub struct Groups {
    example_bytes: usize,
    groups: ByHash<Box<Group>>,
    texts: Texts,
    timeline: Timeline,
}

#[derive(Debug)]
struct Group {
    fingerprint: Fingerprint,
    kind: Kind,
    figures: Figures,
    example: Example,
}

/// What to tell, and of what.
pub struct Finish<'a> {
    /// Groups that are told one by one; None for all.
    pub limit: Option<usize>,
    /// The names of the sources that entries were said to be of.
    pub sources: &'a [String],
}

impl Default for Groups {
    fn default() -> Self {
        Self::new(EXAMPLE_BYTES)
    }
}

impl Groups {
    /// `example_bytes` of an example's text are kept.
    pub fn new(example_bytes: usize) -> Self {
        Self {
            example_bytes,
            groups: ByHash::default(),
            texts: Texts::default(),
            timeline: Timeline::default(),
        }
    }

    #[inline]
    pub fn add(&mut self, entry: &Entry, source: u32) {
        self.add_as(fingerprint::id_of(entry), entry, source);
    }

    /// For who has asked for the entry's id already.
    pub fn add_as(&mut self, id: Id, entry: &Entry, source: u32) {
        let query_time = entry.values.get(Attribute::QueryTime);
        if let Some(time) = entry.time {
            self.timeline.add(time, query_time.unwrap_or(0));
        }
        let group = match self.groups.entry(id.0) {
            Slot::Occupied(slot) => {
                let group = slot.into_mut();
                group.example.replace_if_slower(entry, source, self.example_bytes);
                group
            }
            Slot::Vacant(slot) => slot.insert(Box::new(Group {
                fingerprint: fingerprint::text_of(entry, MOST_FINGERPRINT),
                kind: entry.kind,
                figures: Figures::default(),
                example: Example::new(entry, source, self.example_bytes),
            })),
        };
        group.figures.add(entry, &mut self.texts);
    }

    pub fn merge(&mut self, other: Groups) {
        self.timeline.merge(other.timeline);
        self.texts.merge(other.texts);
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

    /// The whole, when it was, the groups by total query time and what is left out of them.
    pub fn finish(
        mut self,
        finish: &Finish,
    ) -> (message::Figures, message::Timeline, Vec<message::Group>, Option<message::Rest>) {
        self.texts.prune();
        let mut total = Figures::default();
        for group in self.groups.values() {
            total.merge(&group.figures);
        }
        let mut groups: Vec<(u64, Box<Group>)> = self.groups.into_iter().collect();
        groups.sort_unstable_by_key(|(id, group)| {
            let figures = &group.figures;
            (std::cmp::Reverse((figures.query_time_us(), figures.count())), *id)
        });
        let rest = groups.split_off(finish.limit.unwrap_or(groups.len()).min(groups.len()));
        let told = groups.into_iter().map(|(id, group)| message::Group {
            id: Id(id).to_string(),
            fingerprint: shown(&group.fingerprint.text, group.fingerprint.is_cut),
            is_cut: group.fingerprint.is_cut,
            kind: match group.kind {
                Kind::Statement => message::GroupKind::Statement,
                Kind::AdministratorCommand => message::GroupKind::AdministratorCommand,
            },
            figures: group.figures.told(&self.texts),
            example: group.example.told(finish.sources),
        });
        (total.told(&self.texts), self.timeline.told(), told.collect(), rest_of(&rest))
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
