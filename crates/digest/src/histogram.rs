//! Counts of numbers in buckets whose width grows with the number: 128 between a power of two and the next,
//! so that a bucket's upper bound is at most 1 in 128 above any number in it. Numbers below 256 have a bucket
//! each. (The idea: G. Tene's HDR histograms; sparse here, since most groups have few entries.)

/// Buckets between a power of two and the next: 2^7.
const FINE: u32 = 7;
/// As many are told in messages, which are drawn: 2^3.
const COARSE: u32 = 3;
/// Buckets that a list holds before it becomes a table.
const MOST_LISTED: usize = 16;
const PAGE: usize = 1 << FINE;
const PAGES: usize = (64 - FINE as usize) + 1;

type Page = Option<Box<[u64; PAGE]>>;

#[derive(Clone, Debug)]
enum Counts {
    /// Bucket and count, in the order in which they were met first.
    Few(Vec<(u32, u64)>),
    /// Pages of buckets that follow each other; a page is there once a number falls into it.
    Many(Box<[Page; PAGES]>),
}

#[derive(Clone, Debug)]
pub struct Histogram {
    /// Many attributes are mostly 0.
    zeros: u64,
    counts: Counts,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { zeros: 0, counts: Counts::Few(Vec::new()) }
    }
}

impl Histogram {
    #[inline]
    pub fn add(&mut self, number: u64, times: u64) {
        if number == 0 {
            self.zeros += times;
        } else {
            self.add_to(bucket(number, FINE), times);
        }
    }

    #[inline]
    fn add_to(&mut self, bucket: u32, times: u64) {
        match &mut self.counts {
            Counts::Many(pages) => add_to_page(pages, bucket, times),
            Counts::Few(list) => {
                if let Some((_, count)) = list.iter_mut().find(|(listed, _)| *listed == bucket) {
                    *count += times;
                } else if list.len() < MOST_LISTED {
                    list.push((bucket, times));
                } else {
                    self.counts = Counts::Many(paged(list));
                    self.add_to(bucket, times);
                }
            }
        }
    }

    pub fn merge(&mut self, other: &Histogram) {
        self.zeros += other.zeros;
        for (bucket, count) in other.filled() {
            self.add_to(bucket, count);
        }
    }

    /// The upper bound of the bucket that holds the number which `hundredths` of all do not exceed.
    pub fn quantile(&self, hundredths: u64) -> Option<u64> {
        let filled = self.filled();
        let count = self.zeros + filled.iter().map(|(_, count)| count).sum::<u64>();
        // In 128 bits: counts may be large.
        let rank = (u128::from(count) * u128::from(hundredths)).div_ceil(100).max(1) as u64;
        if count == 0 || rank <= self.zeros {
            return (count > 0).then_some(0);
        }
        let mut below = self.zeros;
        filled.iter().find_map(|&(bucket, count)| {
            below += count;
            (below >= rank).then(|| upper_bound(bucket, FINE))
        })
    }

    /// Upper bound (inclusive) and count of buckets of which there are 8 between a power of two and the next.
    pub fn coarse(&self) -> Vec<(u64, u64)> {
        let mut told: Vec<(u64, u64)> = Vec::new();
        if self.zeros > 0 {
            told.push((0, self.zeros));
        }
        for (fine, count) in self.filled() {
            let bound = upper_bound(bucket(upper_bound(fine, FINE), COARSE), COARSE);
            match told.last_mut() {
                Some((last, total)) if *last == bound => *total += count,
                _ => told.push((bound, count)),
            }
        }
        told
    }

    /// Buckets that have any, ascending, but that of 0.
    fn filled(&self) -> Vec<(u32, u64)> {
        match &self.counts {
            Counts::Few(list) => {
                let mut list = list.clone();
                list.sort_unstable();
                list
            }
            Counts::Many(pages) => pages
                .iter()
                .enumerate()
                .filter_map(|(number, page)| Some((number, page.as_ref()?)))
                .flat_map(|(number, page)| {
                    let first = number * PAGE;
                    page.iter()
                        .enumerate()
                        .map(move |(place, &count)| ((first + place) as u32, count))
                })
                .filter(|&(_, count)| count > 0)
                .collect(),
        }
    }
}

fn paged(list: &[(u32, u64)]) -> Box<[Page; PAGES]> {
    let mut pages = Box::new([const { None }; PAGES]);
    for &(bucket, count) in list {
        add_to_page(&mut pages, bucket, count);
    }
    pages
}

fn add_to_page(pages: &mut [Page; PAGES], bucket: u32, times: u64) {
    let page = pages[bucket as usize / PAGE].get_or_insert_with(|| Box::new([0; PAGE]));
    page[bucket as usize % PAGE] += times;
}

/// The bucket of a number, with 2^bits of them between a power of two and the next.
#[inline]
fn bucket(number: u64, bits: u32) -> u32 {
    let shift = (u64::BITS - number.leading_zeros()).saturating_sub(bits + 1);
    (shift << bits) + (number >> shift) as u32
}

/// The largest number in a bucket.
fn upper_bound(bucket: u32, bits: u32) -> u64 {
    let shift = (bucket >> bits).saturating_sub(1);
    let first = u64::from(bucket - (shift << bits));
    (first << shift) | ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(numbers: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        numbers.iter().for_each(|&number| histogram.add(number, 1));
        histogram
    }

    fn numbers() -> impl Strategy<Value = Vec<u64>> {
        let number = prop_oneof![0..300_u64, 0..10_000_000_u64, any::<u64>()];
        prop::collection::vec(number, 1..200)
    }

    #[test]
    fn buckets_follow_each_other_and_each_holds_its_bound() {
        for bits in [COARSE, FINE] {
            let last = bucket(u64::MAX, bits);
            assert_eq!(upper_bound(last, bits), u64::MAX);
            for place in 0..last {
                let bound = upper_bound(place, bits);
                assert_eq!((bucket(bound, bits), bucket(bound + 1, bits)), (place, place + 1));
            }
        }
    }

    proptest! {
        #[test]
        fn quantiles_are_off_by_less_than_one_in_a_hundred(mut numbers in numbers(), hundredths in 1..=100_u64) {
            let told = of(&numbers).quantile(hundredths).unwrap();
            numbers.sort_unstable();
            let exact = numbers[(numbers.len() * hundredths as usize).div_ceil(100) - 1];
            prop_assert!(told >= exact && (told - exact) as f64 <= exact as f64 / 100.0, "{told} {exact}");
        }

        #[test]
        fn merged_ones_are_that_of_all(one in numbers(), other in numbers()) {
            let mut merged = of(&one);
            merged.merge(&of(&other));
            let all = of(&[one, other].concat());
            prop_assert_eq!(merged.filled(), all.filled());
            prop_assert_eq!(merged.coarse(), all.coarse());
        }
    }

    #[test]
    fn one_without_numbers_has_no_quantile() {
        assert_eq!(Histogram::default().quantile(50), None);
        assert_eq!(of(&[0, 0]).quantile(99), Some(0));
    }
}
