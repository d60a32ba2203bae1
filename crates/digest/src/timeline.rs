//! When the load was: entries and query time in steps of a length that keeps them few.

use std::collections::BTreeMap;

use crate::entry::Time;
use crate::message;

/// Steps with any entries in them. What would be more is given in longer steps.
const MOST_STEPS: usize = 1000;
/// Lengths of a step in seconds, each a multiple of the one before; beyond a day they double.
const LENGTHS: [i64; 12] = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 10_800, 21_600, 86_400];
const MICROSECONDS: i64 = 1_000_000;

/// The length in use is the shortest for which there are few enough steps. A part of the entries never needs
/// a longer one than the whole, so the parts of any cut come to the same whole.
#[derive(Clone, Debug)]
pub struct Timeline {
    step_s: i64,
    /// By the step's start in seconds since 1970.
    steps: BTreeMap<i64, Step>,
    /// The step of the entry before, counted apart: the next entry is mostly of the same.
    start: i64,
    current: Step,
}

#[derive(Clone, Copy, Debug, Default)]
struct Step {
    count: u64,
    query_time_us: u64,
}

impl Step {
    fn add(&mut self, other: Step) {
        self.count += other.count;
        self.query_time_us = self.query_time_us.saturating_add(other.query_time_us);
    }
}

impl Default for Timeline {
    fn default() -> Self {
        Self { step_s: 1, steps: BTreeMap::new(), start: 0, current: Step::default() }
    }
}

impl Timeline {
    #[inline]
    pub fn add(&mut self, time: Time, query_time_us: u64) {
        let seconds = time.div_euclid(MICROSECONDS);
        if !(0..self.step_s).contains(&(seconds - self.start)) {
            self.flush();
            self.start = step_of(seconds, self.step_s);
        }
        self.current.add(Step { count: 1, query_time_us });
    }

    fn flush(&mut self) {
        let current = std::mem::take(&mut self.current);
        if current.count > 0 {
            self.steps.entry(self.start).or_default().add(current);
            self.lengthen();
        }
    }

    fn lengthen(&mut self) {
        while self.steps.len() > MOST_STEPS {
            self.lengthen_to(next_length(self.step_s));
        }
    }

    fn lengthen_to(&mut self, step_s: i64) {
        self.step_s = step_s;
        for (start, step) in std::mem::take(&mut self.steps) {
            self.steps.entry(step_of(start, step_s)).or_default().add(step);
        }
    }

    pub fn merge(&mut self, mut other: Timeline) {
        self.flush();
        other.flush();
        if self.step_s < other.step_s {
            self.lengthen_to(other.step_s);
        }
        for (start, step) in other.steps {
            self.steps.entry(step_of(start, self.step_s)).or_default().add(step);
        }
        self.lengthen();
        self.start = step_of(self.start, self.step_s);
    }

    pub fn message(mut self) -> message::Timeline {
        self.flush();
        let steps = self.steps.into_iter();
        message::Timeline {
            step_s: self.step_s as u64,
            steps: steps.map(|(start, step)| (start, step.count, step.query_time_us)).collect(),
        }
    }
}

fn step_of(seconds: i64, step_s: i64) -> i64 {
    seconds - seconds.rem_euclid(step_s)
}

fn next_length(step_s: i64) -> i64 {
    LENGTHS.into_iter().find(|&length| length > step_s).unwrap_or(2 * step_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(seconds: impl IntoIterator<Item = i64>) -> Timeline {
        let mut timeline = Timeline::default();
        seconds.into_iter().for_each(|second| timeline.add(second * MICROSECONDS, 7));
        timeline
    }

    #[test]
    fn few_seconds_are_reported_one_by_one() {
        let sent = of([10, 10, 12, -1]).message();
        assert_eq!(sent.step_s, 1);
        assert_eq!(sent.steps, [(-1, 1, 7), (10, 2, 14), (12, 1, 7)]);
    }

    #[test]
    fn a_long_time_is_reported_in_long_steps() {
        let sent = of(0..10_000).message();
        assert_eq!((sent.step_s, sent.steps.len()), (10, 1000));
        assert_eq!(sent.steps[999], (9_990, 10, 70));
        let decades = of((0..2_000).map(|number| number * 10_000_000)).message();
        assert!(decades.steps.len() <= MOST_STEPS);
        assert_eq!(decades.steps.iter().map(|(_, count, _)| count).sum::<u64>(), 2_000);
    }

    #[test]
    fn parts_in_any_order_come_to_the_whole() {
        let seconds: Vec<i64> = (0..9_000).map(|number| number * 7_919 % 50_000).collect();
        let mut merged = Timeline::default();
        for part in [2, 0, 1] {
            merged.merge(of(seconds.iter().copied().skip(part).step_by(3)));
        }
        let (merged, whole) = (merged.message(), of(seconds).message());
        assert_eq!((merged.step_s, merged.steps), (whole.step_s, whole.steps));
    }
}
