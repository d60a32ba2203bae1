//! Airlines and the agreements by which one flies under another's name.

use std::collections::BTreeSet;

use super::cell::{Row, row};
use super::fill::{self, codes, cover, index, names, pool, texts};

const ROWS: usize = 314;
const DUAL_CARRIERS: usize = 114;
/// Flight numbers from the lowest to the highest of an agreement.
const SPAN: i64 = 65;
/// Agreements, in the order of their lowest numbers, that end where the next one ends.
const SHARING: [usize; 3] = [20, 40, 60];

/// The table, and the codes in its order.
pub struct Airlines {
    pub rows: Vec<Row>,
    pub codes: Vec<String>,
    /// A code that no airline has: some fare restrictions name one.
    pub unknown: String,
}

pub fn airlines() -> Airlines {
    let random = &mut fill::source(3);
    let mut codes = codes(random, ROWS + 1, 2..=2);
    let unknown = codes.pop().expect("one more than airlines");
    let titles = names(random, ROWS, 4..=63);
    let remarks = names(random, 4, 12..=38);
    let notes = texts(random, ROWS, &remarks, 289);
    let rows =
        (0..ROWS).map(|i| row![codes[i].as_str(), titles[i].as_str(), notes[i].as_str()]).collect();
    Airlines { rows, codes, unknown }
}

/// One row without keys; else airlines that fly a range of another's flight numbers.
pub fn dual_carrier(airlines: &[String]) -> Vec<Row> {
    let random = &mut fill::source(4);
    let rows = DUAL_CARRIERS - 1;
    let lows = pool(random, 93, 40..=9370);
    let high = |at: usize| lows[if SHARING.contains(&at) { at + 1 } else { at }] + SPAN;
    let mains = cover(random, &airlines[..23], rows);
    let duals = cover(random, &airlines[40..103], rows);
    let positions: Vec<usize> = (0..lows.len()).collect();
    let positions = cover(random, &positions, rows);
    let titles = names(random, 37, 5..=60);
    let titles = cover(random, &titles, rows);
    let mut keys = BTreeSet::new();
    let mut made = vec![row!["", "", 0, 0, ""]];
    for i in 0..rows {
        let at = positions[i];
        // The key must be unique; a second agreement of two airlines on one number goes to another.
        let mut main = i;
        while !keys.insert((&mains[main], &duals[i], at)) {
            main = index(random, rows);
        }
        made.push(row![
            mains[main].as_str(),
            duals[i].as_str(),
            lows[at],
            high(at),
            titles[i].as_str()
        ]);
    }
    made
}
