//! The flights: routes, carriers, stops, codes and times put together.

use std::collections::BTreeMap;

use super::aircraft::Flown;
use super::calendar::mask;
use super::carriers::carriers;
use super::cell::{Row, row};
use super::classes::{FLIGHT_CLASSES, meal_codes};
use super::fill::{self, cover, index, pool, shuffle, texts};
use super::routes::{AIRPORTS, Route, minutes, routes};
use super::times::{Times, clock, times};
use crate::random::Random;

const ROWS: usize = 579;

/// Flights with a stop, one of them with two. They fly jets. Their pairs of aircraft and route are 29:
/// five pairs have two such flights. Four fly jets of unknown range.
const STOPPING: usize = 34;
const STOPPING_IN_PAIRS: usize = 5;
const STOPPING_UNKNOWN_RANGE: usize = 4;
/// Shorter flights do not stop on the way.
const STOPPING_MINUTES: i64 = 100;

/// A query counts the flights whose code is at least this: 279 of them.
const UPPER_CODES: i64 = 112_793;
const BELOW_UPPER: usize = 300;

/// The flight codes that other tables have as their ends: of stopping flights, of legs of connections,
/// of legs of stopping flights.
pub const STOPPING_CODES: [i64; 2] = [101_908, 144_543];
pub const CONNECTED_CODES: [i64; 2] = [101_909, 144_169];
pub const LEG_CODES: [i64; 2] = [101_928, 144_575];
const LAST_CODE: i64 = 144_576;

/// Bits of the days on which flights go: most go daily.
const DAYS: [u32; 13] = [127, 31, 63, 95, 126, 96, 64, 32, 30, 16, 15, 111, 1];

/// A flight as the tables of its parts need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flight {
    pub code: i64,
    pub route: Route,
    pub stops: i64,
    /// Index of its five classes.
    pub classes: usize,
}

/// The table in the order of codes, and what other tables need of it.
pub struct Flights {
    pub rows: Vec<Row>,
    pub flights: Vec<Flight>,
}

pub fn flights(flown: &[Flown], airlines: &[String]) -> Flights {
    let random = &mut fill::source(14);
    let routes: Vec<Route> = routes()
        .into_iter()
        .flat_map(|(route, flights)| std::iter::repeat_n(route, flights))
        .collect();
    let carriers = carriers(flown);
    let ranges: Vec<i64> = carriers.iter().map(|&(_, aircraft)| flown[aircraft].range).collect();
    let times = times(&routes, &ranges);
    let stops = stops(random, &routes, &carriers, flown);
    let numbers = flight_numbers(random, &stops);
    let days = cover(random, &DAYS, ROWS);
    let sets: Vec<usize> = (0..CLASS_SETS).collect();
    let sets = cover(random, &sets, ROWS);
    let meals = texts(random, ROWS, &meal_codes()[..16], 125);
    let mut dual = vec!["Y"; 25];
    dual.resize(ROWS, "N");
    shuffle(random, &mut dual);
    let mut made: Vec<(Flight, Row)> = codes(random, &stops)
        .into_iter()
        .enumerate()
        .map(|(at, code)| {
            let (from, to) = routes[at];
            let (airline, aircraft) = carriers[at];
            let Times { departure, arrival, elapsed } = times[at];
            let row = row![
                code,
                mask(days[at]),
                AIRPORTS[from].code,
                AIRPORTS[to].code,
                clock(departure),
                clock(arrival),
                airlines[airline].as_str(),
                numbers[at],
                classes(sets[at]).concat(),
                flown[aircraft].code.as_str(),
                meals[at].as_str(),
                stops[at],
                dual[at],
                elapsed,
            ];
            (Flight { code, route: routes[at], stops: stops[at], classes: sets[at] }, row)
        })
        .collect();
    made.sort_by_key(|(flight, _)| flight.code);
    let (flights, rows) = made.into_iter().unzip();
    Flights { rows, flights }
}

const CLASS_SETS: usize = 17;

