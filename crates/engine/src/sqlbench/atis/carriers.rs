//! Which airline flies which aircraft how often: a table with given sums and a given number of pairs.

use super::aircraft::Flown;
use super::fill::{self, index, shuffle};
use crate::random::Random;

/// Flights of each airline.
const FLIGHTS: [usize; 9] = [155, 154, 91, 67, 62, 32, 12, 4, 2];

/// Different pairs of airline and aircraft.
const PAIRS: usize = 44;

/// Airline and aircraft (indexes) of every flight, in random order.
pub fn carriers(flown: &[Flown]) -> Vec<(usize, usize)> {
    let random = &mut fill::source(12);
    let mut cells = corner(random, flown);
    while pairs(&cells) < PAIRS {
        spread(random, &mut cells);
    }
    let mut carriers = Vec::new();
    for (airline, row) in cells.iter().enumerate() {
        for (aircraft, &flights) in row.iter().enumerate() {
            carriers.extend(std::iter::repeat_n((airline, aircraft), flights));
        }
    }
    shuffle(random, &mut carriers);
    carriers
}

fn pairs(cells: &[Vec<usize>]) -> usize {
    cells.iter().flatten().filter(|&&flights| flights > 0).count()
}

/// A table with the right sums and the fewest pairs, at most 30: the airlines take aircraft in turn,
/// each until its flights are flown (north-west corner rule of the transport problem).
fn corner(random: &mut Random, flown: &[Flown]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..flown.len()).collect();
    shuffle(random, &mut order);
    let mut left: Vec<usize> = flown.iter().map(|aircraft| aircraft.flights).collect();
    let mut cells = vec![vec![0; flown.len()]; FLIGHTS.len()];
    for (row, &flights) in cells.iter_mut().zip(&FLIGHTS) {
        let mut wanted = flights;
        for &aircraft in &order {
            let taken = wanted.min(left[aircraft]);
            row[aircraft] = taken;
            left[aircraft] -= taken;
            wanted -= taken;
        }
    }
    cells
}

/// Lets two airlines exchange flights of two aircraft, if that makes more pairs but not too many. The
/// sums stay.
fn spread(random: &mut Random, cells: &mut Vec<Vec<usize>>) {
    let mut tried = cells.clone();
    let mut draw = || (index(random, FLIGHTS.len()), index(random, cells[0].len()));
    let ((a, x), (b, y)) = (draw(), draw());
    let most = cells[a][x].min(cells[b][y]);
    if a == b || x == y || most < 2 {
        return;
    }
    let moved = 1 + index(random, most - 1);
    tried[a][x] -= moved;
    tried[b][y] -= moved;
    tried[a][y] += moved;
    tried[b][x] += moved;
    if (pairs(cells) + 1..=PAIRS).contains(&pairs(&tried)) {
        *cells = tried;
    }
}
