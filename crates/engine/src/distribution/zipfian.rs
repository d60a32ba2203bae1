//! Zipf's law by rejection inversion.
//!
//! W. Hörmann and G. Derflinger, "Rejection-inversion to generate variates from monotone discrete
//! distributions", ACM Transactions on Modeling and Computer Simulation 6 (1996): invert the
//! integral of x^-s, round, and reject the few draws that the rounding puts too high. No table, and
//! a bounded expected number of rounds for any n.

use crate::random::Random;

#[derive(Clone, Copy, Debug)]
pub(super) struct Zipfian {
    values: f64,
    exponent: f64,
    /// Integral of the hat at 3/2 less the probability of the first value, and at n + 1/2.
    low: f64,
    high: f64,
    /// Draws that are rounded by less than this need no look at the hat.
    safe: f64,
}

impl Zipfian {
    pub fn new(values: u64, exponent: f64) -> Self {
        let mut zipfian = Self { values: values as f64, exponent, low: 0.0, high: 0.0, safe: 0.0 };
        zipfian.low = zipfian.integral(1.5) - 1.0;
        zipfian.high = zipfian.integral(zipfian.values + 0.5);
        zipfian.safe = 2.0 - zipfian.inverse(zipfian.integral(2.5) - zipfian.weight(2.0));
        zipfian
    }

    /// A number from 1 to n.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let area = self.high + random.unit() * (self.low - self.high);
            let place = self.inverse(area);
            let number = place.round().clamp(1.0, self.values);
            if number - place <= self.safe
                || area >= self.integral(number + 0.5) - self.weight(number)
            {
                return number as u64;
            }
        }
    }

    fn weight(&self, x: f64) -> f64 {
        x.powf(-self.exponent)
    }

    /// (x^(1-s) - 1) / (1 - s), which becomes ln x at s = 1.
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        let power = (1.0 - self.exponent) * log;
        if power.abs() < 1e-8 { log * (1.0 + power / 2.0) } else { log * power.exp_m1() / power }
    }

    fn inverse(&self, area: f64) -> f64 {
        // Rounding must not carry the argument of the logarithm below 0.
        let power = (area * (1.0 - self.exponent)).max(-1.0);
        let log = if power.abs() < 1e-8 { 1.0 - power / 2.0 } else { power.ln_1p() / power };
        (log * area).exp()
    }
}
