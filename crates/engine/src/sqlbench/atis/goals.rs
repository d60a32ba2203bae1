//! Numbers of distinct values that a column must reach together with another.

use std::collections::BTreeMap;

use crate::random::Random;

/// What a value of a row counts as, if at all.
type Key<'a, K> = Box<dyn Fn(usize, i64) -> Option<K> + 'a>;

/// A number of distinct keys that the values of a column shall have.
pub struct Goal<'a, K: Ord> {
    wanted: usize,
    key: Key<'a, K>,
    /// How often each key occurs now.
    counts: BTreeMap<K, usize>,
}

impl<'a, K: Ord> Goal<'a, K> {
    /// `key` is given a row and its value.
    pub fn new(wanted: usize, values: &[i64], key: impl Fn(usize, i64) -> Option<K> + 'a) -> Self {
        let mut goal = Self { wanted, key: Box::new(key), counts: BTreeMap::new() };
        values.iter().enumerate().for_each(|(row, &value)| goal.add(row, value));
        goal
    }

    fn distance(&self) -> usize {
        self.counts.len().abs_diff(self.wanted)
    }

    fn change(&mut self, row: usize, from: i64, to: i64) {
        self.remove(row, from);
        self.add(row, to);
    }

    fn add(&mut self, row: usize, value: i64) {
        if let Some(key) = (self.key)(row, value) {
            *self.counts.entry(key).or_default() += 1;
        }
    }

    fn remove(&mut self, row: usize, value: i64) {
        if let Some(key) = (self.key)(row, value)
            && let Some(count) = self.counts.get_mut(&key)
        {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&key);
            }
        }
    }
}

/// Changes one value after the other until both goals are met. `propose` gives a row and a new value for
/// it, or nothing; a change that leads away from the goals is not made.
pub fn meet<A: Ord, B: Ord>(
    random: &mut Random,
    values: &mut [i64],
    mut one: Goal<A>,
    mut other: Goal<B>,
    propose: impl Fn(&mut Random, &[i64]) -> Option<(usize, i64)>,
) {
    let mut left = one.distance() + other.distance();
    while left > 0 {
        let Some((row, new)) = propose(random, values) else { continue };
        let old = values[row];
        one.change(row, old, new);
        other.change(row, old, new);
        let after = one.distance() + other.distance();
        if after <= left {
            left = after;
            values[row] = new;
        } else {
            one.change(row, new, old);
            other.change(row, new, old);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn values_change_until_they_have_both_numbers_of_distinct_keys() {
        for (seed, wanted) in [(1, 30), (2, 60), (3, 90)] {
            let mut values: Vec<i64> = (0..100).collect();
            let one = Goal::new(wanted, &values, |_, value| Some(value));
            // Of the even rows only.
            let key = |row: usize, value: i64| row.is_multiple_of(2).then_some(value);
            let other = Goal::new(wanted / 2, &values, key);
            let propose = |random: &mut Random, values: &[i64]| {
                let mut row = || random.below(values.len() as u64) as usize;
                let (row, like) = (row(), row());
                let fresh = random.below(200) as i64;
                Some((row, if fresh < 100 { values[like] } else { fresh }))
            };
            meet(&mut Random::stream(seed, &[]), &mut values, one, other, propose);
            assert_eq!(values.iter().collect::<BTreeSet<_>>().len(), wanted);
            let even: BTreeSet<i64> = values.iter().copied().step_by(2).collect();
            assert_eq!(even.len(), wanted / 2);
        }
    }
}
