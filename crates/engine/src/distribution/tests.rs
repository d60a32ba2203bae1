//! Each distribution against the exact probabilities of its formula, by chi-square.

use super::*;
use proptest::prelude::*;

const DRAWS: usize = 200_000;
const BINS: f64 = 60.0;
const N: u64 = 1_000;
const SPECIAL: Special = Special { draws: 12, window_pct: 20.0, share_pct: 75.0 };

/// Distribution of the mean of `draws` uniform numbers (Irwin and Hall 1927): probability that it is
/// below x.
fn irwin_hall(draws: u32, x: f64) -> f64 {
    let sum = x.clamp(0.0, 1.0) * f64::from(draws);
    // The alternating sum cancels badly in the upper half, which mirrors the lower one.
    if sum > f64::from(draws) / 2.0 {
        return 1.0 - irwin_hall(draws, 1.0 - x.min(1.0));
    }
    let mut binomial = 1.0;
    let mut total = 0.0;
    for k in 0..=(sum as u32) {
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        total += sign * binomial * (sum - f64::from(k)).powi(draws as i32);
        binomial *= f64::from(draws - k) / f64::from(k + 1);
    }
    total / (1..=draws).map(f64::from).product::<f64>()
}

/// Probabilities of the offsets 0..n from the probability of an offset up to k.
fn from_cumulative(n: u64, up_to: impl Fn(u64) -> f64) -> Vec<f64> {
    (0..n).map(|k| up_to(k) - if k == 0 { 0.0 } else { up_to(k - 1) }).collect()
}

fn special(parameters: Special, fresh: bool) -> Vec<f64> {
    let span = (N - 1) as f64;
    let window = span * parameters.window_pct / 100.0;
    let bell = 1.0 - parameters.share_pct / 100.0;
    from_cumulative(N, |k| {
        let edge = k as f64 + 1.0;
        let place = (edge - span / 2.0 + window / 2.0) / (window + 1.0);
        let in_window = match fresh {
            true => place.clamp(0.0, 1.0) * (1.0 - bell),
            false => place.clamp(bell, 1.0) - bell,
        };
        bell * irwin_hall(parameters.draws, edge / span) + in_window
    })
}

fn special_legacy(parameters: Special) -> Vec<f64> {
    let n = N as usize;
    let multiple = (100.0 / (100.0 - parameters.share_pct)) as usize;
    let mut expected = vec![0.0; n];
    // The sum of the draws by adding one whole number from 1 to n at a time.
    let mut sums = vec![1.0];
    for _ in 0..parameters.draws {
        let mut next = vec![0.0; sums.len() + n];
        let mut running = 0.0;
        for (sum, slot) in next.iter_mut().enumerate().skip(1) {
            running += sums.get(sum - 1).unwrap_or(&0.0);
            if sum > n {
                running -= sums.get(sum - 1 - n).unwrap_or(&0.0);
            }
            *slot = running / n as f64;
        }
        sums = next;
    }
    let draws = parameters.draws as usize;
    for (sum, probability) in sums.iter().enumerate().skip(draws) {
        expected[sum / draws - 1] += probability / multiple as f64;
    }
    let window = (n as f64 * parameters.window_pct / 100.0) as usize;
    for value in n + 1..=n * multiple {
        expected[value % window + n / 2 - window / 2 - 1] += 1.0 / (n * multiple) as f64;
    }
    expected
}

fn expected(shape: Shape) -> Vec<f64> {
    let n = N as f64;
    match shape {
        Shape::Uniform => vec![1.0 / n; N as usize],
        Shape::Gaussian { draws } => from_cumulative(N, |k| irwin_hall(draws, (k + 1) as f64 / n)),
        Shape::Special(parameters) => special(parameters, false),
        Shape::SpecialCorrected(parameters) => special(parameters, true),
        Shape::SpecialLegacy(parameters) => special_legacy(parameters),
        Shape::Pareto { h } => {
            let power = h.ln() / (1.0 - h).ln();
            from_cumulative(N, |k| ((k + 1) as f64 / n).powf(1.0 / power))
        }
        Shape::Zipfian { exponent } => {
            let weights: Vec<f64> = (1..=N).map(|k| (k as f64).powf(-exponent)).collect();
            let sum: f64 = weights.iter().sum();
            weights.iter().map(|weight| weight / sum).collect()
        }
        Shape::NonUniform { a, c } => {
            let mut expected = vec![0.0; N as usize];
            for mask in 0..=a {
                for value in 1..=N {
                    let place = ((mask | value) as i64 + c).rem_euclid(N as i64);
                    expected[place as usize] += 1.0 / ((a + 1) as f64 * n);
                }
            }
            expected
        }
    }
}

fn draws(shape: Shape, seed: u64) -> Vec<u64> {
    let picker = Picker::new(shape, 1, N as i64).unwrap();
    let mut random = Random::stream(seed, &[]);
    let mut counts = vec![0; N as usize];
    (0..DRAWS).for_each(|_| counts[(picker.draw(&mut random) - 1) as usize] += 1);
    counts
}

