//! Twenty boolean conditions that a good optimiser turns into short ranges.

use super::Shape;
use crate::sqlbench::bench::{Bench, Stop};

/// The suite counts two tests for each statement.
const TESTS_PER_STATEMENT: u64 = 2;

pub(super) fn run(bench: &mut Bench, shape: &Shape) -> Result<(), Stop> {
    for (column, name) in [("id", "select_range_prefix"), ("id3", "select_range_key2")] {
        let statements: Vec<(String, u64)> = conditions(shape.third)
            .into_iter()
            .map(|(condition, rows)| {
                let condition = condition.replace('c', column);
                (format!("SELECT * FROM bench1 WHERE {condition}"), rows)
            })
            .collect();
        let tests = shape.range_loops * statements.len() as u64 * TESTS_PER_STATEMENT;
        bench.operation(name, tests, |bench| {
            for i in 0..shape.range_loops {
                if bench.past_limit(i, shape.range_loops) {
                    break;
                }
                statements.iter().try_for_each(|(sql, rows)| bench.expect(sql, *rows))?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Conditions on a column c that holds 0 to `3 * third - 1`, with the rows that they find.
fn conditions(third: u64) -> Vec<(String, u64)> {
    let last = 3 * third - 1;
    let (before, middle, after) = (third / 2 - 1, third / 2, third / 2 + 2);
    let two_pairs = "(c>=1 AND c<=2 OR c>=4 AND c<=5)";
    vec![
        ("c=1 OR c=2 OR c=3 OR c=4 OR c=16 OR c=10".to_owned(), 6),
        (format!("c>={last} OR c<1"), 2),
        ("c>=1 AND c<=2".to_owned(), 2),
        ("(c>=1 AND c<=2) OR (c>=1 AND c<=2)".to_owned(), 2),
        ("c>=1 AND c<=10 AND c<=5".to_owned(), 5),
        (format!("(c>0 AND c<2) OR c>={last}"), 2),
        (format!("(c>0 AND c<2) OR (c>={middle} AND c<={after}) OR c={before}"), 5),
        ("(c>=5 AND c<=10) OR (c>=1 AND c<=4)".to_owned(), 10),
        ("(c=1 OR c=2) AND (c=3 OR c=4)".to_owned(), 0),
        ("(c=1 OR c=2) AND (c=2 OR c=3)".to_owned(), 1),
        ("(c=1 OR c=5 OR c=20 OR c=40) AND (c=1 OR c>=20 OR c=4)".to_owned(), 3),
        ("((c=1 OR c=3) OR (c>1 AND c<3)) AND c<=2".to_owned(), 2),
        ("(c>=0 AND c<4) OR (c>=4 AND c<6)".to_owned(), 6),
        (
            "c<=-1 OR (c>=0 AND c<=5) OR (c>=4 AND c<6) OR (c>=6 AND c<=7) OR (c>7 AND c<=8)"
                .to_owned(),
            9,
        ),
        (format!("{two_pairs} OR (c>=0 AND c<=10)"), 11),
        (format!("{two_pairs} OR (c>2 AND c<=10)"), 10),
        ("(c>1 OR c<1) AND c<=2".to_owned(), 2),
        ("c<=2 AND (c>1 OR c<=1)".to_owned(), 3),
        ("(c>=1 OR c<1) AND c<=2".to_owned(), 3),
        ("(c>=1 OR c<=2) AND c<=2".to_owned(), 3),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_conditions_find_eighty_seven_rows_together() {
        let conditions = conditions(100_000);
        assert_eq!(conditions.len(), 20);
        assert_eq!(conditions.iter().map(|(_, rows)| rows).sum::<u64>(), 87);
    }
}
