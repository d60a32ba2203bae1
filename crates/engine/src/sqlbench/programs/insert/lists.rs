//! Lists of keys: as a chain of OR, as IN, and as a chain with one more condition.

use std::collections::BTreeSet;

use super::Shape;
use crate::sqlbench::bench::{Bench, Stop};
use crate::sqlbench::programs::keys::Keys;

/// A list of no terms still has the first one.
const SIZES: [u64; 5] = [0, 12, 24, 36, 48];
const STATEMENTS: u64 = 3;
/// What the recurrence counts here: with its state at 0 before every pass, the 334 passes of a full
/// run return 42,084 rows, which is what the suite returns.
const COUNTED: u64 = 32;

pub(super) fn run(bench: &mut Bench, shape: &Shape) -> Result<(), Stop> {
    // Three numbers of the suite's loop make one pass.
    let passes = (2 * shape.range_loops).div_ceil(3);
    let lists = lists(shape);
    for (column, name) in [("id", "select_range_prefix"), ("id3", "select_range_key2")] {
        let tests = passes * SIZES.len() as u64 * STATEMENTS;
        bench.operation(name, tests, |bench| {
            for pass in 0..passes {
                if bench.past_limit(pass, passes) {
                    break;
                }
                lists.iter().try_for_each(|list| three_selects(bench, column, list))?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

struct List {
    terms: Vec<u64>,
    /// Rows whose key is in the list.
    found: u64,
    /// Those of them with a key below 10.
    low: u64,
}

fn lists(shape: &Shape) -> Vec<List> {
    let mut keys = Keys::new(0, shape.third);
    let mut next = 0;
    let list = |&size: &u64| {
        let mut terms = vec![1];
        for _ in 1..size {
            terms.push(next % (4 * shape.third));
            next = keys.next(COUNTED);
        }
        let present: BTreeSet<u64> = terms.iter().copied().filter(|&id| id < shape.rows).collect();
        let low = present.range(..10).count() as u64;
        List { terms, found: present.len() as u64, low }
    };
    SIZES.iter().map(list).collect()
}

fn three_selects(bench: &mut Bench, column: &str, list: &List) -> Result<(), Stop> {
    let chain: Vec<String> = list.terms.iter().map(|term| format!("{column}={term}")).collect();
    let chain = chain.join(" OR ");
    let terms: Vec<String> = list.terms.iter().map(u64::to_string).collect();
    let terms = terms.join(",");
    let select = "SELECT * FROM bench1 WHERE";
    bench.expect(&format!("{select} {chain}"), list.found)?;
    bench.expect(&format!("{select} {column} IN ({terms})"), list.found)?;
    bench.expect(&format!("{select} ({chain}) AND {column}<10"), list.low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_run_finds_as_many_rows_as_the_suite() {
        let shape = Shape::new(&serde_json::from_str("{}").unwrap());
        let lists = lists(&shape);
        let lengths: Vec<usize> = lists.iter().map(|list| list.terms.len()).collect();
        assert_eq!(lengths, [1, 12, 24, 36, 48]);
        let rows: u64 = lists.iter().map(|list| 2 * list.found + list.low).sum();
        assert_eq!(334 * rows, 42_084);
    }
}
