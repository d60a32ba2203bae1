//! When flights leave and arrive, and how long they take, so that the queries over times find what the
//! original data gave them.
//!
//! Times are first drawn freely and then changed one by one, as long as no count moves away from its
//! goal, until all counts are met.

use super::fill::{self, index};
use super::goals::{Goal, meet};
use super::routes::{Route, minutes, shift, zones};
use crate::random::Random;

const DAY: i64 = 24 * 60;

/// Different minutes in the air.
const ELAPSED: usize = 220;
const LONGEST: i64 = 549;
/// Different (route, range, minutes in the air) of flights by aircraft of known range: the groups that
/// one query makes.
const RANGED_GROUPS: usize = 409;

/// Different times of departure and arrival.
const DEPARTURES: usize = 278;
const ARRIVALS: usize = 390;
/// The first and last minutes of the day in which flights leave (0:20, 23:55) and arrive (0:11, 23:58).
const LEAVE: (i64, i64) = (20, 23 * 60 + 55);
const ARRIVE: (i64, i64) = (11, 23 * 60 + 58);

/// Time zones from and to between which some flights arrive after midnight. With the 14 pairs of zones
/// they make the 21 differences of clocks that one query finds.
const OVERNIGHT: [(i64, i64); 7] =
    [(0, 0), (-3, 0), (-3, -1), (-3, -2), (-2, 0), (-2, -1), (-1, 0)];

/// Minutes since midnight, and minutes in the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    pub departure: i64,
    pub arrival: i64,
    pub elapsed: i64,
}

/// The times of flights on the routes, by aircraft of the ranges.
pub fn times(routes: &[Route], ranges: &[i64]) -> Vec<Times> {
    let random = &mut fill::source(13);
    let elapsed = elapsed(random, routes, ranges);
    clocks(random, routes, &elapsed)
}

/// A time as four digits of a clock: 1830.
pub fn clock(minute: i64) -> i64 {
    minute / 60 * 100 + minute % 60
}

fn elapsed(random: &mut Random, routes: &[Route], ranges: &[i64]) -> Vec<i64> {
    let rows = routes.len();
    let draw = |random: &mut Random, at: usize| minutes(routes[at]) + random.below(50) as i64;
    let mut elapsed: Vec<i64> = (0..rows).map(|at| draw(random, at)).collect();
    // The shortest route has the shortest flight, and the longest the longest.
    let by_length = |at: &usize| minutes(routes[*at]);
    let shortest = (0..rows).min_by_key(by_length).expect("flights");
    let longest = (0..rows).max_by_key(by_length).expect("flights");
    elapsed[shortest] = minutes(routes[shortest]);
    elapsed[longest] = LONGEST;
    let values = Goal::new(ELAPSED, &elapsed, |_, elapsed| Some(elapsed));
    let groups = Goal::new(RANGED_GROUPS, &elapsed, |at, elapsed| {
        (ranges[at] > 0).then_some((routes[at], ranges[at], elapsed))
    });
    meet(random, &mut elapsed, values, groups, |random, elapsed| {
        let (at, like) = (index(random, rows), index(random, rows));
        // Either the time of another flight on the route or a new one.
        let new = if routes[like] == routes[at] { elapsed[like] } else { draw(random, at) };
        (at != shortest && at != longest).then_some((at, new))
    });
    elapsed
}

fn clocks(random: &mut Random, routes: &[Route], elapsed: &[i64]) -> Vec<Times> {
    let rows = routes.len();
    let fixed = fixed(routes, elapsed);
    let arrival = |at: usize, departure: i64| departure + elapsed[at] + shift(routes[at]);
    let allowed = |at: usize, departure: i64| {
        let arrives = arrival(at, departure);
        (ARRIVE.0..=ARRIVE.1).contains(&(arrives % DAY))
            && (arrives < DAY || OVERNIGHT.contains(&zones(routes[at])))
    };
    let by_day = |random: &mut Random, at: usize| {
        let mut departure = 6 * 60 + 5 * random.below(13 * 12) as i64;
        while !allowed(at, departure) {
            departure -= 60;
        }
        departure
    };
    let mut departures: Vec<i64> =
        (0..rows).map(|at| fixed[at].unwrap_or_else(|| by_day(random, at))).collect();
    let leave = Goal::new(DEPARTURES, &departures, |_, departure| Some(departure));
    let arrive =
        Goal::new(ARRIVALS, &departures, |at, departure| Some(arrival(at, departure) % DAY));
    meet(random, &mut departures, leave, arrive, |random, departures| {
        let at = index(random, rows);
        let new = if random.below(2) == 0 {
            departures[index(random, rows)]
        } else {
            LEAVE.0 + random.below((LEAVE.1 - LEAVE.0) as u64) as i64
        };
        (fixed[at].is_none() && allowed(at, new)).then_some((at, new))
    });
    let times = |at: usize| Times {
        departure: departures[at],
        arrival: arrival(at, departures[at]) % DAY,
        elapsed: elapsed[at],
    };
    (0..rows).map(times).collect()
}

/// Departures of the flights that make the extremes, and of one overnight flight for each pair of zones.
fn fixed(routes: &[Route], elapsed: &[i64]) -> Vec<Option<i64>> {
    let mut fixed = vec![None; routes.len()];
    for (pair, late) in OVERNIGHT.into_iter().zip(0..) {
        let at = (0..routes.len()).find(|&at| zones(routes[at]) == pair).expect("such a route");
        // The first leaves as late as any, the next arrives as early as any, the others soon after.
        fixed[at] = Some(match late {
            0 => LEAVE.1,
            _ => DAY + ARRIVE.0 + late - 1 - elapsed[at] - shift(routes[at]),
        });
    }
    let mut westward = (0..routes.len()).filter(|&at| shift(routes[at]) < 0);
    let (earliest, latest) =
        (westward.next().expect("a flight"), westward.next().expect("a flight"));
    fixed[earliest] = Some(LEAVE.0);
    fixed[latest] = Some(ARRIVE.1 - elapsed[latest] - shift(routes[latest]));
    fixed
}
