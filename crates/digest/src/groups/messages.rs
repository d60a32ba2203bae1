//! Groups as messages, one at a time: all of them at once take several times the memory.

use super::{Group, Place, shown};
use crate::fingerprint::Id;
use crate::message;
use crate::names::Texts;

pub struct GroupMessages {
    groups: std::vec::IntoIter<(u64, Box<Group>)>,
    texts: Texts,
    sources: Vec<Place>,
}

impl GroupMessages {
    pub(super) fn new(groups: Vec<(u64, Box<Group>)>, texts: Texts, sources: &[Place]) -> Self {
        Self { groups: groups.into_iter(), texts, sources: sources.to_vec() }
    }
}

impl Iterator for GroupMessages {
    type Item = message::Group;

    fn next(&mut self) -> Option<message::Group> {
        let (id, group) = self.groups.next()?;
        let Group { fingerprint, kind, figures, example } = *group;
        Some(message::Group {
            id: Id(id).to_string(),
            fingerprint: shown(&fingerprint.text, fingerprint.is_cut),
            is_cut: fingerprint.is_cut,
            kind,
            figures: figures.message(&self.texts),
            example: example.message(&self.sources),
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.groups.size_hint()
    }
}

impl ExactSizeIterator for GroupMessages {}
