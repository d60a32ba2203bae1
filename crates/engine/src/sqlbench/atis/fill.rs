//! Columns that meet a given number of distinct values, range and number of zeros.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::random::Random;

const CONSONANTS: &[u8] = b"BDFGKLMNPRSTVZ";
const VOWELS: &[u8] = b"AEIOU";
const CODE: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// The source of one theme's rows: the same on every run, whatever the seed of the job.
pub fn source(theme: u64) -> Random {
    const SEED: u64 = 0x6174_6973;
    Random::stream(SEED, &[theme])
}

/// An index below `n`.
pub fn index(random: &mut Random, n: usize) -> usize {
    random.below(n as u64) as usize
}

/// Puts the items into a random order.
pub fn shuffle<T>(random: &mut Random, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, index(random, last + 1));
    }
}

/// `count` distinct numbers of the range, both ends among them, ascending.
pub fn pool(random: &mut Random, count: usize, range: RangeInclusive<i64>) -> Vec<i64> {
    let (low, high) = (*range.start(), *range.end());
    let mut chosen = BTreeSet::from([low, high]);
    while chosen.len() < count {
        chosen.insert(low + random.below((high - low + 1) as u64) as i64);
    }
    chosen.into_iter().collect()
}

/// `rows` items of the pool in random order: each at least once, the first ones more often.
pub fn cover<T: Clone>(random: &mut Random, pool: &[T], rows: usize) -> Vec<T> {
    let mut items = pool.to_vec();
    while items.len() < rows {
        let skewed = random.unit() * random.unit() * pool.len() as f64;
        items.push(pool[skewed as usize].clone());
    }
    shuffle(random, &mut items);
    items
}

/// A column of numbers: `distinct` values up to `highest`, zero one of them in exactly `zeros` rows.
pub fn numbers(
    random: &mut Random,
    rows: usize,
    distinct: usize,
    highest: i64,
    zeros: usize,
) -> Vec<i64> {
    // Real measures do not come near to zero without being it.
    let values = pool(random, distinct - 1, highest / 20 + 1..=highest);
    let mut column = cover(random, &values, rows - zeros);
    column.resize(rows, 0);
    shuffle(random, &mut column);
    column
}

/// A column of texts: every text of the pool, and the empty one in exactly `empties` rows.
pub fn texts<T: AsRef<str>>(
    random: &mut Random,
    rows: usize,
    pool: &[T],
    empties: usize,
) -> Vec<String> {
    let pool: Vec<String> = pool.iter().map(|text| text.as_ref().to_owned()).collect();
    let mut column = cover(random, &pool, rows - empties);
    column.resize(rows, String::new());
    shuffle(random, &mut column);
    column
}

/// `count` invented names, all different, from the shortest to the longest length allowed.
pub fn names(random: &mut Random, count: usize, lengths: RangeInclusive<usize>) -> Vec<String> {
    distinct(random, count, lengths, invented)
}

/// `count` invented codes of capitals and digits, all different.
pub fn codes(random: &mut Random, count: usize, lengths: RangeInclusive<usize>) -> Vec<String> {
    distinct(random, count, lengths, |random, length| {
        (0..length).map(|_| char::from(CODE[index(random, CODE.len())])).collect()
    })
}

fn distinct(
    random: &mut Random,
    count: usize,
    lengths: RangeInclusive<usize>,
    make: impl Fn(&mut Random, usize) -> String,
) -> Vec<String> {
    let (shortest, longest) = (*lengths.start(), *lengths.end());
    let mut made: Vec<String> = Vec::with_capacity(count);
    while made.len() < count {
        let length = match made.len() {
            0 => shortest,
            1 => longest,
            _ => shortest + index(random, longest - shortest + 1),
        };
        let text = make(random, length);
        if !made.contains(&text) {
            made.push(text);
        }
    }
    made
}

/// Words of open syllables, `length` bytes in all, no blank at an end.
fn invented(random: &mut Random, length: usize) -> String {
    let mut text = String::with_capacity(length);
    let mut word = 0;
    while text.len() < length {
        let left = length - text.len();
        if word >= 4 && left > 2 && random.below(3) == 0 {
            text.push(' ');
            word = 0;
            continue;
        }
        let letters = if word % 2 == 0 { CONSONANTS } else { VOWELS };
        text.push(char::from(letters[index(random, letters.len())]));
        word += 1;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_column_of_numbers_has_the_distinct_values_range_and_zeros_asked_for(
            theme: u64, distinct in 3usize..40, spare in 0usize..60, zeros in 1usize..20, highest in 1000i64..90_000,
        ) {
            let rows = distinct + spare + zeros;
            let column = numbers(&mut source(theme), rows, distinct, highest, zeros);
            prop_assert_eq!(column.len(), rows);
            prop_assert_eq!(column.iter().collect::<BTreeSet<_>>().len(), distinct);
            prop_assert_eq!(column.iter().filter(|&&value| value == 0).count(), zeros);
            prop_assert_eq!(column.iter().max(), Some(&highest));
        }

        #[test]
        fn invented_names_differ_and_keep_to_their_lengths(theme: u64, count in 2usize..50) {
            let made = names(&mut source(theme), count, 4..=40);
            prop_assert_eq!(made.iter().collect::<BTreeSet<_>>().len(), count);
            prop_assert_eq!(made.iter().map(String::len).min(), Some(4));
            prop_assert_eq!(made.iter().map(String::len).max(), Some(40));
            prop_assert!(made.iter().all(|name| name.trim() == name));
        }
    }
}
