//! Pseudo-random numbers of 32 bits that never come twice, as sysbench's unique ids.
//!
//! The permutation by quadratic residues is Jeff Preshing's ("How to Generate a Sequence of Unique
//! Random Integers", 2012): for a prime p = 3 mod 4 the squares of the numbers up to p/2 are all
//! different, and their negatives are the rest. sysbench 1.0 counts through it in the same way.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::job::Part;
use crate::random::Random;

/// The largest prime below 2^32 that is 3 mod 4; the few numbers above it stand for themselves.
const PRIME: u32 = 4_294_967_291;
/// Any number does: it only takes the second pass away from the first.
const MIX: u32 = 0x5bf0_3635;
const STREAM: u64 = 0x756e_6971;

/// A sequence shared by all connections.
#[derive(Debug)]
pub struct Unique {
    counter: AtomicU32,
    offset: u32,
}

impl Unique {
    pub fn new(seed: u64) -> Self {
        let mut random = Random::stream(seed, &[STREAM]);
        let counter = AtomicU32::new(random.bits() as u32);
        Self { counter, offset: random.bits() as u32 }
    }

    /// Goes on where the numbers of this part begin: each engine has as many as the others.
    pub fn take_part(&mut self, part: Part) {
        let first = (u64::from(part.number) << 32) / u64::from(part.of);
        *self.counter.get_mut() = self.counter.get_mut().wrapping_add(first as u32);
    }

    /// The next number; after 2^32 of them the sequence begins again.
    pub fn next(&self) -> u32 {
        let index = self.counter.fetch_add(1, Ordering::Relaxed);
        permute(permute(index).wrapping_add(self.offset) ^ MIX)
    }
}

fn permute(number: u32) -> u32 {
    if number >= PRIME {
        return number;
    }
    let residue = (u64::from(number) * u64::from(number) % u64::from(PRIME)) as u32;
    if number <= PRIME / 2 { residue } else { PRIME - residue }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_number_comes_twice_and_they_fill_the_32_bits_evenly() {
        let unique = Unique::new(1);
        let numbers: Vec<u32> = (0..200_000).map(|_| unique.next()).collect();
        assert_eq!(numbers.iter().collect::<HashSet<_>>().len(), numbers.len());
        let mut eighths = [0u32; 8];
        numbers.iter().for_each(|number| eighths[(number >> 29) as usize] += 1);
        assert!(eighths.iter().all(|count| count.abs_diff(25_000) < 700), "{eighths:?}");
    }

    #[test]
    fn the_ends_of_the_permutation_are_a_permutation_too() {
        let ends: Vec<u32> = (0..1000).chain(PRIME - 1000..=u32::MAX).collect();
        let permuted: HashSet<u32> = ends.iter().map(|&number| permute(number)).collect();
        assert_eq!(permuted.len(), ends.len());
    }

    #[test]
    fn another_seed_gives_another_sequence() {
        let first = |seed| Unique::new(seed).next();
        assert_eq!(first(7), first(7));
        assert_ne!(first(7), first(8));
    }

    #[test]
    fn the_engines_of_a_load_never_draw_the_same_number() {
        let mut all = HashSet::new();
        for number in 0..3 {
            let mut unique = Unique::new(7);
            unique.take_part(Part { number, of: 3 });
            all.extend((0..10_000).map(|_| unique.next()));
        }
        assert_eq!(all.len(), 30_000);
    }
}
