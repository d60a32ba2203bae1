//! Fares, the restrictions on them, and the airlines that restrict.

use super::airlines::Airlines;
use super::cell::{Cell, Row, row};
use super::classes::FARED_CLASSES;
use super::fill::{self, cover, names, numbers, pool, shuffle, texts};
use super::routes::{AIRPORTS, FARED_ROUTE, Route, routes};
use crate::random::Random;

const ROWS: usize = 534;

/// Restrictions that fares carry: code, fares, airlines that apply it, whether one of these is unknown
/// to the table of airlines. The join over both (5692 rows) follows from these numbers:
/// 118 x 20 + 52 x 28 + 50 x 27 + 6 x 33 + 5 x 36 + 2 x (11 + 33 + 30).
const RESTRICTED: [(&str, usize, usize, bool); 8] = [
    ("VU/1", 118, 20, false),
    ("AP/57", 52, 29, true),
    ("AP/80", 50, 27, false),
    ("AP/68", 6, 34, true),
    ("AP/55", 5, 36, false),
    ("AP/27", 2, 12, true),
    ("AP/44", 2, 34, true),
    ("AP/75", 2, 30, false),
];

/// Restrictions that no fare carries; of 5 of them one airline is unknown.
const IDLE_RESTRICTIONS: usize = 57;
const IDLE_UNKNOWN: usize = 5;
/// Rows of restrict_carrier for them.
const IDLE_CARRIERS: usize = 390;
/// Airlines that restrict fares.
const CARRIERS: usize = 117;

/// One-way cost, in dollars, between which a query looks for fares of one route.
const BAND: std::ops::RangeInclusive<i64> = 280..=825;

/// A fare as the flights need it.
pub struct Fare {
    pub code: String,
    pub route: Route,
}

/// The table, and what the flights need of it.
pub struct Fares {
    pub rows: Vec<Row>,
    pub fares: Vec<Fare>,
}

pub fn fares(airlines: &[String]) -> Fares {
    let random = &mut fill::source(10);
    let on_routes = fares_of_routes();
    let codes: Vec<String> =
        pool(random, ROWS, 7_100_001..=7_106_999).iter().map(i64::to_string).collect();
    let classes = classes(random, &on_routes);
    let carriers = texts(random, ROWS, &airlines[..7], 396);
    let restrictions = restrictions_of_fares(random);
    let one_way = one_way(random, &on_routes);
    let round_trip = numbers(random, ROWS, 155, 1990, 131);
    let rows = (0..ROWS)
        .map(|i| {
            row![
                codes[i].as_str(),
                AIRPORTS[on_routes[i].0].code,
                AIRPORTS[on_routes[i].1].code,
                classes[i],
                carriers[i].as_str(),
                restrictions[i].as_str(),
                Cell::Decimal(one_way[i] * 100, 2),
                Cell::Decimal(round_trip[i] * 100, 2),
            ]
        })
        .collect();
    let fares =
        codes.into_iter().zip(on_routes).map(|(code, route)| Fare { code, route }).collect();
    Fares { rows, fares }
}

/// The route of each fare: 12 fares on the route that a query asks for, 5 where one flight goes, 8 or 9
/// elsewhere.
fn fares_of_routes() -> Vec<Route> {
    let mut counted: Vec<(Route, usize)> = routes()
        .into_iter()
        .map(|(route, flights)| {
            let fares = match (route, flights) {
                (FARED_ROUTE, _) => 12,
                (_, 1) => 5,
                _ => 8,
            };
            (route, fares)
        })
        .collect();
    let spare = ROWS - counted.iter().map(|(_, fares)| fares).sum::<usize>();
    counted
        .iter_mut()
        .filter(|(_, fares)| *fares == 8)
        .take(spare)
        .for_each(|(_, fares)| *fares = 9);
    counted.into_iter().flat_map(|(route, fares)| std::iter::repeat_n(route, fares)).collect()
}