/// Chi-square over the value that it exceeds once in a thousand times when the formula is right: below
/// 1 the counts agree with the probabilities. Neighbouring values are joined to bins of about equal
/// probability.
fn disagreement(counts: &[u64], probabilities: &[f64]) -> f64 {
    let draws: u64 = counts.iter().sum();
    let total: f64 = probabilities.iter().sum();
    assert!((total - 1.0).abs() < 1e-6, "the probabilities add up to {total}");
    let mut chi_square = 0.0;
    let mut bins = 0;
    let (mut seen, mut probability) = (0, 0.0);
    let mut left = total;
    for (place, (count, share)) in counts.iter().zip(probabilities).enumerate() {
        seen += count;
        probability += share;
        left -= share;
        if place + 1 == counts.len() || (probability >= 1.0 / BINS && left >= 1.0 / BINS) {
            let wanted = probability * draws as f64;
            chi_square += (seen as f64 - wanted).powi(2) / wanted;
            bins += 1;
            (seen, probability) = (0, 0.0);
        }
    }
    assert!(bins >= 5, "only {bins} bins");
    // Wilson and Hilferty 1931; 3.09 standard deviations leave one in a thousand.
    let freedom = f64::from(bins - 1);
    let part = 2.0 / (9.0 * freedom);
    chi_square / (freedom * (1.0 - part + 3.09 * part.sqrt()).powi(3))
}

fn all() -> Vec<Shape> {
    vec![
        Shape::Uniform,
        Shape::Gaussian { draws: 12 },
        Shape::Gaussian { draws: 3 },
        Shape::Special(SPECIAL),
        Shape::SpecialCorrected(SPECIAL),
        Shape::SpecialLegacy(SPECIAL),
        Shape::Pareto { h: 0.2 },
        Shape::Zipfian { exponent: 0.8 },
        Shape::Zipfian { exponent: 1.0 },
        Shape::Zipfian { exponent: 2.5 },
        Shape::NonUniform { a: 255, c: 123 },
    ]
}

#[test]
fn every_distribution_has_the_probabilities_of_its_formula() {
    for shape in all() {
        for seed in [1, 2] {
            let found = disagreement(&draws(shape, seed), &expected(shape));
            assert!(found < 1.0, "{shape:?} with seed {seed}: {found}");
        }
    }
}

#[test]
fn the_neighbouring_formula_of_each_is_distinguished() {
    let other = |window_pct, share_pct| Special { window_pct, share_pct, ..SPECIAL };
    for (drawn, stated) in [
        (Shape::Special(SPECIAL), Shape::SpecialCorrected(SPECIAL)),
        (Shape::SpecialCorrected(SPECIAL), Shape::Special(SPECIAL)),
        (Shape::SpecialLegacy(SPECIAL), Shape::SpecialCorrected(other(21.0, 75.0))),
        (Shape::SpecialLegacy(SPECIAL), Shape::Special(SPECIAL)),
        (Shape::Special(SPECIAL), Shape::Special(other(20.0, 74.0))),
        (Shape::Gaussian { draws: 12 }, Shape::Gaussian { draws: 11 }),
        (Shape::Pareto { h: 0.2 }, Shape::Pareto { h: 0.205 }),
        (Shape::Zipfian { exponent: 0.8 }, Shape::Zipfian { exponent: 0.82 }),
        (Shape::Zipfian { exponent: 1.0 }, Shape::Pareto { h: 0.2 }),
        (Shape::NonUniform { a: 255, c: 123 }, Shape::NonUniform { a: 255, c: 122 }),
        (Shape::NonUniform { a: 255, c: 123 }, Shape::NonUniform { a: 127, c: 123 }),
    ] {
        let found = disagreement(&draws(drawn, 1), &expected(stated));
        assert!(found > 1.0, "{drawn:?} passes for {stated:?}: {found}");
    }
}

#[test]
fn with_the_parameters_of_sysbench_only_the_upper_part_of_the_special_window_is_hit() {
    let defaults = Special { draws: 12, window_pct: 1.0, share_pct: 75.0 };
    let lower_quarter = |shape| {
        let picker = Picker::new(shape, 1, 10_000).unwrap();
        let mut random = Random::stream(3, &[]);
        let values = (0..DRAWS).map(|_| picker.draw(&mut random));
        values.filter(|value| (4_950..=4_973).contains(value)).count() as f64 / DRAWS as f64
    };
    assert!(lower_quarter(Shape::Special(defaults)) < 0.01);
    assert!(lower_quarter(Shape::SpecialCorrected(defaults)) > 0.15);
}

#[test]
fn exponential_lengths_have_the_probabilities_of_their_formula() {
    let mut random = Random::stream(1, &[]);
    let mut counts = vec![0; 40];
    let mean = 2.5;
    for _ in 0..DRAWS {
        counts[((exponential(mean, &mut random) / 0.2) as usize).min(39)] += 1;
    }
    let expected = |mean: f64| {
        let below = |bin: usize| 1.0 - (-(bin as f64) * 0.2 / mean).exp();
        let shares = (0..40).map(|bin| if bin == 39 { 1.0 } else { below(bin + 1) } - below(bin));
        shares.collect::<Vec<f64>>()
    };
    assert!(disagreement(&counts, &expected(mean)) < 1.0);
    assert!(disagreement(&counts, &expected(2.55)) > 1.0);
}

#[test]
fn an_empty_range_and_one_beyond_64_bits_have_no_picker() {
    assert!(Picker::new(Shape::Uniform, 2, 1).is_none());
    assert!(Picker::new(Shape::Uniform, i64::MIN, i64::MAX).is_none());
    assert!(Picker::new(Shape::Uniform, 0, i64::MAX).is_none());
    assert!(Picker::new(Shape::Uniform, 1, i64::MAX).is_some());
}

proptest! {
    #[test]
    fn every_draw_is_within_the_range(seed: u64, low in -1_000i64..1_000, span in prop_oneof![
        0i64..10, 0i64..5_000_000, 0i64..1 << 60
    ]) {
        let mut random = Random::stream(seed, &[]);
        for shape in all() {
            let picker = Picker::new(shape, low, low + span).unwrap();
            for _ in 0..30 {
                prop_assert!((low..=low + span).contains(&picker.draw(&mut random)));
            }
        }
    }
}
