//! The aircraft: the flown ones first, so that the flights can refer to them.

use super::cell::{Cell, Row, row};
use super::fill::{self, codes, cover, names, numbers, pool, shuffle, texts};
use crate::random::Random;

const ROWS: usize = 135;

/// Categories with their aircraft that have 0, 1, 2, 3 and 4 engines. Queries group by category the
/// aircraft with two.
const CATEGORIES: [(&str, [usize; 5]); 6] = [
    ("JET", [3, 0, 15, 14, 18]),
    ("TURBOPROP", [8, 2, 32, 0, 4]),
    ("PROPELLER", [4, 6, 16, 0, 1]),
    ("HELICOPTER", [1, 2, 4, 0, 0]),
    ("AMPHIBIAN", [0, 0, 3, 0, 0]),
    ("", [2, 0, 0, 0, 0]),
];

/// How many flights each flown aircraft has, its category (an index), whether its range is known.
const FLOWN: [(usize, usize, bool); 22] = [
    (113, 0, true),
    (99, 0, true),
    (81, 0, true),
    (67, 0, true),
    (41, 0, false),
    (28, 1, false),
    (28, 1, false),
    (19, 0, true),
    (18, 0, true),
    (15, 0, true),
    (14, 0, true),
    (13, 0, true),
    (9, 1, false),
    (8, 0, true),
    (7, 1, true),
    (5, 1, true),
    (4, 2, true),
    (3, 1, true),
    (2, 2, true),
    (2, 0, true),
    (2, 1, true),
    (1, 2, true),
];

const UNKNOWN_RANGE: usize = 28;

/// An aircraft that flies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flown {
    pub code: String,
    pub flights: usize,
    pub jet: bool,
    /// Miles; 0 when unknown.
    pub range: i64,
}

/// The table, and the aircraft that the flights use.
pub struct Fleet {
    pub rows: Vec<Row>,
    pub flown: Vec<Flown>,
}

pub fn fleet() -> Fleet {
    let random = &mut fill::source(2);
    let codes = codes(random, ROWS, 3..=3);
    let types = names(random, ROWS, 3..=56);
    let kinds = kinds();
    let wide = texts(random, ROWS, &["NO", "YES"], 20);
    let span = numbers(random, ROWS, 89, 21_129, 23);
    let length = numbers(random, ROWS, 109, 32_183, 22);
    let weight = numbers(random, ROWS, 102, 833_000, 23);
    let capacity = numbers(random, ROWS, 70, 452, 25);
    let loads = loads(random);
    let speed = numbers(random, ROWS, 86, 1400, 23);
    let ranges = ranges(random);
    let pressurized = texts(random, ROWS, &["YES", "NO"], 32);
    let rows = (0..ROWS)
        .map(|i| {
            row![
                codes[i].as_str(),
                types[i].as_str(),
                kinds[i].1,
                kinds[i].0,
                wide[i].as_str(),
                Cell::Decimal(span[i], 2),
                Cell::Decimal(length[i], 2),
                weight[i],
                capacity[i],
                loads[i],
                speed[i],
                ranges[i],
                pressurized[i].as_str(),
            ]
        })
        .collect();
    let flown = (0..FLOWN.len())
        .map(|i| Flown {
            code: codes[i].clone(),
            flights: FLOWN[i].0,
            jet: kinds[i].0 == "JET",
            range: ranges[i],
        })
        .collect();
    Fleet { rows, flown }
}

/// Category and engines of every aircraft: those of the flown ones as listed, then the rest.
fn kinds() -> Vec<(&'static str, i64)> {
    let mut left: Vec<Vec<(&'static str, i64)>> =
        CATEGORIES.iter().map(|(name, engines)| of_category(name, *engines)).collect();
    let flown: Vec<_> = FLOWN.iter().map(|&(_, category, _)| left[category].remove(0)).collect();
    flown.into_iter().chain(left.into_iter().flatten()).collect()
}

/// Takes turns between the numbers of engines, so that the first aircraft differ; none comes last.
fn of_category(name: &'static str, mut engines: [usize; 5]) -> Vec<(&'static str, i64)> {
    let without = std::mem::take(&mut engines[0]);
    let mut kinds = Vec::new();
    while engines.iter().any(|&left| left > 0) {
        for count in [2, 3, 4, 1] {
            if engines[count] > 0 {
                engines[count] -= 1;
                kinds.push((name, count as i64));
            }
        }
    }
    kinds.extend(std::iter::repeat_n((name, 0), without));
    kinds
}

/// Pounds that an aircraft carries: 50 carry more than 10,000, 44 less, 41 are not known.
fn loads(random: &mut Random) -> Vec<i64> {
    let light = pool(random, 40, 300..=9_800);
    let heavy = pool(random, 46, 10_400..=165_710);
    let mut loads = cover(random, &light, 44);
    loads.extend(cover(random, &heavy, 50));
    loads.resize(ROWS, 0);
    shuffle(random, &mut loads);
    loads
}

/// Range in miles: unknown for the flown aircraft marked so, else for aircraft that do not fly.
fn ranges(random: &mut Random) -> Vec<i64> {
    let values = pool(random, 96, 150..=7500);
    let mut known = cover(random, &values, ROWS - UNKNOWN_RANGE);
    let flown: Vec<i64> = FLOWN
        .iter()
        .map(|(.., known_range)| if *known_range { known.pop() } else { None }.unwrap_or(0))
        .collect();
    known.resize(ROWS - FLOWN.len(), 0);
    shuffle(random, &mut known);
    flown.into_iter().chain(known).collect()
}
