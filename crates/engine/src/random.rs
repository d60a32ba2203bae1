//! Seeded random numbers: one independent stream for each purpose, reproducible from the job's seed.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of random numbers that is a function of a seed and of the stream's name alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The stream `path` of `seed`; for example `[phase, connection]` for the statements of one
    /// connection. Different paths give unrelated streams.
    pub fn stream(seed: u64, path: &[u64]) -> Self {
        let mixed = path.iter().fold(scramble(seed), |state, part| {
            scramble(state ^ scramble(part.wrapping_add(0x5851_f42d_4c95_7f2d)))
        });
        Self(Xoshiro256PlusPlus::seed_from_u64(mixed))
    }

    /// A real number in [0, 1) with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A whole number in 0..n, by taking the high half of a 128-bit product (bias below n / 2^64).
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Appends `count` random decimal digits. Eighteen come from each draw: drawing every digit by
    /// itself would dominate the cost of the update statements.
    pub fn digits(&mut self, count: usize, out: &mut impl FnMut(u8)) {
        const PER_DRAW: usize = 18;
        let mut left = count;
        while left > 0 {
            let take = left.min(PER_DRAW);
            let mut value = self.below(1_000_000_000_000_000_000);
            for _ in 0..take {
                out(b'0' + (value % 10) as u8);
                value /= 10;
            }
            left -= take;
        }
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): every input bit changes every output bit.
pub fn scramble(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_same_seed_and_path_give_the_same_stream(seed: u64, phase: u64, connection: u64) {
            let mut first = Random::stream(seed, &[phase, connection]);
            let mut second = Random::stream(seed, &[phase, connection]);
            for _ in 0..32 {
                prop_assert_eq!(first.bits(), second.bits());
            }
        }

        #[test]
        fn another_connection_phase_or_seed_gives_another_stream(seed: u64, phase in 0u64..1000, connection in 0u64..1000) {
            let draw = |seed, path: &[u64]| Random::stream(seed, path).bits();
            let here = draw(seed, &[phase, connection]);
            prop_assert_ne!(here, draw(seed, &[phase, connection + 1]));
            prop_assert_ne!(here, draw(seed, &[phase + 1, connection]));
            prop_assert_ne!(here, draw(seed.wrapping_add(1), &[phase, connection]));
        }

        #[test]
        fn a_draw_below_n_is_below_n(seed: u64, n in 1u64..) {
            prop_assert!(Random::stream(seed, &[]).below(n) < n);
        }

        #[test]
        fn digits_are_as_many_as_asked_and_decimal(seed: u64, count in 0usize..200) {
            let mut digits = Vec::new();
            Random::stream(seed, &[]).digits(count, &mut |digit| digits.push(digit));
            prop_assert_eq!(digits.len(), count);
            prop_assert!(digits.iter().all(u8::is_ascii_digit));
        }
    }

    #[test]
    fn unit_numbers_fill_the_interval_evenly() {
        let mut random = Random::stream(7, &[1]);
        let mut counts = [0u32; 10];
        for _ in 0..100_000 {
            counts[(random.unit() * 10.0) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| (9_600..10_400).contains(&count)), "{counts:?}");
    }
}
