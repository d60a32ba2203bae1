//! A keyed bijection of 0..n without a table: a Feistel network on the bits of n, walked until it
//! lands below n (cycle walking; Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002).

use crate::random::scramble;

/// Four rounds make a network pseudo-random (Luby and Rackoff 1988).
const ROUNDS: u64 = 4;

/// The place of `index` among 0..n; an index beyond is taken modulo n. `None` without any place.
pub fn permute(index: i64, n: i64, key: i64) -> Option<i64> {
    if n <= 0 {
        return None;
    }
    let half = (64 - (n as u64 - 1).leading_zeros()).div_ceil(2).max(1);
    let mut place = index.rem_euclid(n) as u64;
    loop {
        place = feistel(place, half, key as u64);
        // At most three of four places lie beyond n, so the walk is short.
        if place < n as u64 {
            return Some(place as i64);
        }
    }
}

fn feistel(block: u64, half: u32, key: u64) -> u64 {
    let mask = (1u64 << half) - 1;
    let (mut left, mut right) = (block >> half, block & mask);
    for round in 0..ROUNDS {
        let mixed = scramble(right ^ scramble(key.wrapping_add(round)));
        (left, right) = (right, (left ^ mixed) & mask);
    }
    left << half | right
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_place_is_taken_once(n in 1i64..3000, key: i64) {
            let mut places: Vec<i64> = (0..n).map(|index| permute(index, n, key).unwrap()).collect();
            places.sort_unstable();
            prop_assert_eq!(places, (0..n).collect::<Vec<_>>());
        }

        #[test]
        fn a_place_is_below_n_for_the_largest_n(index: i64, n in i64::MAX - 1000..=i64::MAX, key: i64) {
            prop_assert!((0..n).contains(&permute(index, n, key).unwrap()));
        }
    }

    #[test]
    fn another_key_gives_another_order_and_no_order_is_that_of_the_numbers() {
        let order = |key| (0..1000).map(|index| permute(index, 1000, key)).collect::<Vec<_>>();
        assert_ne!(order(1), order(2));
        let fixed =
            order(1).iter().zip(0..).filter(|(place, index)| **place == Some(*index)).count();
        assert!(fixed < 10, "{fixed} numbers stayed where they were");
        assert_eq!(permute(5, 0, 1), None);
    }
}