/// The classes of one route's fares are neighbours in the list, so that they differ.
fn classes(random: &mut Random, on_routes: &[Route]) -> Vec<&'static str> {
    let mut at = fill::index(random, FARED_CLASSES.len());
    on_routes
        .iter()
        .map(|_| {
            at = (at + 1) % FARED_CLASSES.len();
            FARED_CLASSES[at]
        })
        .collect()
}

fn restrictions_of_fares(random: &mut Random) -> Vec<String> {
    let mut codes: Vec<String> = RESTRICTED
        .iter()
        .flat_map(|&(code, fares, ..)| std::iter::repeat_n(code.to_owned(), fares))
        .collect();
    codes.resize(ROWS, String::new());
    shuffle(random, &mut codes);
    codes
}

/// Dollars, 0 when unknown. Ten fares of the route that the query asks for cost what it wants.
fn one_way(random: &mut Random, on_routes: &[Route]) -> Vec<i64> {
    let mut others = numbers(random, ROWS, 173, 995, 106);
    let mut asked: Vec<i64> = Vec::new();
    let mut take = |wanted: &dyn Fn(i64) -> bool, count: usize, others: &mut Vec<i64>| {
        for _ in 0..count {
            let at = others
                .iter()
                .position(|&cost| wanted(cost) && !asked.contains(&cost))
                .expect("costs enough in and out of the band");
            asked.push(others.swap_remove(at));
        }
    };
    take(&|cost| BAND.contains(&cost), 10, &mut others);
    take(&|cost| !BAND.contains(&cost), 2, &mut others);
    on_routes
        .iter()
        .map(|&route| if route == FARED_ROUTE { asked.pop() } else { others.pop() }.unwrap_or(0))
        .collect()
}

/// The codes of all restrictions: those that fares carry first.
fn restriction_codes() -> Vec<String> {
    let used = RESTRICTED.map(|(code, ..)| code.to_owned());
    let idle = (1..100).map(|number| format!("AP/{number:02}")).filter(|code| !used.contains(code));
    used.iter().cloned().chain(idle.take(IDLE_RESTRICTIONS)).collect()
}

pub fn restriction() -> Vec<Row> {
    let random = &mut fill::source(11);
    let codes = restriction_codes();
    let count = codes.len();
    let applications = names(random, 48, 17..=79);
    let applications = cover(random, &applications, count);
    let discounts = names(random, 21, 12..=75);
    let discounts = cover(random, &discounts, count);
    let days_ahead = numbers(random, count, 6, 30, 27);
    let stopovers = cover(random, &["N", "Y"], count);
    let stay_least = numbers(random, count, 7, 7, 21);
    let stay_most = numbers(random, count, 14, 365, 4);
    codes
        .iter()
        .enumerate()
        .map(|(i, code)| {
            row![
                code.as_str(),
                applications[i].as_str(),
                discounts[i].as_str(),
                days_ahead[i],
                stopovers[i],
                stay_least[i],
                stay_most[i],
            ]
        })
        .collect()
}

/// Which airlines apply a restriction: they take turns, so that all do and none twice.
pub fn restrict_carrier(airlines: &Airlines) -> Vec<Row> {
    let used = RESTRICTED.map(|(_, _, carriers, unknown)| (carriers, unknown));
    let idle = (0..IDLE_RESTRICTIONS).map(|i| {
        let share = IDLE_CARRIERS / IDLE_RESTRICTIONS;
        let more = usize::from(i < IDLE_CARRIERS % IDLE_RESTRICTIONS);
        (share + more, i < IDLE_UNKNOWN)
    });
    let mut turns = airlines.codes[..CARRIERS].iter().cycle();
    let mut rows = Vec::new();
    for (code, (carriers, unknown)) in restriction_codes().iter().zip(used.into_iter().chain(idle))
    {
        let known = carriers - usize::from(unknown);
        rows.extend(
            turns.by_ref().take(known).map(|airline| row![code.as_str(), airline.as_str()]),
        );
        if unknown {
            rows.push(row![code.as_str(), airlines.unknown.as_str()]);
        }
    }
    rows
}

pub fn restrict_class() -> Vec<Row> {
    ["NONE", "COACH", "FIRST", "NIGHT"].map(|class| row!["VU/1", class]).into()
}
