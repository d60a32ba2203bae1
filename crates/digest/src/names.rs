//! Who and what entries name (users, hosts, databases), with counts: bounded, and the same in whatever order
//! and in however many parts the entries came.
//!
//! A name is kept as a hash. Where there are too many, those with the largest hashes go. A name among the
//! smallest of a whole is among the smallest of every part that has it, so what is kept was counted from its
//! first entry on, whichever parts were merged when.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::mixing::{few, fold};

/// Names of one kind that a group counts one by one; the messages list [`MOST_LISTED`] of them.
const MOST_COUNTED: usize = 1024;
/// The most frequent ones; all others are listed as one, whose name is empty.
const MOST_LISTED: usize = 64;
/// Distinct names whose texts are kept, over all groups.
const MOST_TEXTS: usize = 65_536;

/// A map whose keys are hashes already.
pub type ByHash<V> = HashMap<u64, V, BuildHasherDefault<NoHash>>;

#[derive(Default)]
pub struct NoHash(u64);

impl Hasher for NoHash {
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are u64");
    }

    #[inline]
    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

/// The texts of names, each once.
#[derive(Debug, Default)]
pub struct Texts(ByHash<Box<[u8]>>);

impl Texts {
    pub fn keep(&mut self, hash: u64, name: &[u8]) {
        self.0.entry(hash).or_insert_with(|| name.into());
        // At twice as many, so that it is seldom.
        if self.0.len() >= 2 * MOST_TEXTS {
            self.prune();
        }
    }

    pub fn merge(&mut self, other: Texts) {
        for (hash, name) in other.0 {
            self.0.entry(hash).or_insert(name);
        }
    }

    pub fn prune(&mut self) {
        if self.0.len() > MOST_TEXTS {
            let mut hashes: Vec<u64> = self.0.keys().copied().collect();
            let (_, &mut most, _) = hashes.select_nth_unstable(MOST_TEXTS - 1);
            self.0.retain(|&hash, _| hash <= most);
        }
    }

    fn get(&self, hash: u64) -> Option<&[u8]> {
        self.0.get(&hash).map(|name| &**name)
    }
}

/// What stands for a name.
#[inline]
pub fn hash(name: &[u8]) -> u64 {
    let mut hash = name.len() as u64;
    for part in name.chunks(8) {
        hash = fold(hash ^ few(part), MIXER);
    }
    fold(hash, MIXER)
}

const MIXER: u64 = 0x9e37_79b9_7f4a_7c15;

/// How often each name of one kind was met.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Entries that have a name.
    given: u64,
    counts: Vec<(u64, u64)>,
    /// Where the name before was; the next one is often the same.
    last: usize,
}

impl Names {
    /// Counts a name; says whether its text may have to be kept.
    #[inline]
    pub fn add(&mut self, hash: u64) -> bool {
        self.given += 1;
        if let Some((last, count)) = self.counts.get_mut(self.last)
            && *last == hash
        {
            *count += 1;
            return false;
        }
        self.add_other(hash, 1)
    }

    fn add_other(&mut self, hash: u64, times: u64) -> bool {
        match self.counts.iter().position(|&(known, _)| known == hash) {
            Some(place) => {
                self.counts[place].1 += times;
                self.last = place;
                false
            }
            None => self.insert(hash, times),
        }
    }

    fn insert(&mut self, hash: u64, times: u64) -> bool {
        if self.counts.len() < MOST_COUNTED {
            self.last = self.counts.len();
            // Most groups have one of each kind.
            if self.counts.is_empty() {
                self.counts.reserve_exact(1);
            }
            self.counts.push((hash, times));
            return true;
        }
        let largest = (0..MOST_COUNTED).max_by_key(|&place| self.counts[place].0);
        let place = largest.expect("there are names");
        if hash < self.counts[place].0 {
            self.counts[place] = (hash, times);
            self.last = place;
        }
        true
    }

    pub fn merge(&mut self, other: &Names) {
        self.given += other.given;
        for &(hash, times) in &other.counts {
            self.add_other(hash, times);
        }
    }

    /// Name and count, the most frequent first, ties by name; those not listed one by one at the end, as "".
    pub fn listed(&self, texts: &Texts) -> Vec<(String, u64)> {
        let mut listed: Vec<(String, u64)> = self
            .counts
            .iter()
            .filter_map(|&(hash, count)| {
                Some((String::from_utf8_lossy(texts.get(hash)?).into_owned(), count))
            })
            .collect();
        listed.sort_unstable_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        listed.truncate(MOST_LISTED);
        let others = self.given - listed.iter().map(|(_, count)| count).sum::<u64>();
        if others > 0 {
            listed.push((String::new(), others));
        }
        listed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(names: &[String]) -> (Names, Texts) {
        let (mut counts, mut texts) = Default::default();
        for name in names {
            let hash = hash(name.as_bytes());
            if Names::add(&mut counts, hash) {
                Texts::keep(&mut texts, hash, name.as_bytes());
            }
        }
        (counts, texts)
    }

    /// A name is met as often as its number has divisors.
    fn many(most: usize) -> Vec<String> {
        (1..most)
            .flat_map(|number| (number..most).step_by(number))
            .map(|n| format!("host{n}"))
            .collect()
    }

    #[test]
    fn the_most_frequent_are_reported_and_the_others_as_one() {
        let names = many(300);
        let (counts, texts) = counted(&names);
        let listed = counts.listed(&texts);
        assert_eq!(listed.len(), MOST_LISTED + 1);
        assert_eq!(listed[0], ("host240".to_owned(), 20));
        assert_eq!(listed[MOST_LISTED].0, "");
        assert_eq!(listed.iter().map(|(_, count)| count).sum::<u64>(), names.len() as u64);
    }

    #[test]
    fn more_than_are_counted_come_to_the_same_in_any_parts() {
        let names = many(3000);
        let (whole, texts) = counted(&names);
        let listed = whole.listed(&texts);
        assert_eq!(listed.iter().map(|(_, count)| count).sum::<u64>(), names.len() as u64);
        for parts in [2, 7] {
            let (mut merged, mut merged_texts): (Names, Texts) = Default::default();
            for part in (0..parts).rev() {
                let own: Vec<String> = names.iter().skip(part).step_by(parts).cloned().collect();
                let (counts, texts) = counted(&own);
                merged.merge(&counts);
                merged_texts.merge(texts);
            }
            assert_eq!(merged.listed(&merged_texts), listed);
        }
    }
}
