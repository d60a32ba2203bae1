//! Which rows are touched: the access distributions of sysbench 1.0.20 with its default parameters.

use serde::Deserialize;

use crate::random::Random;

/// How many uniform draws a gaussian value averages (`--rand-spec-iter` of sysbench).
const GAUSSIAN_DRAWS: u32 = 12;
/// Share of the range, in per cent, that the special values come from (`--rand-spec-pct`).
const SPECIAL_WINDOW_PCT: f64 = 1.0;
/// Share of the draws, in per cent, that are special values (`--rand-spec-res`).
const SPECIAL_SHARE_PCT: f64 = 75.0;
/// 20 % of the values get 80 % of the accesses (`--rand-pareto-h`).
const PARETO_H: f64 = 0.2;

/// Name of a distribution, as a job spells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    /// A quarter of the draws bell-shaped over the whole range, the others in a window of 1 % in
    /// its middle. As sysbench reuses the number that chose the branch, only the upper three
    /// quarters of that window are ever hit.
    #[default]
    Special,
    /// Every value alike.
    Uniform,
    /// The mean of twelve uniform draws.
    Gaussian,
    /// The low values hot, by a power law.
    Pareto,
}

/// Draws whole numbers in `low..=high` from a distribution.
#[derive(Clone, Copy, Debug)]
pub struct Picker {
    distribution: Distribution,
    low: u32,
    high: u32,
    pareto_power: f64,
}

impl Picker {
    /// A picker over `low..=high`; `high` must not be below `low`.
    pub fn new(distribution: Distribution, low: u32, high: u32) -> Self {
        assert!(low <= high, "an empty range has no values to draw");
        let pareto_power = PARETO_H.ln() / (1.0 - PARETO_H).ln();
        Self { distribution, low, high, pareto_power }
    }

    /// The next value, always within the range.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> u32 {
        let values = f64::from(self.high - self.low) + 1.0;
        let offset = match self.distribution {
            Distribution::Uniform => return self.low + random.below(values as u64) as u32,
            Distribution::Gaussian => mean_of_uniform(random) * values,
            Distribution::Special => self.special(random),
            Distribution::Pareto => values * random.unit().powf(self.pareto_power),
        };
        // Rounding may carry a product up to the end of the range; never past it.
        self.low + (offset as u32).min(self.high - self.low)
    }

    fn special(&self, random: &mut Random) -> f64 {
        let span = f64::from(self.high - self.low);
        let choice = random.unit();
        if choice < 1.0 - SPECIAL_SHARE_PCT / 100.0 {
            return span * mean_of_uniform(random);
        }
        let window = span * SPECIAL_WINDOW_PCT / 100.0;
        choice * (window + 1.0) + span / 2.0 - window / 2.0
    }
}

fn mean_of_uniform(random: &mut Random) -> f64 {
    (0..GAUSSIAN_DRAWS).map(|_| random.unit()).sum::<f64>() / f64::from(GAUSSIAN_DRAWS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Distribution; 4] = [
        Distribution::Special,
        Distribution::Uniform,
        Distribution::Gaussian,
        Distribution::Pareto,
    ];

    fn draws(distribution: Distribution, count: usize) -> Vec<u32> {
        let picker = Picker::new(distribution, 1, 10_000);
        let mut random = Random::stream(11, &[]);
        (0..count).map(|_| picker.draw(&mut random)).collect()
    }

    fn share(values: &[u32], wanted: impl Fn(u32) -> bool) -> f64 {
        values.iter().filter(|&&value| wanted(value)).count() as f64 / values.len() as f64
    }

    proptest! {
        #[test]
        fn every_draw_is_within_the_range(seed: u64, low in 0u32..1000, span in 0u32..5_000_000) {
            let mut random = Random::stream(seed, &[]);
            for distribution in ALL {
                let picker = Picker::new(distribution, low, low + span);
                for _ in 0..50 {
                    prop_assert!((low..=low + span).contains(&picker.draw(&mut random)));
                }
            }
        }
    }

    #[test]
    fn uniform_gives_every_tenth_of_the_range_a_tenth_of_the_draws() {
        let values = draws(Distribution::Uniform, 100_000);
        for tenth in 0..10 {
            let part = share(&values, |value| (value - 1) / 1000 == tenth);
            assert!((part - 0.1).abs() < 0.005, "tenth {tenth} got {part}");
        }
    }

    #[test]
    fn gaussian_keeps_two_thirds_of_the_draws_within_one_standard_deviation() {
        // The mean of 12 uniform draws has the deviation range / sqrt(12 * 12) = range / 12.
        let values = draws(Distribution::Gaussian, 100_000);
        let within = share(&values, |value| value.abs_diff(5_000) < 833);
        assert!((within - 0.683).abs() < 0.01, "{within}");
    }

    #[test]
    fn special_puts_three_quarters_of_the_draws_in_the_upper_part_of_its_window() {
        let values = draws(Distribution::Special, 100_000);
        let upper = share(&values, |value| (4_975..=5_051).contains(&value));
        // 75 % by choice, and about 0.25 * 77 / 10000 * 4.8 of the bell at its peak.
        assert!((upper - 0.759).abs() < 0.01, "{upper}");
        let lower = share(&values, |value| (4_950..=4_973).contains(&value));
        assert!(lower < 0.01, "the lower quarter of the window must stay cold, got {lower}");
    }

    #[test]
    fn pareto_gives_a_fifth_of_the_values_four_fifths_of_the_draws() {
        let values = draws(Distribution::Pareto, 100_000);
        let low_fifth = share(&values, |value| value <= 2_000);
        assert!((low_fifth - 0.8).abs() < 0.01, "{low_fifth}");
    }
}
