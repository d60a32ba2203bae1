//! Which rows are touched: distributions of whole numbers, with their formulas.
//!
//! U is a uniform number in [0, 1), n the number of values, t = n - 1. All results are offsets from
//! the low end of the range. The formulas of sysbench are those of its releases 0.4 and 1.0.20.

mod zipfian;

use crate::random::Random;
use zipfian::Zipfian;

/// A distribution with its parameters, but without its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// Every value alike.
    Uniform,
    /// floor(n * mean of `draws` U), sysbench 1.0.20.
    Gaussian { draws: u32 },
    /// sysbench 1.0.20: with probability 1 - share floor(t * mean of `draws` U), else
    /// floor(U * (t * window + 1) + t/2 - t/2 * window) with the U that chose the branch, so that
    /// only the upper part of the window is ever hit.
    Special(Special),
    /// The same with a fresh U for the window, all of which is hit.
    SpecialCorrected(Special),
    /// sysbench 0.4, in whole numbers from 1: v = 1 + r mod (n * m), m = floor(100 / (100 - share));
    /// up to n the mean of `draws` numbers, else v mod d + n/2 - n * window / 2, d the window's size.
    SpecialLegacy(Special),
    /// floor(n * U^p), p = ln h / ln(1 - h): the share h of the values gets 1 - h of the accesses.
    Pareto { h: f64 },
    /// Probability of the k-th value proportional to 1 / k^exponent.
    Zipfian { exponent: f64 },
    /// ((random(0, a) | random(low, high)) + c) mod n, clause 2.1.6 of the TPC-C specification.
    NonUniform { a: u64, c: i64 },
}

/// Parameters of the special distributions of sysbench: `--rand-spec-iter`, `-pct` and `-res`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Special {
    pub draws: u32,
    /// Size of the window in the middle, in per cent of the range.
    pub window_pct: f64,
    /// Share of the draws, in per cent, that fall into the window.
    pub share_pct: f64,
}

/// Draws whole numbers in `low..=high`.
#[derive(Clone, Copy, Debug)]
pub struct Picker {
    low: i64,
    /// Number of values.
    values: u64,
    method: Method,
}

/// A shape with what can be computed beforehand.
#[derive(Clone, Copy, Debug)]
enum Method {
    Uniform,
    Gaussian { draws: u32 },
    Special { parameters: Special, fresh: bool },
    SpecialLegacy { parameters: Special },
    Power { exponent: f64 },
    Zipfian(Zipfian),
    NonUniform { a: u64, c: i64 },
}

impl Picker {
    /// A picker over `low..=high`; `None` when that is empty or has more values than an i64.
    pub fn new(shape: Shape, low: i64, high: i64) -> Option<Self> {
        let values = high.checked_sub(low)?.checked_add(1).filter(|&values| values > 0)? as u64;
        let method = match shape {
            Shape::Uniform => Method::Uniform,
            Shape::Gaussian { draws } => Method::Gaussian { draws },
            Shape::Special(parameters) => Method::Special { parameters, fresh: false },
            Shape::SpecialCorrected(parameters) => Method::Special { parameters, fresh: true },
            Shape::SpecialLegacy(parameters) => Method::SpecialLegacy { parameters },
            Shape::Pareto { h } => Method::Power { exponent: h.ln() / (1.0 - h).ln() },
            Shape::Zipfian { exponent } => Method::Zipfian(Zipfian::new(values, exponent)),
            Shape::NonUniform { a, c } => Method::NonUniform { a, c },
        };
        Some(Self { low, values, method })
    }

    /// The next value, always within the range.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> i64 {
        let n = self.values as f64;
        let offset = match &self.method {
            Method::Uniform => random.below(self.values),
            Method::Gaussian { draws } => (mean_of_uniform(*draws, random) * n) as u64,
            Method::Special { parameters, fresh } => {
                parameters.draw(n - 1.0, *fresh, random) as u64
            }
            Method::SpecialLegacy { parameters } => parameters.draw_legacy(self.values, random),
            Method::Power { exponent } => (n * random.unit().powf(*exponent)) as u64,
            Method::Zipfian(zipfian) => zipfian.draw(random) - 1,
            Method::NonUniform { a, c } => self.non_uniform(*a, *c, random),
        };
        // Rounding may carry a product up to the end of the range; never past it.
        self.low + offset.min(self.values - 1) as i64
    }

    fn non_uniform(&self, a: u64, c: i64, random: &mut Random) -> u64 {
        let mask = random.below(a + 1) as i64;
        let value = self.low + random.below(self.values) as i64;
        let sum = i128::from(mask | value) + i128::from(c);
        sum.rem_euclid(i128::from(self.values)) as u64
    }
}

impl Special {
    fn draw(&self, span: f64, fresh: bool, random: &mut Random) -> f64 {
        let choice = random.unit();
        if choice < 1.0 - self.share_pct / 100.0 {
            return span * mean_of_uniform(self.draws, random);
        }
        let window = span * self.window_pct / 100.0;
        let place = if fresh { random.unit() } else { choice };
        place * (window + 1.0) + span / 2.0 - window / 2.0
    }

    fn draw_legacy(&self, n: u64, random: &mut Random) -> u64 {
        let multiple = (100.0 / (100.0 - self.share_pct).max(1e-9)) as u64;
        let value = 1 + random.below(n.saturating_mul(multiple.max(1)));
        let number = if value <= n {
            let sum: u128 = (0..self.draws).map(|_| u128::from(1 + random.below(n))).sum();
            (sum / u128::from(self.draws)) as u64
        } else {
            let window = n as f64 * self.window_pct / 100.0;
            value % (window as u64).max(1) + n / 2 - ((window / 2.0) as u64).min(n / 2)
        };
        // Tables of one row would get the id 0.
        number.max(1) - 1
    }
}

#[inline]
fn mean_of_uniform(draws: u32, random: &mut Random) -> f64 {
    (0..draws).map(|_| random.unit()).sum::<f64>() / f64::from(draws)
}

/// A length of time with an exponential distribution, in the unit of its mean.
#[inline]
pub fn exponential(mean: f64, random: &mut Random) -> f64 {
    -mean * (1.0 - random.unit()).ln()
}

#[cfg(test)]
mod tests;
