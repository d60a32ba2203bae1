//! Latencies in nanoseconds, kept whole in HDR histograms.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use serde::Serialize;

/// The largest latency with a bucket of it alone: an hour. Longer ones are counted as an hour.
const MOST_NS: u64 = 3_600_000_000_000;
/// Three digits: a value is off by at most one part in a thousand.
const DIGITS: u8 = 3;

/// A histogram from 1 ns to an hour, exact to three digits.
#[derive(Clone, Debug)]
pub struct Latencies(Histogram<u64>);

impl Default for Latencies {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, MOST_NS, DIGITS);
        Self(histogram.expect("the bounds are valid constants"))
    }
}

impl Latencies {
    /// Counts one latency; allocates nothing.
    #[inline]
    pub fn record(&mut self, nanoseconds: u64) {
        self.0.saturating_record(nanoseconds);
    }

    pub fn merge(&mut self, other: &Latencies) {
        if !other.0.is_empty() {
            self.0.add(&other.0).expect("all histograms have the same bounds");
        }
    }

    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The value that `quantile` (0 to 1) of the latencies do not exceed; `None` without any.
    pub fn quantile_ns(&self, quantile: f64) -> Option<u64> {
        (!self.0.is_empty()).then(|| self.0.value_at_quantile(quantile))
    }

    pub fn max_ns(&self) -> Option<u64> {
        (!self.0.is_empty()).then(|| self.0.max())
    }

    pub fn summary(&self) -> LatencySummary {
        let histogram = &self.0;
        let any = !histogram.is_empty();
        LatencySummary {
            count: histogram.len(),
            min_ns: any.then(|| histogram.min()),
            mean_ns: any.then(|| histogram.mean()),
            max_ns: self.max_ns(),
            p50_ns: self.quantile_ns(0.5),
            p75_ns: self.quantile_ns(0.75),
            p90_ns: self.quantile_ns(0.9),
            p95_ns: self.quantile_ns(0.95),
            p99_ns: self.quantile_ns(0.99),
            p999_ns: self.quantile_ns(0.999),
            histogram: self.encoded(),
        }
    }

    /// The whole histogram as the messages carry it; `None` without any value.
    pub fn encoded_if_any(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.encoded())
    }

    fn encoded(&self) -> String {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.0, &mut bytes)
            .expect("writing to memory does not fail");
        BASE64.encode(bytes)
    }
}

/// A histogram as the messages carry it. All but `count` and `histogram` are null without values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LatencySummary {
    pub count: u64,
    pub min_ns: Option<u64>,
    pub mean_ns: Option<f64>,
    pub max_ns: Option<u64>,
    pub p50_ns: Option<u64>,
    pub p75_ns: Option<u64>,
    pub p90_ns: Option<u64>,
    pub p95_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    pub p999_ns: Option<u64>,
    /// Base64 of the HdrHistogram V2 encoding with deflate; any HdrHistogram library reads it.
    pub histogram: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::Deserializer;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn decode(text: &str) -> Histogram<u64> {
        let bytes = BASE64.decode(text).unwrap();
        Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap()
    }

    proptest! {
        #[test]
        fn the_encoded_histogram_gives_back_every_count(
            values in vec(1u64..10_000_000_000_000, 0..200),
        ) {
            let mut latencies = Latencies::default();
            values.iter().for_each(|&value| latencies.record(value));
            let decoded = decode(&latencies.summary().histogram);
            prop_assert_eq!(decoded, latencies.0);
        }

        #[test]
        fn merging_is_recording_everything_in_one(
            left in vec(1u64..1_000_000_000, 0..50),
            right in vec(1u64..1_000_000_000, 0..50),
        ) {
            let record = |values: &[u64]| {
                let mut latencies = Latencies::default();
                values.iter().for_each(|&value| latencies.record(value));
                latencies
            };
            let mut merged = record(&left);
            merged.merge(&record(&right));
            prop_assert_eq!(merged.0, record(&[left, right].concat()).0);
        }
    }

    #[test]
    fn a_value_is_kept_to_three_digits_and_an_hour_is_the_most() {
        let mut latencies = Latencies::default();
        latencies.record(123_456_789);
        assert!(latencies.max_ns().unwrap().abs_diff(123_456_789) <= 123_456);
        latencies.record(u64::MAX);
        let most = latencies.max_ns().unwrap();
        assert!((MOST_NS..MOST_NS + MOST_NS / 500).contains(&most));
    }

    #[test]
    fn without_values_everything_but_the_count_is_missing() {
        let summary = Latencies::default().summary();
        assert_eq!((summary.count, summary.min_ns, summary.p99_ns), (0, None, None));
        assert_eq!(Latencies::default().encoded_if_any(), None);
        assert_eq!(decode(&summary.histogram).len(), 0);
    }
}
