//! The suite's order of keys: no random numbers but a recurrence, so that every run asks for the
//! same keys.

use crate::random::Random;

/// x becomes x XOR ((x + 63 + i) * 3 mod `modulus`), where i is whatever the caller counts.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    state: u64,
    modulus: u64,
}

impl Keys {
    pub fn new(state: u64, modulus: u64) -> Self {
        Self { state, modulus }
    }

    pub fn next(&mut self, i: u64) -> u64 {
        self.state ^= (self.state + 63 + i) * 3 % self.modulus;
        self.state
    }
}

/// The numbers from `count` to `2 * count - 1` in the suite's order, and the recurrence as it stands
/// after that.
pub fn shuffled(count: u64) -> (Vec<u64>, Keys) {
    let mut keys = Keys::new(1, count);
    let mut order: Vec<u64> = (count..2 * count).collect();
    for i in 0..count {
        order.swap(i as usize, (keys.next(i) % count) as usize);
    }
    (order, keys)
}

/// The same numbers in an order that follows from a seed (Fisher and Yates).
pub fn shuffled_by(random: &mut Random, count: u64) -> Vec<u64> {
    let mut order: Vec<u64> = (count..2 * count).collect();
    for i in (1..count).rev() {
        order.swap(i as usize, random.below(i + 1) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recurrence_gives_the_keys_of_the_suite_in_its_order() {
        let (order, _) = shuffled(100_000);
        let first = [
            104_566, 126_596, 108_393, 170_890, 161_058, 127_192, 113_639, 132_566, 105_077,
            112_162,
        ];
        assert_eq!(order[..10], first);
    }

    #[test]
    fn every_order_is_a_permutation() {
        for count in [10, 100, 1000, 100_000] {
            let mut random = Random::stream(7, &[1]);
            for mut order in [shuffled(count).0, shuffled_by(&mut random, count)] {
                order.sort_unstable();
                assert!(order.iter().copied().eq(count..2 * count));
            }
        }
    }

    #[test]
    fn another_seed_gives_another_order() {
        let order = |seed| shuffled_by(&mut Random::stream(seed, &[1]), 100);
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }
}