/// The five classes of a set: up to three of them of two letters.
pub fn classes(set: usize) -> Vec<&'static str> {
    let (single, double) = FLIGHT_CLASSES.split_at(10);
    let doubles = set % 4;
    let of = |list: &'static [&'static str], from: usize, count: usize| {
        (from..from + count).map(move |at| list[at % list.len()])
    };
    of(single, set * 3, 5 - doubles).chain(of(double, set / 4, doubles)).collect()
}

/// Stops of every flight.
fn stops(
    random: &mut Random,
    routes: &[Route],
    carriers: &[(usize, usize)],
    flown: &[Flown],
) -> Vec<i64> {
    let mut order: Vec<usize> = (0..ROWS)
        .filter(|&at| flown[carriers[at].1].jet && minutes(routes[at]) >= STOPPING_MINUTES)
        .collect();
    shuffle(random, &mut order);
    let mut pairs: BTreeMap<(usize, Route), Vec<usize>> = BTreeMap::new();
    for at in order {
        pairs.entry((carriers[at].1, routes[at])).or_default().push(at);
    }
    let mut pairs: Vec<((usize, Route), Vec<usize>)> = pairs.into_iter().collect();
    shuffle(random, &mut pairs);
    let (known, unknown): (Vec<_>, Vec<_>) =
        pairs.into_iter().partition(|((aircraft, _), _)| flown[*aircraft].range > 0);
    let (several, one): (Vec<_>, Vec<_>) =
        known.into_iter().partition(|(_, flights)| flights.len() > 1);
    let alone = STOPPING - 2 * STOPPING_IN_PAIRS - STOPPING_UNKNOWN_RANGE;
    let mut stops = vec![0; ROWS];
    let twice = several.iter().take(STOPPING_IN_PAIRS).flat_map(|(_, flights)| &flights[..2]);
    let once = several.iter().skip(STOPPING_IN_PAIRS).chain(&one).take(alone);
    let once =
        once.chain(unknown.iter().take(STOPPING_UNKNOWN_RANGE)).map(|(_, flights)| &flights[0]);
    for (position, &at) in twice.chain(once).enumerate() {
        stops[at] = if position == 0 { 2 } else { 1 };
    }
    stops
}

/// Numbers of flights. Those of stopping flights are theirs alone: a query groups by them.
fn flight_numbers(random: &mut Random, stops: &[i64]) -> Vec<i64> {
    let mut values = pool(random, 430, 2..=5302);
    shuffle(random, &mut values);
    let (own, shared) = values.split_at(STOPPING);
    let mut own = own.iter().copied();
    let mut shared = cover(random, shared, ROWS - STOPPING).into_iter();
    stops
        .iter()
        .map(|&stops| if stops > 0 { own.next() } else { shared.next() }.expect("a number each"))
        .collect()
}

/// Codes of all flights. Those at the ends of other tables go to flights of the right kind.
fn codes(random: &mut Random, stops: &[i64]) -> Vec<i64> {
    let direct_ends = [CONNECTED_CODES, LEG_CODES].concat();
    let mut lower = pool(random, BELOW_UPPER - 2, LEG_CODES[0]..=UPPER_CODES - 1);
    lower.extend([STOPPING_CODES[0], CONNECTED_CODES[0]]);
    let mut upper = pool(random, ROWS - BELOW_UPPER - 3, UPPER_CODES..=CONNECTED_CODES[1]);
    upper.extend([STOPPING_CODES[1], LEG_CODES[1], LAST_CODE]);
    let (ends, mut free): (Vec<i64>, Vec<i64>) = lower.into_iter().chain(upper).partition(|code| {
        STOPPING_CODES.contains(code) || direct_ends.contains(code) || *code == LAST_CODE
    });
    shuffle(random, &mut free);
    let (mut stopping, mut direct): (Vec<i64>, Vec<i64>) =
        ends.into_iter().partition(|code| STOPPING_CODES.contains(code));
    // The first flights of a kind get the codes at its ends; a random start keeps those off the
    // first routes.
    let start = index(random, ROWS);
    let mut codes = vec![0; ROWS];
    for at in (start..ROWS).chain(0..start) {
        let ends = if stops[at] > 0 { &mut stopping } else { &mut direct };
        codes[at] = ends.pop().or_else(|| free.pop()).expect("a code each");
    }
    codes
}
