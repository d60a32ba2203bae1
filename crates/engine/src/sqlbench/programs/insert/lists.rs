//! Lists of keys: as a chain of OR, as IN, and as a chain with one more condition.

use std::collections::BTreeSet;

use super::Shape;
use crate::sqlbench::bench::{Bench, Stop};
use crate::sqlbench::programs::keys::Keys;

/// A list of no terms still has the first one.
const SIZES: [u64; 5] = [0, 12, 24, 36, 48];

pub(super) fn run(bench: &mut Bench, shape: &Shape, keys: &mut Keys) -> Result<(), Stop> {
    for (column, name) in [("id", "select_range_prefix"), ("id3", "select_range_key2")] {
        let passes: Vec<Vec<[Select; 3]>> = (0..passes(shape))
            .map(|_| lists(shape, keys).iter().map(|list| selects(column, list)).collect())
            .collect();
        let tests = passes.iter().flatten().map(|three| three.len() as u64).sum();
        bench.operation(name, tests, |bench| {
            for (pass, selects) in (0..).zip(&passes) {
                if bench.past_limit(pass, passes.len() as u64) {
                    break;
                }
                let mut selects = selects.iter().flatten();
                selects.try_for_each(|(sql, rows)| bench.expect(sql, *rows))?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// A statement and the rows that it returns.
type Select = (String, u64);

/// Three numbers of the suite's loop make one pass over the lists, which has five times three statements.
fn passes(shape: &Shape) -> u64 {
    (2 * shape.range_loops).div_ceil(3)
}

struct List {
    terms: Vec<u64>,
    /// Rows whose key is in the list.
    found: u64,
    /// Those of them with a key below 10.
    low: u64,
}

/// The lists of one pass. The recurrence goes on from pass to pass.
fn lists(shape: &Shape, keys: &mut Keys) -> Vec<List> {
    let mut list = |&size: &u64| {
        let mut terms = vec![1];
        terms.extend((1..size).map(|i| keys.next(i) % (4 * shape.third)));
        let present: BTreeSet<u64> = terms.iter().copied().filter(|&id| id < shape.rows).collect();
        let low = present.range(..10).count() as u64;
        List { terms, found: present.len() as u64, low }
    };
    SIZES.iter().map(&mut list).collect()
}

fn selects(column: &str, list: &List) -> [Select; 3] {
    let chain: Vec<String> = list.terms.iter().map(|term| format!("{column}={term}")).collect();
    let chain = chain.join(" OR ");
    let terms: Vec<String> = list.terms.iter().map(u64::to_string).collect();
    let terms = terms.join(",");
    let select = "SELECT * FROM bench1 WHERE";
    [
        (format!("{select} {chain}"), list.found),
        (format!("{select} {column} IN ({terms})"), list.found),
        (format!("{select} ({chain}) AND {column}<10"), list.low),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlbench::programs::keys::shuffled;

    #[test]
    fn a_full_run_finds_as_many_rows_as_the_suite_in_either_column() {
        let shape = Shape::new(&serde_json::from_str("{}").unwrap());
        let (_, mut keys) = shuffled(shape.third);
        // The duplicates have taken as many numbers as there are rows in a third.
        (0..shape.third).for_each(|i| {
            keys.next(i);
        });
        for _column in ["id", "id3"] {
            let lists: Vec<List> =
                (0..passes(&shape)).flat_map(|_| lists(&shape, &mut keys)).collect();
            let lengths: Vec<usize> = lists[..5].iter().map(|list| list.terms.len()).collect();
            assert_eq!(lengths, [1, 12, 24, 36, 48]);
            // The suite does not add up what the second of the three statements returns.
            assert_eq!(lists.iter().map(|list| list.found + list.low).sum::<u64>(), 42_084);
        }
    }
}
