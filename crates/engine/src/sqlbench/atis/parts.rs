//! Tables about parts of flights: classes, fares, stops, connections.

use std::collections::BTreeMap;

use super::calendar::mask;
use super::cell::{Row, row};
use super::fares::Fare;
use super::fill::{self, cover, index, pool, shuffle};
use super::flights::{CONNECTED_CODES, Flight, LEG_CODES, classes};
use super::routes::{AIRPORTS, FARED_ROUTE, Route};
use super::times::clock;
use crate::random::Random;

const FLIGHT_FARES: usize = 2998;
const CONNECTIONS: usize = 164;
/// Connections with three and with four rows of legs: one leg has flights to choose from.
const THREE_ROWS: usize = 21;
const FOUR_ROWS: usize = 1;
/// Different flights in the legs of connections, and in those of stopping flights.
const CONNECTED: usize = 182;
const STOP_LEGS: usize = 65;

pub fn flight_class(flights: &[Flight]) -> Vec<Row> {
    flights
        .iter()
        .flat_map(|flight| {
            classes(flight.classes).into_iter().map(|class| row![flight.code, class])
        })
        .collect()
}

/// Flights are sold at fares of their route: 1 to 11 of them, each fare on some flight.
pub fn flight_fare(flights: &[Flight], fares: &[Fare]) -> Vec<Row> {
    let mut of_route: BTreeMap<Route, Vec<&str>> = BTreeMap::new();
    for fare in fares {
        of_route.entry(fare.route).or_default().push(&fare.code);
    }
    let counts = fare_counts(flights, &of_route);
    let mut starts: BTreeMap<Route, usize> = BTreeMap::new();
    let mut rows = Vec::with_capacity(FLIGHT_FARES);
    for (flight, count) in flights.iter().zip(counts) {
        let fares = &of_route[&flight.route];
        // A flight goes on where the one before it on the route ended, so that no fare is left out.
        let start = starts.entry(flight.route).or_default();
        rows.extend((*start..*start + count).map(|at| row![flight.code, fares[at % fares.len()]]));
        *start += count;
    }
    rows
}

/// Fares of each flight. One flight has eleven, one a single fare, the sum is given.
fn fare_counts(flights: &[Flight], of_route: &BTreeMap<Route, Vec<&str>>) -> Vec<usize> {
    let random = &mut fill::source(15);
    let most: Vec<usize> =
        flights.iter().map(|flight| of_route[&flight.route].len().min(11)).collect();
    let mut counts: Vec<usize> = most.iter().map(|&most| most.min(5)).collect();
    let on =
        |route: Route| flights.iter().position(|flight| flight.route == route).expect("a flight");
    let (many, single) = (on(FARED_ROUTE), on((0, 1)));
    counts[many] = 11;
    counts[single] = 1;
    let mut sum: usize = counts.iter().sum();
    while sum < FLIGHT_FARES {
        let at = index(random, flights.len());
        if at != single && counts[at] < most[at] {
            counts[at] += 1;
            sum += 1;
        }
    }
    counts
}

/// The legs of each stopping flight: one more than it has stops.
pub fn stop1(flights: &[Flight]) -> Vec<Row> {
    let random = &mut fill::source(16);
    let legs = direct(random, flights, LEG_CODES, STOP_LEGS);
    let mut legs = legs.iter().cycle();
    flights
        .iter()
        .filter(|flight| flight.stops > 0)
        .flat_map(|flight| (1..=flight.stops + 1).map(|number| (flight.code, number)))
        .map(|(code, number)| row![code, number, *legs.next().expect("an endless supply")])
        .collect()
}

/// Codes of `count` direct flights, in random order, the two ends among them and none beyond.
fn direct(random: &mut Random, flights: &[Flight], ends: [i64; 2], count: usize) -> Vec<i64> {
    let mut between: Vec<i64> = flights
        .iter()
        .filter(|flight| flight.stops == 0 && ends[0] < flight.code && flight.code < ends[1])
        .map(|flight| flight.code)
        .collect();
    shuffle(random, &mut between);
    between.truncate(count - ends.len());
    between.extend(ends);
    shuffle(random, &mut between);
    between
}

fn connect_codes() -> Vec<i64> {
    pool(&mut fill::source(17), CONNECTIONS, 305_276..=422_281)
}

pub fn fconnection() -> Vec<Row> {
    let random = &mut fill::source(18);
    let airports: Vec<&str> = AIRPORTS.iter().map(|airport| airport.code).collect();
    let from = cover(random, &airports, CONNECTIONS);
    let mut to = cover(random, &airports, CONNECTIONS);
    while let Some(at) = (0..CONNECTIONS).find(|&at| from[at] == to[at]) {
        to.swap(at, index(random, CONNECTIONS));
    }
    let mut column = |distinct, range| {
        let values = pool(random, distinct, range);
        cover(random, &values, CONNECTIONS)
    };
    let departures = column(71, 20..=22 * 60 + 20);
    let arrivals = column(83, 15..=23 * 60 + 50);
    let elapsed = column(102, 227..=535);
    let days = cover(random, &[127u32, 31, 63, 64], CONNECTIONS);
    connect_codes()
        .into_iter()
        .enumerate()
        .map(|(at, code)| {
            row![
                code,
                from[at],
                to[at],
                clock(departures[at]),
                clock(arrivals[at]),
                mask(days[at]),
                0,
                1,
                elapsed[at],
            ]
        })
        .collect()
}

/// Flights of the two legs of each connection.
pub fn connect_leg(flights: &[Flight]) -> Vec<Row> {
    let random = &mut fill::source(19);
    let mut rows_of = vec![4; FOUR_ROWS];
    rows_of.extend([3; THREE_ROWS]);
    rows_of.resize(CONNECTIONS, 2);
    shuffle(random, &mut rows_of);
    let legs = direct(random, flights, CONNECTED_CODES, CONNECTED);
    let mut legs = legs.iter().cycle();
    let mut rows = Vec::new();
    for (code, count) in connect_codes().into_iter().zip(rows_of) {
        // Leg 1 and leg 2 in turn.
        rows.extend(
            (0..count).map(|row| row![code, row % 2 + 1, *legs.next().expect("an endless supply")]),
        );
    }
    rows
}
