//! Rows out again, by key and by range.

use super::Shape;
use crate::sqlbench::bench::{Bench, Stop};

/// The suite reports one range less than it deletes.
const REPORTED_RANGES: u64 = 12;
const GROWING_RANGES: u64 = 10;

pub(super) fn run(bench: &mut Bench, shape: &Shape) -> Result<(), Stop> {
    let options = bench.options().clone();
    bench.lock("bench1 WRITE")?;
    if !options.skip_delete {
        let deleted = delete_key(bench, shape)?;
        delete_range(bench, shape, deleted, options.fast)?;
    }
    bench.unlock()?;
    bench.drop_table("bench1")
}

/// Gives how many rows are gone.
fn delete_key(bench: &mut Bench, shape: &Shape) -> Result<u64, Stop> {
    bench.operation("delete_key", shape.third / 10, |bench| {
        let mut deleted = 0;
        for (i, key) in shape.order.iter().enumerate().step_by(10) {
            // update_of_key has moved the rows of the first half of the order.
            let rows = u64::from(i as u64 >= shape.third / 2);
            bench.expect(&format!("DELETE FROM bench1 WHERE id3={}", shape.third + key), rows)?;
            deleted += rows;
        }
        Ok(deleted)
    })
}

fn delete_range(
    bench: &mut Bench,
    shape: &Shape,
    mut deleted: u64,
    all_at_once: bool,
) -> Result<(), Stop> {
    let delete = "DELETE FROM bench1";
    let third = shape.third;
    bench.operation("delete_range", REPORTED_RANGES, |bench| {
        for i in 0..GROWING_RANGES {
            let end = i * third / GROWING_RANGES;
            deleted += bench.query(&format!("{delete} WHERE id3>=0 AND id3<={end}"))?;
        }
        deleted += bench.query(&format!("{delete} WHERE id3>=0 AND id3<={third}"))?;
        let second = format!("{delete} WHERE id>={third} AND id<={}", 2 * third);
        deleted += bench.query(&second)?;
        let rest = match all_at_once {
            true => delete.to_owned(),
            false => format!("{delete} WHERE id3<{}", shape.rows),
        };
        bench.expect(&rest, shape.rows.saturating_sub(deleted))
    })
}
