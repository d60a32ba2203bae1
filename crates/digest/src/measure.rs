//! What the numbers of one attribute come to, over any number of entries.

use crate::attribute::Unit;
use crate::histogram::Histogram;
use crate::message;

#[derive(Clone, Debug)]
pub struct Measure {
    count: u64,
    sum: u64,
    min: u64,
    max: u64,
    histogram: Histogram,
}

impl Default for Measure {
    fn default() -> Self {
        Self { count: 0, sum: 0, min: u64::MAX, max: 0, histogram: Histogram::default() }
    }
}

impl Measure {
    #[inline]
    pub fn add(&mut self, number: u64) {
        self.count += 1;
        self.sum = self.sum.saturating_add(number);
        self.min = self.min.min(number);
        self.max = self.max.max(number);
        self.histogram.add(number);
    }

    pub fn merge(&mut self, other: &Measure) {
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.histogram.merge(&other.histogram);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// u64::MAX for any larger sum.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    pub fn message(&self, unit: Unit) -> message::Measure {
        // A bucket's upper bound may lie beyond what was met.
        let [p50, p95, p99] = self
            .histogram
            .quantiles([50, 95, 99])
            .map(|quantile| quantile.map(|value| value.clamp(self.min, self.max)));
        message::Measure {
            unit,
            count: self.count,
            sum: self.sum,
            min: self.min,
            max: self.max,
            p50,
            p95,
            p99,
            histogram: self.histogram.coarse(),
        }
    }
}
