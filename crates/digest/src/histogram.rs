//! Counts of numbers in buckets whose width grows with the number: 128 between a power of two and the next,
//! so that a bucket's upper bound is at most 1 in 128 above any number in it. Numbers below 256 have a bucket
//! each. (The idea: G. Tene's HDR histograms; sparse here, since most groups have few entries.)

/// Buckets between a power of two and the next: 2^7.
const FINE: u32 = 7;
/// As many are given in messages, which are drawn: 2^3.
const COARSE: u32 = 3;
/// Numbers that wait to be counted together. One after the other each would wait for memory of its own: a
/// group's tables are far apart and larger than a CPU's cache, what waits is one line of it.
const MOST_WAITING: usize = 28;
/// Buckets that a list holds before it becomes a table.
const MOST_LISTED: usize = 192;
const PAGE: usize = 1 << FINE;
const PAGES: usize = (64 - FINE as usize) + 1;

type Page = Option<Box<[u64; PAGE]>>;

#[derive(Clone, Debug)]
enum Counts {
    /// Bucket and count, ascending.
    Few(Vec<(u16, u64)>),
    /// Pages of buckets that follow each other; a page is there once a number falls into it.
    Many(Box<[Page; PAGES]>),
}

#[derive(Clone, Debug)]
pub struct Histogram {
    /// Many attributes are mostly 0.
    zeros: u64,
    /// Buckets of numbers that are not in `counts` yet, of which the first `waiting` count.
    queue: [u16; MOST_WAITING],
    waiting: u8,
    counts: Counts,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { zeros: 0, queue: [0; MOST_WAITING], waiting: 0, counts: Counts::Few(Vec::new()) }
    }
}

impl Histogram {
    #[inline]
    pub fn add(&mut self, number: u64) {
        if number == 0 {
            self.zeros += 1;
            return;
        }
        self.queue[usize::from(self.waiting)] = bucket(number, FINE);
        self.waiting += 1;
        if usize::from(self.waiting) == MOST_WAITING {
            self.settle();
        }
    }

    /// Counts what waits.
    #[inline(never)]
    fn settle(&mut self) {
        let waiting = &mut self.queue[..usize::from(self.waiting)];
        match &mut self.counts {
            Counts::Many(pages) => {
                for &bucket in &*waiting {
                    add_to_page(pages, bucket, 1);
                }
            }
            Counts::Few(list) => {
                waiting.sort_unstable();
                let more = waiting.chunk_by(|one, other| one == other);
                let more = more.map(|same| (same[0], same.len() as u64));
                self.counts = counts(joined(list, more));
            }
        }
        self.waiting = 0;
    }

    pub fn merge(&mut self, other: &Histogram) {
        self.zeros += other.zeros;
        self.settle();
        let more = other.filled();
        match &mut self.counts {
            Counts::Many(pages) => {
                for (bucket, count) in more {
                    add_to_page(pages, bucket, count);
                }
            }
            Counts::Few(list) => self.counts = counts(joined(list, more.into_iter())),
        }
    }

    /// The upper bounds of the buckets that hold the numbers which so many `hundredths` of all do not exceed;
    /// None when there are no numbers.
    pub fn quantiles<const N: usize>(&self, hundredths: [u64; N]) -> [Option<u64>; N] {
        let filled = self.filled();
        let count = self.zeros + filled.iter().map(|(_, count)| count).sum::<u64>();
        hundredths.map(|hundredths| {
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
        })
    }

    /// Upper bound (inclusive) and count of buckets of which there are 8 between a power of two and the next.
    pub fn coarse(&self) -> Vec<(u64, u64)> {
        let mut buckets: Vec<(u64, u64)> = Vec::new();
        if self.zeros > 0 {
            buckets.push((0, self.zeros));
        }
        for (fine, count) in self.filled() {
            let bound = upper_bound(bucket(upper_bound(fine, FINE), COARSE), COARSE);
            match buckets.last_mut() {
                Some((last, total)) if *last == bound => *total += count,
                _ => buckets.push((bound, count)),
            }
        }
        buckets
    }

    /// Buckets that have any, ascending, but that of 0.
    fn filled(&self) -> Vec<(u16, u64)> {
        let mut settled = self.clone();
        settled.settle();
        match settled.counts {
            Counts::Few(list) => list,
            Counts::Many(pages) => listed(&pages).collect(),
        }
    }
}

/// As a list while it is short.
fn counts(list: Vec<(u16, u64)>) -> Counts {
    if list.len() <= MOST_LISTED {
        return Counts::Few(list);
    }
    let mut pages = Box::new([const { None }; PAGES]);
    for (bucket, count) in list {
        add_to_page(&mut pages, bucket, count);
    }
    Counts::Many(pages)
}

/// Two ascending lists as one.
fn joined(list: &[(u16, u64)], more: impl Iterator<Item = (u16, u64)>) -> Vec<(u16, u64)> {
    let mut joined = Vec::with_capacity(list.len() + MOST_WAITING);
    let mut rest = list;
    for (bucket, count) in more {
        let smaller = rest.iter().take_while(|(listed, _)| *listed < bucket).count();
        joined.extend_from_slice(&rest[..smaller]);
        rest = &rest[smaller..];
        let known = rest.split_first().filter(|((listed, _), _)| *listed == bucket);
        let known = known.map(|((_, count), others)| {
            rest = others;
            *count
        });
        joined.push((bucket, count + known.unwrap_or(0)));
    }
    joined.extend_from_slice(rest);
    joined
}

#[inline]
fn add_to_page(pages: &mut [Page; PAGES], bucket: u16, times: u64) {
    let page = pages[usize::from(bucket) / PAGE].get_or_insert_with(|| Box::new([0; PAGE]));
    page[usize::from(bucket) % PAGE] += times;
}

fn listed(pages: &[Page; PAGES]) -> impl Iterator<Item = (u16, u64)> {
    let there =
        pages.iter().enumerate().filter_map(|(number, page)| Some((number, page.as_ref()?)));
    let all = there.flat_map(|(number, page)| {
        page.iter().enumerate().map(move |(place, &count)| ((number * PAGE + place) as u16, count))
    });
    all.filter(|&(_, count)| count > 0)
}

/// The bucket of a number, with 2^bits of them between a power of two and the next.
#[inline]
fn bucket(number: u64, bits: u32) -> u16 {
    let shift = (u64::BITS - number.leading_zeros()).saturating_sub(bits + 1);
    // Less than 2^16: there are at most 64 shifts.
    ((shift << bits) + (number >> shift) as u32) as u16
}

/// The largest number in a bucket.
fn upper_bound(bucket: u16, bits: u32) -> u64 {
    let bucket = u32::from(bucket);
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
        numbers.iter().for_each(|&number| histogram.add(number));
        histogram
    }

    fn numbers() -> impl Strategy<Value = Vec<u64>> {
        let number = prop_oneof![0..300_u64, 0..10_000_000_u64, any::<u64>()];
        // Enough for tables as well.
        prop::collection::vec(number, 1..900)
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
            let [found] = of(&numbers).quantiles([hundredths]).map(Option::unwrap);
            numbers.sort_unstable();
            let exact = numbers[(numbers.len() * hundredths as usize).div_ceil(100) - 1];
            prop_assert!(found >= exact && (found - exact) as f64 <= exact as f64 / 100.0, "{found} {exact}");
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
        assert_eq!(Histogram::default().quantiles([50]), [None]);
        assert_eq!(of(&[0, 0]).quantiles([50, 99]), [Some(0), Some(0)]);
    }
}
